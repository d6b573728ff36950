#include "supervisor/user_look.h"

#include <set>
#include <utility>

#include "kernel/procfs/ipc.h"

namespace plimsoll::supervisor {

UserLook::UserLook(loop::Loop& loop) : timer_(loop.timer([this] { begin(); })), worker_(loop) {}

void UserLook::ask(uid_t user, Answer answer) {
  asked_.push_back({user, std::move(answer)});
  if (!is_looking_) timer_.set(due_);
}

void UserLook::begin() {
  if (std::exchange(is_looking_, true)) return;
  struct Look {
    std::vector<Question> asked;
    std::optional<std::set<std::uint32_t>> users;
    Duration cost{};
  };
  auto look = std::make_shared<Look>();
  look->asked = std::exchange(asked_, {});
  worker_.submit(
      [look] {
        const Instant begun = loop::now();
        look->users = procfs::living_users();
        look->cost = loop::now() - begun;
      },
      [look, weak = std::weak_ptr(self_)] {
        for (Question& question : look->asked) {
          if (weak.expired()) return;
          question.answer(!look->users || look->users->contains(question.user));
        }
        if (const auto self = weak.lock()) (*self)->ended(look->cost);
      });
}

void UserLook::ended(Duration cost) {
  is_looking_ = false;
  due_ = loop::now() + (kCostShare - 1) * cost;
  if (!asked_.empty()) timer_.set(due_);
}

}  // namespace plimsoll::supervisor

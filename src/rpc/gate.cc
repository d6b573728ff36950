#include "rpc/gate.h"

namespace plimsoll::rpc {

Gate::Gate(const loop::Loop& loop) : post_(loop.poster()), waiting_(std::make_shared<Waiting>()) {}

bool Gate::Waiting::enter(policy::Tenant user) {
  const std::lock_guard lock(mutex);
  std::size_t& own = of_user[user];
  if (own >= kOfUserMax || (user != policy::kHost && in_all >= kWaitingMax)) {
    if (own == 0) of_user.erase(user);
    return false;
  }
  ++own;
  ++in_all;
  return true;
}

void Gate::Waiting::leave(policy::Tenant user) {
  const std::lock_guard lock(mutex);
  const auto known = of_user.find(user);
  if (--known->second == 0) of_user.erase(known);
  --in_all;
}

bool Gate::post(policy::Tenant user, std::function<void()> call) {
  // Counted before the look at `closed_`: who closes and then sees nobody waiting has them all.
  if (!waiting_->enter(user)) return false;
  if (closed_) {
    waiting_->leave(user);
    return false;
  }
  post_([call = std::move(call), waiting = waiting_, user] {
    call();
    waiting->leave(user);
  });
  return true;
}

void Gate::post_always(std::function<void()> call) {
  ++waiting_->in_all;
  post_([call = std::move(call), waiting = waiting_] {
    call();
    --waiting->in_all;
  });
}

}  // namespace plimsoll::rpc

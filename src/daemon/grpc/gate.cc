#include "daemon/grpc/gate.h"

#include <deque>
#include <utility>

namespace plimsoll::daemon {

// A queue for each user. The loop is called for one closure at a time, so that what others post to
// it comes between. Invariant outside the lock: `turns_` has every user once who has calls, and the
// loop has been called if there are any.
class Gate::Queues : public std::enable_shared_from_this<Queues> {
 public:
  enum class Bounded : bool { no, yes };
  struct Call {
    std::function<void()> act;
    std::size_t bytes = 0;
    Bounded is_bounded = Bounded::yes;
  };

  explicit Queues(const loop::Loop& loop) : post_(loop.poster()) {}

  [[nodiscard]] bool enter(policy::Tenant user, Call call) {
    std::unique_lock lock(mutex_);
    if (call.is_bounded == Bounded::yes && (is_closed_ || !has_room(user, call.bytes)))
      return false;
    User& his = users_[user];
    if (his.calls.empty()) turns_.push_back(user);
    if (call.is_bounded == Bounded::yes) ++bounded_;
    ++his.count;
    his.bytes += call.bytes;
    ++in_all_;
    his.calls.push_back(std::move(call));
    if (std::exchange(is_called_, true)) return true;
    lock.unlock();
    call_loop();
    return true;
  }

  // Whoever sees nobody waiting after this has had them all.
  void close() {
    const std::lock_guard lock(mutex_);
    is_closed_ = true;
  }
  [[nodiscard]] std::size_t size() const { return in_all_; }

 private:
  struct User {
    std::deque<Call> calls;
    std::size_t count = 0;  // of these, and of the one that runs
    std::size_t bytes = 0;
  };

  [[nodiscard]] bool has_room(policy::Tenant user, std::size_t bytes) const {
    if (user != policy::kHost && bounded_ >= kWaitingMax) return false;
    const auto his = users_.find(user);
    if (his == users_.end()) return true;
    const std::size_t before = his->second.bytes;
    const bool fits = bytes == 0 || before == 0 || before + bytes <= kBytesOfUserMax;
    return fits && his->second.count < kOfUserMax;
  }

  // What is posted keeps neither this nor the loop alive.
  void call_loop() {
    post_([self = weak_from_this()] {
      if (const auto alive = self.lock()) alive->run_next();
    });
  }

  void run_next() {
    std::unique_lock lock(mutex_);
    const policy::Tenant user = turns_.front();
    turns_.pop_front();
    std::deque<Call>& calls = users_.at(user).calls;
    Call call = std::move(calls.front());
    calls.pop_front();
    if (!calls.empty()) turns_.push_back(user);
    lock.unlock();
    call.act();
    call.act = {};
    lock.lock();
    leave(user, call);
    is_called_ = !turns_.empty();
    if (!is_called_) return;
    lock.unlock();
    call_loop();
  }

  void leave(policy::Tenant user, const Call& call) {
    const auto his = users_.find(user);
    his->second.bytes -= call.bytes;
    if (--his->second.count == 0) users_.erase(his);
    if (call.is_bounded == Bounded::yes) --bounded_;
    --in_all_;
  }

  const std::function<void(std::function<void()>)> post_;
  std::mutex mutex_;
  std::map<policy::Tenant, User> users_;
  std::deque<policy::Tenant> turns_;
  std::size_t bounded_ = 0;  // of those that post() has let in
  bool is_called_ = false, is_closed_ = false;
  std::atomic<std::size_t> in_all_ = 0;
};

Gate::Gate(const loop::Loop& loop) : queues_(std::make_shared<Queues>(loop)) {}
Gate::~Gate() = default;

bool Gate::post(policy::Tenant user, std::function<void()> call, std::size_t bytes) {
  return queues_->enter(user, {.act = std::move(call), .bytes = bytes});
}

void Gate::close() { queues_->close(); }

void Gate::post_always(policy::Tenant user, std::function<void()> call) {
  [[maybe_unused]] const bool entered =
      queues_->enter(user, {.act = std::move(call), .is_bounded = Queues::Bounded::no});
}

std::size_t Gate::waiting() const { return queues_->size(); }

std::shared_ptr<ByteCount> Gate::outgoing(policy::Tenant user) {
  const std::lock_guard lock(outgoing_mutex_);
  if (auto known = outgoing_[user].lock()) return known;
  std::erase_if(outgoing_, [](const auto& old) { return old.second.expired(); });
  auto made = std::make_shared<ByteCount>(0);
  outgoing_[user] = made;
  return made;
}

}  // namespace plimsoll::daemon

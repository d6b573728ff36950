#include "daemon/grpc/gate.h"

#include <algorithm>
#include <deque>
#include <utility>

#include "daemon/grpc/call_pace.h"

namespace plimsoll::daemon {

// A queue for each user. The loop is called for one closure at a time, so that what others post to
// it comes between. Invariant outside the lock: `turns_` has every user once who has calls, and if
// there are any, the loop has been called, or the timer is set for the first who may go on.
class Gate::Queues : public std::enable_shared_from_this<Queues> {
 public:
  enum class Bounded : bool { no, yes };
  struct Call {
    std::function<void()> act;
    Message message{};
    Bounded is_bounded = Bounded::yes;
  };

  explicit Queues(loop::Loop& loop)
      : post_(loop.poster()), timer_(loop.timer([this] { run_next(); })) {}

  [[nodiscard]] bool enter(policy::Tenant user, Call call) {
    std::unique_lock lock(mutex_);
    if (call.is_bounded == Bounded::yes && !fits(user, call.message.bytes)) return false;
    User& his = users_[user];
    if (his.calls.empty()) turns_.push_back(user);
    if (call.is_bounded == Bounded::yes) ++bounded_;
    ++his.count;
    his.bytes += call.message.bytes;
    ++in_all_;
    pace_.came(user, loop::now());
    his.calls.push_back(std::move(call));
    if (std::exchange(is_called_, true)) return true;
    lock.unlock();
    call_loop();
    return true;
  }

  [[nodiscard]] bool has_room(policy::Tenant user, std::size_t bytes) {
    const std::lock_guard lock(mutex_);
    return fits(user, bytes);
  }

  [[nodiscard]] Instant next_beside(policy::Tenant user) {
    const std::lock_guard lock(mutex_);
    const Instant now = loop::now();
    pace_.came(user, now);
    return pace_.next(user, now);
  }
  void spent_beside(policy::Tenant user, Duration cost) {
    const std::lock_guard lock(mutex_);
    pace_.spent(user, cost, loop::now());
  }

  // Whoever sees nobody waiting after this has had them all.
  void close() {
    std::unique_lock lock(mutex_);
    is_closed_ = true;
    if (turns_.empty() || std::exchange(is_called_, true)) return;
    lock.unlock();
    call_loop();
  }
  [[nodiscard]] std::size_t size() const { return in_all_; }

 private:
  struct User {
    std::deque<Call> calls;
    std::size_t count = 0;  // of these, and of the one that runs
    std::size_t bytes = 0;
  };

  [[nodiscard]] bool fits(policy::Tenant user, std::size_t bytes) const {
    if (is_closed_) return false;
    if (user != policy::kHost && bounded_ >= kWaitingMax) return false;
    const auto his = users_.find(user);
    if (his == users_.end()) return true;
    const std::size_t before = his->second.bytes;
    const bool has_bytes = bytes == 0 || before == 0 || before + bytes <= kBytesOfUserMax;
    return has_bytes && his->second.count < kOfUserMax;
  }

  // What is posted keeps neither this nor the loop alive.
  void call_loop() {
    post_([self = weak_from_this()] {
      if (const auto alive = self.lock()) alive->run_next();
    });
  }

  void run_next() {
    std::unique_lock lock(mutex_);
    const Instant now = loop::now();
    const auto turn = next_turn(now);
    if (turn == turns_.end()) return wait(now);
    const policy::Tenant user = *turn;
    turns_.erase(turn);
    std::deque<Call>& calls = users_.at(user).calls;
    Call call = std::move(calls.front());
    calls.pop_front();
    if (!calls.empty()) turns_.push_back(user);
    lock.unlock();
    const Duration before = loop::cpu_time();
    call.act();
    call.act = {};
    const Duration cost = loop::cpu_time() - before;
    lock.lock();
    leave(user, call);
    if (call.is_bounded == Bounded::yes) pace_.made(user, loop::now());
    pace_.spent(user, cost + CallPace::kReading * call.message.reading, loop::now());
    is_called_ = !turns_.empty();
    if (!is_called_) return;
    lock.unlock();
    call_loop();
  }

  // The first who may go on. Once it is closed, what is still to come is short.
  [[nodiscard]] std::deque<policy::Tenant>::iterator next_turn(Instant now) {
    return std::find_if(turns_.begin(), turns_.end(), [&](policy::Tenant user) {
      return is_closed_ || pace_.next(user, now) <= now;
    });
  }

  // For the first of those who have had more than their part. Whoever comes meanwhile calls the
  // loop as if nobody waited.
  void wait(Instant now) {
    is_called_ = false;
    if (turns_.empty()) return timer_.off();
    Instant first = Instant::max();
    for (const policy::Tenant user : turns_) first = std::min(first, pace_.next(user, now));
    timer_.set(first);
  }

  void leave(policy::Tenant user, const Call& call) {
    const auto his = users_.find(user);
    his->second.bytes -= call.message.bytes;
    if (--his->second.count == 0) users_.erase(his);
    if (call.is_bounded == Bounded::yes) --bounded_;
    --in_all_;
  }

  const std::function<void(std::function<void()>)> post_;
  loop::Timer timer_;
  std::mutex mutex_;
  CallPace pace_;
  std::map<policy::Tenant, User> users_;
  std::deque<policy::Tenant> turns_;
  std::size_t bounded_ = 0;  // of those that post() has let in
  bool is_called_ = false, is_closed_ = false;
  std::atomic<std::size_t> in_all_ = 0;
};

Gate::Gate(loop::Loop& loop) : queues_(std::make_shared<Queues>(loop)) {}
Gate::~Gate() = default;

bool Gate::post(policy::Tenant user, std::function<void()> call, Message message) {
  return queues_->enter(user, {.act = std::move(call), .message = message});
}

bool Gate::has_room(policy::Tenant user, std::size_t bytes) {
  return queues_->has_room(user, bytes);
}

Instant Gate::next_beside(policy::Tenant user) { return queues_->next_beside(user); }
void Gate::spent_beside(policy::Tenant user, Duration cost) { queues_->spent_beside(user, cost); }

Duration Gate::refused(policy::Tenant user) {
  const std::lock_guard lock(refusals_mutex_);
  return refusals_.refused(user, loop::now());
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

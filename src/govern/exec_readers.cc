#include "govern/exec_readers.h"

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

namespace plimsoll::govern {

// Outlives the readers as long as a thread hangs.
class ExecReaders::State : public std::enable_shared_from_this<State> {
 public:
  State(const loop::Loop& loop, ExecReadersObserver& observer, Read reader)
      : post_(loop.poster()), observer_(&observer), read_(reader) {}

  // Whether it is the first that waits.
  bool add(const seccomp_notif& call) {
    const std::scoped_lock lock(mutex_);
    if (threads_ == 0) start();  // if in vain, the next look tries again
    queue_.push_back(call);
    changed_.notify_one();
    if (queue_.size() > 1) return false;
    moved_ = loop::now();
    return true;
  }

  // Another thread if the others hang; whether any wait.
  bool help(Instant now) {
    std::deque<seccomp_notif> unread;
    {
      const std::scoped_lock lock(mutex_);
      if (queue_.empty()) return false;
      if (now - moved_ < kHangs || start() || now - moved_ < kPatience) return true;
      unread.swap(queue_);
    }
    for (const seccomp_notif& call : unread) tell(call, no_thread());
    return false;
  }

  void answer_failing(std::function<void(const seccomp_notif&)> answer) {
    const std::scoped_lock lock(mutex_);
    answer_failing_ = std::move(answer);
  }

  void end() {
    const std::scoped_lock lock(mutex_);
    is_ending_ = true;
    answer_failing_ = {};
    queue_.clear();
    changed_.notify_all();
    observer_ = nullptr;
  }

 private:
  static Result<std::optional<Exec>> no_thread() {
    return fail(std::errc::resource_unavailable_try_again, "find a thread that does not hang");
  }

  // Whether another thread could be had.
  bool start() {
    if (threads_ == kThreadsMax) return false;
    try {
      std::thread([self = shared_from_this()] { self->run(); }).detach();
    } catch (const std::system_error&) {
      return false;
    }
    ++threads_;
    return true;
  }

  void run() {
    std::unique_lock lock(mutex_);
    for (;;) {
      changed_.wait(lock, [this] { return is_ending_ || !queue_.empty(); });
      if (is_ending_) return;
      const seccomp_notif call = queue_.front();
      queue_.pop_front();
      moved_ = loop::now();
      lock.unlock();
      auto exec = read_(call);
      lock.lock();
      const bool will_fail = exec && !*exec;
      if (will_fail && answer_failing_) {
        answer_failing_(call);
        continue;
      }
      lock.unlock();
      post_([self = shared_from_this(), call, exec = std::move(exec)]() mutable {
        self->tell(call, std::move(exec));
      });
      lock.lock();
    }
  }

  // On the loop's thread, on which end() is called too.
  void tell(const seccomp_notif& call, Result<std::optional<Exec>> exec) {
    if (observer_ != nullptr) observer_->on_read(call, std::move(exec));
  }

  const std::function<void(std::function<void()>)> post_;
  ExecReadersObserver* observer_;  // null: nobody is told any more
  const Read read_;
  std::mutex mutex_;  // of all below
  std::condition_variable changed_;
  std::deque<seccomp_notif> queue_;
  std::function<void(const seccomp_notif&)> answer_failing_;
  Instant moved_{};  // when the last was taken from the queue, or the first came
  std::size_t threads_ = 0;
  bool is_ending_ = false;
};

ExecReaders::ExecReaders(loop::Loop& loop, ExecReadersObserver& observer, Read reader)
    : state_(std::make_shared<State>(loop, observer, reader)),
      timer_(loop.timer([this] { look(); })) {}

ExecReaders::~ExecReaders() { state_->end(); }

void ExecReaders::read(const seccomp_notif& call) {
  if (state_->add(call)) timer_.set(loop::now() + kHangs);
}

void ExecReaders::answer_failing(std::function<void(const seccomp_notif&)> answer) {
  state_->answer_failing(std::move(answer));
}

void ExecReaders::look() {
  if (state_->help(loop::now())) timer_.set(loop::now() + kHangs);
}

}  // namespace plimsoll::govern

#include "daemon/runner/file_lanes.h"

#include <algorithm>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <system_error>
#include <thread>

#include "base/may_wait.h"
#include "base/quantity.h"
#include "daemon/runner/quoted.h"

namespace plimsoll::daemon {

// Threads that come as they are needed. They are let go, as nobody can wait for one that hangs, and
// keep alive what they use.
class FileLanes::Threads : public std::enable_shared_from_this<Threads> {
 public:
  explicit Threads(const loop::Loop& loop) : post_(loop.poster()) {}

  // Runs it on the loop's thread; from any.
  void post(std::function<void()> call) const { post_(std::move(call)); }

  void add(std::function<void()> work) {
    {
      const std::scoped_lock lock(mutex_);
      queue_.push_back(std::move(work));
      fill();
    }
    changed_.notify_all();
  }

  // So many hang, and are not counted.
  void set_hung(std::size_t hung) {
    const std::scoped_lock lock(mutex_);
    spare_ = std::min(hung, kHungMax);
    fill();
  }

  void end() {
    std::unique_lock lock(mutex_);
    ending_ = true;
    queue_.clear();
    changed_.notify_all();
    changed_.wait_for(lock, kEndPatience, [this] { return threads_ == 0; });
  }

 private:
  void fill() {
    const std::size_t most = kThreadsMax + spare_;
    for (std::size_t idle = threads_ - busy_; idle < queue_.size() && threads_ < most; ++idle) {
      start();
    }
  }

  // Where no thread can be had, those that are there do the work, or the next call tries again.
  void start() {
    try {
      std::thread([self = shared_from_this()] { self->run(); }).detach();
      ++threads_;
    } catch (const std::system_error&) {
    }
  }

  void run() {
    std::unique_lock lock(mutex_);
    for (;;) {
      changed_.wait(lock, [this] { return ending_ || !queue_.empty(); });
      if (ending_) break;
      std::function<void()> work = std::move(queue_.front());
      queue_.pop_front();
      ++busy_;
      lock.unlock();
      work();
      work = nullptr;
      lock.lock();
      --busy_;
    }
    --threads_;
    changed_.notify_all();
  }

  const std::function<void(std::function<void()>)> post_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::function<void()>> queue_;  // guarded by mutex_, as all of these
  std::size_t threads_ = 0;
  std::size_t busy_ = 0;   // of them
  std::size_t spare_ = 0;  // beside kThreadsMax
  bool ending_ = false;
};

FileLanes::FileLanes(loop::Loop& loop, Duration patience)
    : patience_(patience),
      threads_(std::make_shared<Threads>(loop)),
      timer_(loop.timer([this] { look(); })) {}

FileLanes::~FileLanes() {
  may_wait("FileLanes::~FileLanes");
  for (auto& [id, call] : calls_) call.turn->give_up();
  threads_->end();
}

void FileLanes::refuse(Status why, Done done) {
  threads_->post([self = std::weak_ptr(self_), why = std::move(why), done = std::move(done)] {
    if (!self.expired()) done(why);
  });
}

void FileLanes::submit(const std::string& lane, Work work, Done done, Step step) {
  if (hung_.contains(lane)) return refuse(why_given_up(lane), std::move(done));
  if (step == Step::first && hung_.size() >= kHungMax && !lanes_.contains(lane)) {
    return refuse(why_no_thread(), std::move(done));
  }
  Lane& its = lanes_[lane];
  const Number id{++last_call_};
  calls_.emplace(id, Call{.lane = lane, .work = std::move(work), .done = std::move(done)});
  its.waiting.push_back(id);
  wait_until(id, loop::now() + patience_);
  if (!its.running) begin(its);
}

Status FileLanes::why_given_up(const std::string& lane) const {
  return {Code::unavailable, "The files at " + go_quoted(lane) + " have not answered for " +
                                 format_duration(patience_)};
}

Status FileLanes::why_no_thread() const {
  if (hung_.empty()) {
    return {Code::unavailable, "No thread has been free for " + format_duration(patience_)};
  }
  return {Code::unavailable, "No thread is free for files: " + std::to_string(hung_.size()) +
                                 " directories do not answer, among them " +
                                 go_quoted(*hung_.begin())};
}

void FileLanes::set_hung(const std::string& name, Lane& lane, bool hangs) {
  if (std::exchange(lane.hangs, hangs) == hangs) return;
  if (hangs) {
    hung_.insert(name);
  } else {
    hung_.erase(name);
  }
  threads_->set_hung(hung_.size());
}

void FileLanes::wait_until(Number id, Instant due) {
  Call& call = calls_.at(id);
  due_.erase({call.due, id});
  call.due = due;
  due_.insert({due, id});
  timer_.set(due_.begin()->first);
}

void FileLanes::begin(Lane& lane) {
  const Number id = lane.waiting.front();
  lane.waiting.pop_front();
  lane.running = id;
  Call& call = calls_.at(id);
  threads_->add([work = std::move(call.work), turn = call.turn, threads = threads_,
                 self = std::weak_ptr(self_), id]() mutable {
    turn->begin(loop::now());
    Status status = turn->is_given_up() ? Status() : work(*turn);
    work = nullptr;
    threads->post([self = std::move(self), id, status = std::move(status)]() mutable {
      if (const auto alive = self.lock()) (*alive)->finished(id, std::move(status));
    });
  });
}

void FileLanes::finished(Number id, Status status) {
  auto known = calls_.extract(id);
  Call& call = known.mapped();
  due_.erase({call.due, id});
  const auto place = lanes_.find(call.lane);
  place->second.running.reset();
  set_hung(place->first, place->second, false);
  if (place->second.waiting.empty()) {
    lanes_.erase(place);
  } else {
    begin(place->second);
  }
  if (call.done) call.done(std::move(status));
}

void FileLanes::look() {
  const Instant now = loop::now();
  while (!due_.empty() && due_.begin()->first <= now) {
    const Number id = due_.begin()->second;
    Call& call = calls_.at(id);
    const std::uint64_t steps = call.turn->steps();
    if (std::exchange(call.steps, steps) != steps) {
      wait_until(id, now + patience_);
    } else if (call.turn->is_begun() && call.turn->begun() + patience_ > now) {
      wait_until(id, call.turn->begun() + patience_);
    } else {
      give_up(id);
    }
  }
  if (!due_.empty()) timer_.set(due_.begin()->first);
}

void FileLanes::give_up(Number id) {
  Call& call = calls_.at(id);
  due_.erase({call.due, id});
  call.turn->give_up();
  const Done done = std::exchange(call.done, nullptr);
  Lane& lane = lanes_.at(call.lane);
  const bool is_behind_others = !calls_.at(*lane.running).turn->is_begun();
  Status why = is_behind_others ? why_no_thread() : why_given_up(call.lane);
  if (lane.running == id) {
    if (!is_behind_others) set_hung(call.lane, lane, true);
  } else {
    std::erase(lane.waiting, id);
    calls_.erase(id);
  }
  done(std::move(why));
}

}  // namespace plimsoll::daemon

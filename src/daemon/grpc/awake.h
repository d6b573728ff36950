#pragma once

#include <grpcpp/alarm.h>

#include <chrono>
#include <condition_variable>
#include <mutex>

namespace plimsoll::daemon {

// Keeps one of the threads awake that gRPC has for servers that are called back: in 1.51 each of
// them sleeps for 100 ms after a second in which it had nothing to do, and what comes while all
// sleep, a client that gives up say, waits for them. An alarm twice a second is something to do.
class Awake {
 public:
  Awake() { set(); }
  Awake(const Awake&) = delete;
  Awake& operator=(const Awake&) = delete;
  ~Awake() {
    std::unique_lock lock(mutex_);
    ending_ = true;
    lock.unlock();
    alarm_.Cancel();
    lock.lock();
    ended_.wait(lock, [this] { return !is_set_; });
  }

 private:
  static constexpr auto kGap = std::chrono::milliseconds(500);

  // Once more, unless this ends: the last callback is over then.
  void set() {
    const std::lock_guard lock(mutex_);
    is_set_ = !ending_;
    if (is_set_) {
      alarm_.Set(std::chrono::system_clock::now() + kGap, [this](bool /*rang*/) { set(); });
    } else {
      ended_.notify_all();
    }
  }

  std::mutex mutex_;
  std::condition_variable ended_;
  bool ending_ = false, is_set_ = false;
  grpc::Alarm alarm_;
};

}  // namespace plimsoll::daemon

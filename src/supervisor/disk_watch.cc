#include "supervisor/disk_watch.h"

#include <fcntl.h>
#include <sys/statfs.h>

#include <algorithm>
#include <condition_variable>
#include <mutex>
#include <system_error>
#include <thread>
#include <utility>

#include "base/may_wait.h"
#include "base/unique_fd.h"

namespace plimsoll::supervisor {

// One file system and its thread, which keeps it alive.
class DiskWatch::Lane : public std::enable_shared_from_this<Lane> {
 public:
  Lane(std::string path, std::function<void()> answered)
      : path_(std::move(path)), answered_(std::move(answered)) {}

  // Asks for a look; while one is under way, nothing happens.
  void ask() {
    const std::scoped_lock lock(mutex_);
    if (!has_thread_) start();
    is_asked_ = has_thread_;
    changed_.notify_all();
  }

  void end() {
    const std::scoped_lock lock(mutex_);
    ends_ = true;
    changed_.notify_all();
  }

  // Waits for the answer to what was asked.
  void wait(Duration patience) {
    may_wait("DiskWatch::Lane::wait");
    std::unique_lock lock(mutex_);
    changed_.wait_for(lock, patience, [this] { return !is_asked_; });
  }

  [[nodiscard]] bool is_asked() const {
    const std::scoped_lock lock(mutex_);
    return is_asked_;
  }

  // As of the last answer, if that is not older.
  [[nodiscard]] std::optional<Bytes> free(Instant since) const {
    const std::scoped_lock lock(mutex_);
    return looked_ >= since ? free_ : std::nullopt;
  }

 private:
  // Without a thread nothing is known of it; the next look tries again.
  void start() {
    try {
      std::thread([self = shared_from_this()] { self->run(); }).detach();
      has_thread_ = true;
    } catch (const std::system_error&) {
    }
  }

  void run() {
    const UniqueFd directory(::open(path_.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
    std::unique_lock lock(mutex_);
    for (;;) {
      changed_.wait(lock, [this] { return ends_ || is_asked_; });
      if (ends_) return;
      lock.unlock();
      struct statfs seen{};
      const bool is_seen = directory && ::fstatfs(directory.get(), &seen) == 0;
      lock.lock();
      free_.reset();
      if (is_seen) {
        free_ = Bytes{static_cast<std::uint64_t>(seen.f_bavail) *
                      static_cast<std::uint64_t>(seen.f_frsize)};
      }
      looked_ = loop::now();
      is_asked_ = false;
      changed_.notify_all();
      if (!ends_) answered_();
    }
  }

  const std::string path_;
  const std::function<void()> answered_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::optional<Bytes> free_;  // guarded by mutex_, as all of these
  Instant looked_{};
  bool is_asked_ = false;
  bool has_thread_ = false;
  bool ends_ = false;
};

DiskWatch::DiskWatch(loop::Clock& clock, loop::Loop& loop, const std::vector<std::string>& paths,
                     Duration interval, Tell tell)
    : clock_(clock),
      interval_(interval),
      tell_(std::move(tell)),
      timer_(clock.timer([this] { ask(); })) {
  const auto answered = [post = loop.poster(), weak = std::weak_ptr(self_)] {
    post([weak] {
      if (const auto self = weak.lock()) (*self)->answered();
    });
  };
  for (const std::string& path : paths) lanes_.push_back(std::make_shared<Lane>(path, answered));
}

DiskWatch::~DiskWatch() {
  for (const auto& lane : lanes_) lane->end();
}

policy::DiskSample DiskWatch::look() {
  const Instant end = loop::now() + kFirstLook;
  for (const auto& lane : lanes_) lane->ask();
  for (const auto& lane : lanes_) lane->wait(std::max(end - loop::now(), Duration{}));
  return sample();
}

void DiskWatch::start() {
  if (std::exchange(pace_, Pace::on) == Pace::on) return;
  timer_->set(std::max(clock_.now(), asked_ + interval_));
}

void DiskWatch::stop() {
  pace_ = Pace::off;
  timer_->off();
}

void DiskWatch::rest() {
  if (std::exchange(pace_, Pace::resting) != Pace::resting) timer_->set(clock_.now() + kRest);
}

void DiskWatch::look_soon() {
  if (pace_ != Pace::off) timer_->set(std::max(clock_.now(), asked_ + kSoonGap));
}

void DiskWatch::ask() {
  for (const auto& lane : lanes_) lane->ask();
  asked_ = clock_.now();
  timer_->set(asked_ + (pace_ == Pace::resting ? std::max(kRest, interval_) : interval_));
}

// One that hangs keeps no other's answer back: the next round comes without it.
void DiskWatch::answered() {
  if (pace_ == Pace::off) return;
  const Instant lately = loop::now() - 2 * interval_;
  const auto is_waited_for = [lately](const auto& lane) {
    return lane->is_asked() && lane->free(lately).has_value();
  };
  if (std::any_of(lanes_.begin(), lanes_.end(), is_waited_for)) return;
  tell_(sample());
}

policy::DiskSample DiskWatch::sample() const {
  policy::DiskSample sample;
  const Instant since = loop::now() - kStale;
  for (const auto& lane : lanes_) sample.free.push_back(lane->free(since));
  return sample;
}

}  // namespace plimsoll::supervisor

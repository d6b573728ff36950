// What the governor's stream costs a client: stream_bench SOCKET.
#include <plimsoll/governor.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <map>
#include <mutex>
#include <string>
#include <vector>

namespace {

using Clock = std::chrono::steady_clock;
using plimsoll::client::Governor;

constexpr int kAlone = 2000;      // jobs, one after another
constexpr int kTogether = 20000;  // jobs, kAtOnce at a time
constexpr int kAtOnce = 100;

// Jobs that end as soon as they are admitted.
class Bench {
 public:
  explicit Bench(const std::string& socket) {
    plimsoll::client::Handlers handlers;
    handlers.admit = [this](const std::string& id, unsigned) { admitted(id); };
    handlers.left = [this](const std::string&, bool) { left(); };
    handlers.lost = [this](int, const std::string& message) {
      std::fprintf(stderr, "stream_bench: %s\n", message.c_str());
      const std::lock_guard lock(mutex_);
      is_lost_ = true;
      changed_.notify_all();
    };
    governor_ = Governor::connect(socket, handlers);
  }

  // False: the daemon is gone.
  bool run(int jobs, int at_once) {
    std::unique_lock lock(mutex_);
    for (int i = 0; i < jobs; ++i) {
      changed_.wait(lock, [&] { return is_lost_ || under_way_ < at_once; });
      if (is_lost_) return false;
      const std::string id = std::to_string(++last_);
      entered_[id] = Clock::now();
      ++under_way_;
      lock.unlock();
      plimsoll::client::Job job;
      job.id = id;
      job.job_class = "bench";
      job.memory_bytes = 1 << 20;
      governor_->enter(job);
      lock.lock();
    }
    changed_.wait(lock, [&] { return is_lost_ || under_way_ == 0; });
    return !is_lost_;
  }

  // Milliseconds from Enter to Admit, of all since the last call.
  double wait_at(double share) {
    const std::lock_guard lock(mutex_);
    std::sort(waits_.begin(), waits_.end());
    const auto index = static_cast<std::size_t>(share * static_cast<double>(waits_.size()));
    return waits_.empty() ? 0 : waits_[std::min(index, waits_.size() - 1)];
  }
  void forget() {
    const std::lock_guard lock(mutex_);
    waits_.clear();
  }

 private:
  void admitted(const std::string& id) {
    {
      const std::lock_guard lock(mutex_);
      const std::chrono::duration<double, std::milli> wait = Clock::now() - entered_[id];
      waits_.push_back(wait.count());
      entered_.erase(id);
    }
    governor_->leave(id, plimsoll::client::exited(0));
  }
  void left() {
    const std::lock_guard lock(mutex_);
    --under_way_;
    changed_.notify_all();
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  std::map<std::string, Clock::time_point> entered_;
  std::vector<double> waits_;
  int under_way_ = 0, last_ = 0;
  bool is_lost_ = false;
  std::unique_ptr<Governor> governor_;
};

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  Bench bench(argv[1]);
  if (!bench.run(kAlone, 1)) return 1;
  std::printf("Enter to Admit, one job after another: p50 %.2f ms, p99 %.2f ms\n",
              bench.wait_at(.5), bench.wait_at(.99));
  bench.forget();
  const auto begun = Clock::now();
  if (!bench.run(kTogether, kAtOnce)) return 1;
  const std::chrono::duration<double> took = Clock::now() - begun;
  std::printf("%d jobs, %d at a time: %.0f jobs/s; Enter to Admit p50 %.2f ms, p99 %.2f ms\n",
              kTogether, kAtOnce, kTogether / took.count(), bench.wait_at(.5), bench.wait_at(.99));
  return 0;
}

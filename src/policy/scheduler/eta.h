#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "base/units.h"
#include "policy/estimator/estimate.h"

// How long a run will still take.
namespace plimsoll::policy {

// What a run has shown so far of how fast it goes: how many jobs ran at once while others waited,
// the later half of the time counting most, and how long those took that have ended.
class RunProgress {
 public:
  // So many run from now on, paused ones left out, and so many wait. `now` never goes back. O(1).
  void note(Instant now, std::size_t running, std::size_t waiting);
  // An attempt that ended by itself had run for so long.
  void ended(double seconds);

  // Jobs at once, and over how many seconds that was seen; 0 and 0 before anything was.
  [[nodiscard]] double at_once() const { return at_once_; }
  [[nodiscard]] double seen_seconds() const { return seen_; }
  // What an attempt of this run takes, by those that have ended; nothing before the first.
  [[nodiscard]] std::optional<Belief> length() const;

 private:
  std::optional<Instant> last_;
  std::size_t running_ = 0, waiting_ = 0;  // since last_
  double at_once_ = 0, seen_ = 0;
  double ended_ = 0, seconds_ = 0, squares_ = 0;
};

// What is still to be done. Seconds are absent where nothing but a constant is known of them.
struct WorkLeft {
  struct Waiting {  // jobs that are expected to behave alike
    double jobs = 1;
    std::optional<Belief> seconds{};
    double cores = 0, bytes = 0;  // mean use of one
  };
  struct Running {
    double ran = 0;                // seconds
    std::optional<Belief> left{};  // likewise
    double cores = 0, bytes = 0;
  };
  std::vector<Waiting> waiting;
  std::vector<Running> running;
  double jobs_max = 1, cores = 1, line = 1;  // what bounds how many run at once
};

// So many seconds from now the last job will have ended, as likely sooner as later. Nothing while
// it is not known how long any job takes. O(jobs that run + kScheduledMax * log of those).
[[nodiscard]] std::optional<double> seconds_left(const WorkLeft& work, const RunProgress& progress);

}  // namespace plimsoll::policy

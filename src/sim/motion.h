#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <queue>
#include <span>
#include <vector>

#include "sim/curves.h"

namespace plimsoll::sim {

// Where the running jobs are on their curves, and what they use together.
//
// The cores are shared by what is asked: when more is asked than there is, everybody who asks goes
// on at the same share of his pace. So one clock, which that share slows down, moves them all, and
// a change of the share touches no job. Segments that ask no CPU, and jobs in the throttle, have
// a pace of their own in real time. All that is used is a straight line between two points.
//
// Other people's busy loops want cores too. What is left of them is ours, and where that is less
// than we ask, half of all: the kernel shares by groups (or sessions) of the same weight, whatever
// is in them.
//
// Jobs are named by their place in the list. Times are seconds since the start of the simulation.
inline constexpr double kPoolShare = 0.5;

class Motion {
 public:
  // `jobs` must outlive this. `others`: cores that other people's loops ask for.
  Motion(double cores, double others, std::span<const SimJob> jobs);

  // A job begins its curve, goes on, stands where it is with its memory, or is gone with all that
  // it had.
  void begin(std::size_t job);
  void go_on(std::size_t job);
  void stand(std::size_t job);
  void remove(std::size_t job);

  // Moves memory of a standing job to swap, or back; what it uses changes by this much at once.
  void push_out(std::size_t job, double mib);
  void take_back(std::size_t job, double mib);

  // Whoever allocates gets so much a second at most; absent: as much as he wants.
  void throttle(std::optional<double> mib_per_second);

  // When the next point of a curve is reached, if all goes on as now; infinite: never.
  [[nodiscard]] double next_point();
  // Moves time on, at most to next_point() and a nanosecond, and past the points that are reached.
  // Jobs whose last point that was are put into `ended`; they stand there with their memory.
  void advance(double to, std::vector<std::size_t>& ended);

  [[nodiscard]] double now() const { return now_; }
  // The shared clock: seconds that a job asking for CPU all the time would have covered by now.
  [[nodiscard]] double shared_clock() const { return shared_.now; }
  [[nodiscard]] double used_mib() const { return used_; }
  [[nodiscard]] double growth_mib() const;  // of used_mib() in a second, as things stand
  [[nodiscard]] double cores_asked() const { return asked_; }
  [[nodiscard]] double cores_busy() const { return own_.cores + shared_.cores * pace(); }
  // Cores that others get, and cores that nobody gets who asks for them.
  [[nodiscard]] double cores_of_others() const { return std::min(others_, cores_ - cores_busy()); }
  [[nodiscard]] double cores_short() const { return std::max(asked_ + others_ - cores_, 0.0); }
  [[nodiscard]] std::size_t moving() const { return moving_.size(); }
  [[nodiscard]] const std::vector<std::size_t>& movers() const { return moving_; }
  [[nodiscard]] std::size_t throttled() const { return throttled_; }  // of the moving

  // Integrals and extremes until now.
  [[nodiscard]] double mib_seconds() const { return mib_seconds_; }
  [[nodiscard]] double cpu_seconds() const { return cpu_seconds_; }
  [[nodiscard]] double peak_mib() const { return peak_; }

  // Of one job that is not gone.
  [[nodiscard]] double job_used_mib(std::size_t job) const;
  [[nodiscard]] double job_peak_mib(std::size_t job) const;
  [[nodiscard]] double job_cpu_seconds(std::size_t job) const;
  // Time that its tasks would have run for, had they not waited for a core.
  [[nodiscard]] double job_cpu_wait(std::size_t job) const;
  [[nodiscard]] double job_cores_asked(std::size_t job) const {
    return places_[job].moving_at == kNotMoving ? 0 : places_[job].cores;
  }
  [[nodiscard]] double job_seconds(std::size_t job) const;  // covered of its curve
  [[nodiscard]] double job_swapped_mib(std::size_t job) const { return places_[job].swapped; }
  [[nodiscard]] bool job_throttled(std::size_t job) const { return places_[job].throttled; }

 private:
  static constexpr std::size_t kNotMoving = std::numeric_limits<std::size_t>::max();

  // Where a job was at `since` on its clock, and how it has moved from there.
  struct Place {
    std::size_t moving_at = kNotMoving;  // its place in moving_
    std::size_t segment = 0;             // between this point and the next
    std::uint32_t generation = 0;        // of its entry in a clock's heap
    bool on_shared = false;
    bool throttled = false;
    double since = 0;
    double seconds = 0;      // covered of its curve
    double mib = 0;          // in use there, swapped memory included
    double slope = 0;        // MiB by a second of its curve
    double rate = 1;         // seconds of its curve by a second of its clock
    double cores = 0;        // asked for by a second of its curve
    double cpu_seconds = 0;  // until there
    double cpu_wait = 0;     // likewise
    double settled = 0;      // the moment that `since` stands for
    double peak = 0;         // until there
    double swapped = 0;
  };

  struct Due {
    double at = 0;  // on the clock
    std::size_t job = 0;
    std::uint32_t generation = 0;
    bool operator>(const Due& other) const {
      return at != other.at ? at > other.at : job > other.job;
    }
  };

  // What the jobs on one clock come to together.
  struct Clock {
    double now = 0;
    double cores = 0;  // asked for, by a second of the clock
    double slope = 0;  // MiB by a second of the clock
    std::priority_queue<Due, std::vector<Due>, std::greater<>> due;
  };

  [[nodiscard]] double room() const;  // cores that we may have
  [[nodiscard]] double pace() const;  // of the shared clock
  [[nodiscard]] double covered(const Place& place) const;
  [[nodiscard]] double waited(const Place& place) const;
  [[nodiscard]] const CurvePoint& point(std::size_t job, std::size_t at) const {
    return jobs_[job].curve.points()[at];
  }
  [[nodiscard]] double throttled_rate(const Place& place) const;
  void settle(Place& place) const;  // moves `since` to now
  void set_off(std::size_t job);    // from a settled place
  void halt(std::size_t job);       // settled, on no clock
  void pass_point(std::size_t job, std::vector<std::size_t>& ended);
  void pass_points(Clock& clock, std::vector<std::size_t>& ended);
  [[nodiscard]] double next_on(Clock& clock) const;
  void add_up();

  double cores_;
  double others_;
  std::span<const SimJob> jobs_;
  std::vector<Place> places_;
  std::vector<std::size_t> moving_;
  std::size_t throttled_ = 0;
  std::optional<double> allowance_;
  Clock shared_, own_;  // own_.now is now_
  double asked_ = 0;    // cores, by all that move, the throttled as if they were not
  double now_ = 0;
  double used_ = 0;
  double peak_ = 0;
  double mib_seconds_ = 0;
  double cpu_seconds_ = 0;
  std::uint64_t points_passed_ = 0;
};

}  // namespace plimsoll::sim

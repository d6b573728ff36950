#include "sim/motion.h"

#include <algorithm>

#include "base/check.h"

namespace plimsoll::sim {
namespace {

// Points that lie so close together are passed at once; below the nanosecond of the clock.
constexpr double kSameMoment = 1e-9;
// Sums that were added to and taken from are added up anew after so many points, so that rounding
// does not gather.
constexpr std::uint64_t kPointsBetweenSums = 1 << 14;
// The pace of who finds no core free until the shares are made anew; not quite nothing, so that a
// point ahead has a time.
constexpr double kPaceMin = 1e-6;

}  // namespace

Motion::Motion(double cores, double others, std::span<const SimJob> jobs)
    : cores_(cores), others_(others), jobs_(jobs), places_(jobs.size()) {
  PLIMSOLL_CHECK(cores > 0);
}

double Motion::room() const {
  return std::max(cores_ - others_, std::min(asked_, cores_ * kPoolShare));
}

double Motion::pace() const {
  const double left = room() - own_.cores;
  if (shared_.cores <= left || shared_.cores <= 0) return 1;
  return std::max(left / shared_.cores, kPaceMin);
}

double Motion::growth_mib() const { return own_.slope + shared_.slope * pace(); }

double Motion::covered(const Place& place) const {
  if (place.moving_at == kNotMoving) return 0;
  return place.rate * ((place.on_shared ? shared_.now : now_) - place.since);
}

double Motion::waited(const Place& place) const {
  if (place.moving_at == kNotMoving || !place.on_shared) return 0;
  return place.cores * std::max(now_ - place.settled - covered(place), 0.0);
}

void Motion::settle(Place& place) const {
  const double seconds = covered(place);
  place.cpu_wait += waited(place);
  place.settled = now_;
  place.seconds += seconds;
  place.mib += place.slope * seconds;
  place.cpu_seconds += place.cores * seconds;
  place.peak = std::max(place.peak, place.mib);
  place.since = place.on_shared ? shared_.now : now_;
}

// No faster than his fair share of the cores, and than what others in the throttle have left of
// them.
double Motion::throttled_rate(const Place& place) const {
  double rate = std::min(1.0, *allowance_ / place.slope);
  if (place.cores > 0) {
    rate = std::min({rate, room() / asked_, (room() - own_.cores) / place.cores});
  }
  return std::max(rate, kPaceMin);
}

void Motion::set_off(std::size_t job) {
  Place& place = places_[job];
  const CurvePoint& from = point(job, place.segment);
  const CurvePoint& to = point(job, place.segment + 1);
  place.slope = (double{to.mib} - double{from.mib}) / (to.seconds - from.seconds);
  place.cores = double{from.cores};
  place.throttled = allowance_ && place.slope > 0;
  place.on_shared = place.cores > 0 && !place.throttled;
  asked_ += place.cores;
  place.rate = place.throttled ? throttled_rate(place) : 1;
  Clock& clock = place.on_shared ? shared_ : own_;
  place.since = clock.now;
  place.settled = now_;
  place.moving_at = moving_.size();
  moving_.push_back(job);
  if (place.throttled) ++throttled_;
  clock.cores += place.cores * place.rate;
  clock.slope += place.slope * place.rate;
  const double left = std::max(to.seconds - place.seconds, 0.0);
  clock.due.push({place.since + left / place.rate, job, ++place.generation});
}

void Motion::halt(std::size_t job) {
  Place& place = places_[job];
  settle(place);
  Clock& clock = place.on_shared ? shared_ : own_;
  clock.cores -= place.cores * place.rate;
  clock.slope -= place.slope * place.rate;
  asked_ -= place.cores;
  if (place.throttled) --throttled_;
  place.throttled = false;
  ++place.generation;
  places_[moving_.back()].moving_at = place.moving_at;
  moving_[place.moving_at] = moving_.back();
  moving_.pop_back();
  place.moving_at = kNotMoving;
  if (moving_.empty()) asked_ = shared_.cores = shared_.slope = own_.cores = own_.slope = 0;
}

void Motion::begin(std::size_t job) {
  Place& place = places_[job];
  place = Place{.generation = place.generation};
  place.mib = place.peak = double{point(job, 0).mib};
  used_ += place.mib;
  peak_ = std::max(peak_, used_);
  set_off(job);
}

void Motion::go_on(std::size_t job) {
  if (places_[job].moving_at == kNotMoving) set_off(job);
}

void Motion::stand(std::size_t job) {
  if (places_[job].moving_at != kNotMoving) halt(job);
}

void Motion::remove(std::size_t job) {
  stand(job);
  Place& place = places_[job];
  used_ = std::max(used_ - (place.mib - place.swapped), 0.0);
  place = Place{.generation = place.generation};
}

void Motion::push_out(std::size_t job, double mib) {
  places_[job].swapped += mib;
  used_ -= mib;
}

void Motion::take_back(std::size_t job, double mib) {
  places_[job].swapped -= mib;
  used_ += mib;
  peak_ = std::max(peak_, used_);
}

void Motion::throttle(std::optional<double> mib_per_second) {
  if (!mib_per_second && !allowance_) return;
  allowance_ = mib_per_second;
  const std::vector<std::size_t> moving = moving_;
  for (const std::size_t job : moving) {
    if (places_[job].slope <= 0) continue;
    halt(job);
    set_off(job);
  }
}

double Motion::next_on(Clock& clock) const {
  while (!clock.due.empty() &&
         clock.due.top().generation != places_[clock.due.top().job].generation) {
    clock.due.pop();
  }
  return clock.due.empty() ? std::numeric_limits<double>::infinity()
                           : std::max(clock.due.top().at - clock.now, 0.0);
}

double Motion::next_point() { return now_ + std::min(next_on(own_), next_on(shared_) / pace()); }

void Motion::advance(double to, std::vector<std::size_t>& ended) {
  const double passed = std::max(to - now_, 0.0);
  const double grown = growth_mib() * passed;
  mib_seconds_ += (used_ + grown / 2) * passed;
  cpu_seconds_ += cores_busy() * passed;
  used_ = std::max(used_ + grown, 0.0);
  shared_.now += pace() * passed;
  now_ = own_.now = std::max(to, now_);
  peak_ = std::max(peak_, used_);
  pass_points(shared_, ended);
  pass_points(own_, ended);
}

void Motion::pass_points(Clock& clock, std::vector<std::size_t>& ended) {
  while (next_on(clock) <= kSameMoment) {
    const std::size_t job = clock.due.top().job;
    clock.due.pop();
    pass_point(job, ended);
  }
}

void Motion::pass_point(std::size_t job, std::vector<std::size_t>& ended) {
  halt(job);
  Place& place = places_[job];
  const CurvePoint& reached = point(job, ++place.segment);
  used_ += double{reached.mib} - place.mib;
  place.seconds = reached.seconds;
  place.mib = double{reached.mib};
  place.peak = std::max(place.peak, place.mib);
  if (place.segment + 1 == jobs_[job].curve.points().size()) {
    ended.push_back(job);
  } else {
    set_off(job);
  }
  if (++points_passed_ % kPointsBetweenSums == 0) add_up();
}

void Motion::add_up() {
  asked_ = shared_.cores = shared_.slope = own_.cores = own_.slope = 0;
  for (const std::size_t job : moving_) {
    const Place& place = places_[job];
    Clock& clock = place.on_shared ? shared_ : own_;
    asked_ += place.cores;
    clock.cores += place.cores * place.rate;
    clock.slope += place.slope * place.rate;
  }
}

double Motion::job_used_mib(std::size_t job) const {
  const Place& place = places_[job];
  return std::max(place.mib + place.slope * covered(place) - place.swapped, 0.0);
}

double Motion::job_peak_mib(std::size_t job) const {
  const Place& place = places_[job];
  return std::max(place.peak, place.mib + place.slope * covered(place));
}

double Motion::job_cpu_seconds(std::size_t job) const {
  const Place& place = places_[job];
  return place.cpu_seconds + place.cores * covered(place);
}

double Motion::job_cpu_wait(std::size_t job) const {
  return places_[job].cpu_wait + waited(places_[job]);
}

double Motion::job_seconds(std::size_t job) const {
  const Place& place = places_[job];
  return place.seconds + covered(place);
}

}  // namespace plimsoll::sim

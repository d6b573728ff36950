#include "policy/estimator/forecast.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <vector>

namespace plimsoll::policy {
namespace {

// Each past attempt is also tried slower and faster than it was, by PastAttempt::pace_doubt(), as
// jobs of a class are mostly the same work on more or less of it.
struct Pace {
  double factor;
  double weight;
};
std::array<Pace, 3> paces_of(double doubt) {
  return {{{1 / (1 + doubt), 0.25}, {1, 0.5}, {1 + doubt, 0.25}}};
}
// Two attempts at the same point of the same course differ by about this share.
constexpr double kLikeness = 0.25;
// A guide that is off by more than this factor is none. At kLikeness it would weigh 1/15,000.
constexpr double kOffMax = 3;
// Differences below this are noise, whatever the share.
constexpr double kNoiseBytes = 2.0 * 1024 * 1024;
// By what it is off now, an attempt is off for about as long again as it has run, and for no more
// than so many seconds: longer than a wobble, shorter than a phase.
constexpr double kOffSeconds = 30;
// Samples are up to this late, and so are starts and ends.
constexpr double kLateSeconds = 0.25;
// The share of the way to the next horizon that a horizon speaks for.
constexpr double kBetween = 0.5;
// How fast an attempt wobbles.
constexpr double kWobbleSeconds = 1;
// How far the past of a class may mislead, as a share: with a single attempt known, and with
// however many.
constexpr double kDoubt = 0.3;
constexpr double kDoubtLeft = 0.05;
// A straight line is not believed further away than this.
constexpr double kRatioMax = 20;
constexpr double kAsLongAgain = 2;
// So many guides are asked at most, and none lighter than this share of the heaviest: the others
// change nothing that can be seen.
constexpr std::size_t kGuidesMax = 32;
constexpr double kNegligible = 0.01;

// A past attempt at some pace, taken as the course that the one at hand follows.
struct Guide {
  const Run* run = nullptr;
  double pace = 1;   // seconds of the attempt at hand for one of the past one
  double level = 1;  // bytes, likewise
  double weight = 0;
  double left = 0;  // seconds of the attempt at hand
  double off = 1;   // bytes in use now, for one that the guide says
  MemoryCurve::Place place{};
};

// How much more (or less) the trend has for these sizes than for those of a past attempt.
double ratio(const Trend* trend, const Sizes& sizes, const Sizes& past) {
  return trend != nullptr ? trend->ratio(past, sizes, kRatioMax) : 1;
}

// What is compared with a guide: bytes.
struct Standing {
  double ran = 0;  // seconds
  double used = 0;
  double peak = 0;
};

// By what factor `value` is outside of a range; 1 within.
double off_range(double value, double least, double most) {
  return (value + kNoiseBytes) / (std::clamp(value, least, most) + kNoiseBytes);
}

// Finds the guide's place, and weighs it by how well it matches; a weight of 0 if not at all. The
// attempt may be a little earlier or later on its course than its time says: only what no such
// moment explains is a difference in size. In its first moments it may have nothing yet.
void match(Guide& guide, const Standing& standing) {
  const MemoryCurve& course = guide.run->course;
  guide.place = course.find(standing.ran / guide.pace);
  const double before = (standing.ran - kLateSeconds) / guide.pace;
  const MemoryCurve::Place early = course.find(std::max(before, 0.0));
  const MemoryCurve::Place late =
      course.find((standing.ran + kLateSeconds) / guide.pace, guide.place);
  const double least = before > 0 ? guide.level * course.least_between(early, late) : 0;
  guide.off = off_range(standing.used, least, guide.level * course.most_between(early, late));
  const double most_least =
      before > 0 ? guide.level * course.most_until(early, course.used(early)) : 0;
  const double most = off_range(standing.peak, most_least,
                                guide.level * course.most_until(late, course.used(late)));
  if (std::max(guide.off, most) > kOffMax || std::min(guide.off, most) < 1 / kOffMax) {
    guide.weight = 0;
    return;
  }
  const float log_off = std::log(static_cast<float>(guide.off));
  const float log_most = std::log(static_cast<float>(most));
  constexpr auto kPrecision = static_cast<float>(1 / (2 * kLikeness * kLikeness));
  guide.weight *= std::exp(-(log_off * log_off + log_most * log_most) * kPrecision);
}

struct Guides {
  std::vector<Guide> all;
  double likelihood = 0;  // of the track under all of them together, 0..1
};

// Those that run longer than the attempt at hand has, and match it if there is a track. Attempts
// that were cut off guide nobody past their end, so they count only where there are no others; and
// as what has run for some time is as likely as not to run for as long again, each ends at twice
// that.
Guides guides_of(const PastAttempt& record, const BySize& size, const LiveProfile* live_profile) {
  const bool any_whole = std::any_of(record.runs().begin(), record.runs().end(),
                                     [](const Run& run) { return run.ran_seen == Seen::whole; });
  Standing standing;
  if (live_profile != nullptr) {
    standing = {.ran = to_seconds(live_profile->ran()),
                .used = to_double(live_profile->used()),
                .peak = to_double(live_profile->peak())};
  }
  const std::array<Pace, 3> paces = paces_of(record.pace_doubt());
  Guides guides;
  guides.all.reserve(record.runs().size() * paces.size());
  double before = 0;
  double after = 0;
  for (std::size_t i = 0; i < record.runs().size(); ++i) {
    const Run& run = record.runs()[i];
    if (any_whole && run.ran_seen != Seen::whole) continue;
    const double level = ratio(size.peak, size.sizes, run.sizes());
    const double stretch = ratio(size.seconds, size.sizes, run.sizes());
    for (const Pace& pace : paces) {
      Guide guide{.run = &run, .pace = pace.factor * stretch, .level = level};
      guide.weight = record.weight(i) * pace.weight;
      const double seconds = run.seconds * guide.pace;
      if (seconds <= standing.ran) continue;
      guide.left = seconds * (any_whole ? 1 : kAsLongAgain) - standing.ran;
      before += guide.weight;
      if (live_profile != nullptr) match(guide, standing);
      after += guide.weight;
      if (guide.weight > 0) guides.all.push_back(guide);
    }
  }
  guides.likelihood = before > 0 ? after / before : 0;
  return guides;
}

void keep_heaviest(std::vector<Guide>& guides) {
  const auto heavier = [](const Guide& a, const Guide& b) { return a.weight > b.weight; };
  if (guides.size() > kGuidesMax) {
    const auto end = guides.begin() + static_cast<std::ptrdiff_t>(kGuidesMax);
    std::nth_element(guides.begin(), end, guides.end(), heavier);
    guides.resize(kGuidesMax);
  }
  double heaviest = 0;
  for (const Guide& guide : guides) heaviest = std::max(heaviest, guide.weight);
  std::erase_if(guides, [&](const Guide& guide) { return guide.weight <= heaviest * kNegligible; });
}

struct Sum {
  double weight = 0;
  double first = 0;
  double second = 0;
  void add(double one_weight, double value) {
    weight += one_weight;
    first += one_weight * value;
    second += one_weight * value * value;
  }
  // `doubt`: as a share of the mean.
  [[nodiscard]] Belief belief(double doubt) const {
    const double mean = first / weight;
    const double variance = std::max(0.0, second / weight - mean * mean);
    return {mean, std::sqrt(variance + doubt * doubt * mean * mean)};
  }
};

double gone_by(double passed, double time) { return time > 0 ? 1 - std::exp(-passed / time) : 1; }

// By how much a moment is off: what is said of it is the most of all the time in which it may be.
// Nothing falls between two horizons either.
struct When {
  double pace_doubt = 0;

  // Samples are so late, starts and ends take so long; and the pace may be another.
  [[nodiscard]] double off(double ahead) const { return kLateSeconds + pace_doubt * ahead; }
  [[nodiscard]] double early(std::size_t h) const {
    const double at = to_seconds(kHorizons[h]);
    const double before = h > 0 ? to_seconds(kHorizons[h - 1]) : at;
    return std::min(at, std::max(off(at), kBetween * (at - before)));
  }
  [[nodiscard]] double late(std::size_t h) const {
    const double at = to_seconds(kHorizons[h]);
    const double after = h + 1 < kHorizons.size() ? to_seconds(kHorizons[h + 1]) : at;
    return std::max(off(at), kBetween * (after - at));
  }
};

// `guides` is not empty.
Estimate combine(std::vector<Guide>& guides, const PastAttempt& record,
                 const LiveProfile* live_profile) {
  Estimate estimate{};
  const double doubt =
      std::hypot(kDoubtLeft, doubt_left(kDoubt, static_cast<double>(record.runs().size())));
  const When when{.pace_doubt = record.pace_doubt()};
  Sum peak;
  Sum left;
  Sum cores;
  for (const Guide& guide : guides) {
    const MemoryCurve& course = guide.run->course;
    peak.add(guide.weight, guide.level * course.most_from(guide.place, course.used(guide.place)));
    left.add(guide.weight, guide.left);
    if (guide.run->cores) cores.add(guide.weight, *guide.run->cores);
  }
  estimate.peak = peak.belief(doubt);
  estimate.remaining = left.belief(doubt);
  if (cores.weight > 0) estimate.cores = cores.belief(doubt);
  const double ran = live_profile != nullptr ? to_seconds(live_profile->ran()) : 0;
  const double wobble = live_profile != nullptr ? live_profile->wobble() : 0;
  std::vector<MemoryCurve::Place> until(guides.size());
  for (std::size_t i = 0; i < guides.size(); ++i) until[i] = guides[i].place;
  for (std::size_t h = 0; h < kHorizons.size(); ++h) {
    const double ahead = to_seconds(kHorizons[h]);
    const double forgotten = gone_by(ahead, std::min(kOffSeconds, ran));
    const double early = when.early(h);
    const double late = when.late(h);
    Sum used, most;
    for (std::size_t i = 0; i < guides.size(); ++i) {
      Guide& guide = guides[i];
      if (guide.left + kLateSeconds <= ahead) continue;
      const MemoryCurve& course = guide.run->course;
      const double level = guide.level * (guide.off + (1 - guide.off) * forgotten);
      const auto here = course.find((ran + ahead) / guide.pace, guide.place);
      guide.place = course.find((ran + ahead - early) / guide.pace, guide.place);
      until[i] = course.find((ran + ahead + late) / guide.pace, until[i]);
      // What one that starts takes in its first moments it keeps, and others that start with it do
      // likewise: that is no swing, of which not all come together.
      const double soon = h == 0 ? course.used(until[i]) : 0;
      used.add(guide.weight, level * std::max(course.used(here), soon));
      most.add(guide.weight, level * course.most_between(guide.place, until[i]));
    }
    estimate.survival[h] = std::min(1.0, used.weight / peak.weight);
    if (used.weight <= 0) {
      // Nobody knows of so late a time: as at the last one that is known of.
      estimate.ahead[h] = h > 0 ? estimate.ahead[h - 1] : estimate.peak;
      continue;
    }
    // What is used now is no doubt, wherever on its course a guide is.
    // Guides that differ in when they rise and fall agree on how high; what is left is their doubt.
    const bool is_now = live_profile != nullptr && h == 0;
    estimate.ahead[h] = {is_now ? to_double(live_profile->used()) : used.first / used.weight,
                         most.belief(is_now ? 0 : doubt).spread};
    estimate.swing[h] = std::max(most.first / most.weight - estimate.ahead[h].mean,
                                 wobble * gone_by(ahead, kWobbleSeconds));
  }
  return estimate;
}

}  // namespace

Estimate forecast(const PastAttempt& record, const BySize& size) {
  std::vector<Guide> guides = guides_of(record, size, nullptr).all;
  // Attempts that took no time at all guide nobody, but their peak is known.
  if (guides.empty()) {
    for (std::size_t i = 0; i < record.runs().size(); ++i) {
      guides.push_back({.run = &record.runs()[i], .weight = record.weight(i)});
    }
  }
  return combine(guides, record, nullptr);
}

Forecast forecast(const PastAttempt& record, const BySize& size, const LiveProfile& live_profile) {
  Guides guides = guides_of(record, size, &live_profile);
  if (guides.all.empty()) return {.estimate = {}, .likelihood = 0};
  keep_heaviest(guides.all);
  return {.estimate = combine(guides.all, record, &live_profile), .likelihood = guides.likelihood};
}

}  // namespace plimsoll::policy

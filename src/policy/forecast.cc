#include "policy/forecast.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <vector>

namespace plimsoll::policy {
namespace {

// Each past attempt is also tried slower and faster than it was, as jobs of a class are mostly the
// same work on more or less of it.
struct Pace {
  double factor;
  double weight;
};
constexpr auto kPaces = std::to_array<Pace>({{0.7, 0.25}, {1, 0.5}, {1.4, 0.25}});
// Two attempts at the same point of the same course differ by about this share.
constexpr double kLikeness = 0.25;
// A guide that is off by more than this factor is none. At kLikeness it would weigh 1/15,000.
constexpr double kOffMax = 3;
// Differences below this are noise, whatever the share.
constexpr double kNoiseBytes = 2.0 * 1024 * 1024;
// By what it is off now, an attempt is off for about so many seconds more: longer than a wobble,
// shorter than a phase.
constexpr double kOffSeconds = 30;
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
  Course::Place place{};
};

// How much more (or less) the line has at `input` than at that of a past attempt.
double ratio(const LineFit* line, double input, const std::optional<double>& past) {
  if (line == nullptr || !past) return 1;
  const double here = line->at(input);
  const double there = line->at(*past);
  // A line that has gone below nothing tells nothing.
  if (here <= 0 || there <= 0) return 1;
  return std::clamp(here / there, 1 / kRatioMax, kRatioMax);
}

// Finds the guide's place, and weighs it by how well it matches; a weight of 0 if not at all.
void match(Guide& guide, double ran, double used, double peak) {
  const Course& course = guide.run->course;
  guide.place = course.find(ran / guide.pace);
  const double said = course.used(guide.place);
  guide.off = used / (guide.level * said + kNoiseBytes);
  const double most = peak / (guide.level * course.most_until(guide.place, said) + kNoiseBytes);
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
// as what has run for some time is as likely as not to run for as long again, each for twice that.
Guides guides_of(const Record& record, const BySize& size, const Track* track) {
  const bool any_whole = std::any_of(record.runs().begin(), record.runs().end(),
                                     [](const Run& run) { return run.ran_seen == Seen::whole; });
  const double ran = track != nullptr ? to_seconds(track->ran()) : 0;
  const double used = track != nullptr ? to_double(track->used()) + kNoiseBytes : 0;
  const double peak = track != nullptr ? to_double(track->peak()) + kNoiseBytes : 0;
  Guides guides;
  guides.all.reserve(record.runs().size() * kPaces.size());
  double before = 0;
  double after = 0;
  for (std::size_t i = 0; i < record.runs().size(); ++i) {
    const Run& run = record.runs()[i];
    if (any_whole && run.ran_seen != Seen::whole) continue;
    const double level = ratio(size.peak, size.input, run.input);
    const double stretch = ratio(size.seconds, size.input, run.input);
    for (const Pace& pace : kPaces) {
      Guide guide{.run = &run, .pace = pace.factor * stretch, .level = level};
      guide.weight = record.weight(i) * pace.weight;
      guide.left = run.seconds * guide.pace * (any_whole ? 1 : kAsLongAgain) - ran;
      if (guide.left <= 0) continue;
      before += guide.weight;
      if (track != nullptr) match(guide, ran, used, peak);
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

double gone_by(double passed, double time) { return 1 - std::exp(-passed / time); }

// `guides` is not empty.
Estimate combine(std::vector<Guide>& guides, std::size_t runs, const Track* track) {
  Estimate estimate{};
  const double doubt = kDoubtLeft + kDoubt / std::sqrt(static_cast<double>(runs));
  Sum peak;
  Sum left;
  Sum cores;
  for (const Guide& guide : guides) {
    const Course& course = guide.run->course;
    peak.add(guide.weight, guide.level * course.most_from(guide.place, course.used(guide.place)));
    left.add(guide.weight, guide.left);
    if (guide.run->cores) cores.add(guide.weight, *guide.run->cores);
  }
  estimate.peak = peak.belief(doubt);
  estimate.remaining = left.belief(doubt);
  if (cores.weight > 0) estimate.cores = cores.belief(doubt);
  const double ran = track != nullptr ? to_seconds(track->ran()) : 0;
  const double wobble = track != nullptr ? track->wobble() : 0;
  for (std::size_t h = 0; h < kHorizons.size(); ++h) {
    const double ahead = to_seconds(kHorizons[h]);
    const double forgotten = gone_by(ahead, kOffSeconds);
    Sum used;
    for (Guide& guide : guides) {
      if (guide.left <= ahead) continue;
      guide.place = guide.run->course.find((ran + ahead) / guide.pace, guide.place);
      const double level = guide.level * (guide.off + (1 - guide.off) * forgotten);
      used.add(guide.weight, level * guide.run->course.used(guide.place));
    }
    estimate.survival[h] = std::min(1.0, used.weight / peak.weight);
    if (used.weight <= 0) {
      // Nobody knows of so late a time: as at the last one that is known of.
      estimate.ahead[h] = h > 0 ? estimate.ahead[h - 1] : estimate.peak;
      continue;
    }
    // What is used now is no doubt.
    estimate.ahead[h] = used.belief(track != nullptr && h == 0 ? 0 : doubt);
    estimate.ahead[h].spread =
        std::hypot(estimate.ahead[h].spread, wobble * gone_by(ahead, kWobbleSeconds));
  }
  return estimate;
}

}  // namespace

Estimate forecast(const Record& record, const BySize& size) {
  std::vector<Guide> guides = guides_of(record, size, nullptr).all;
  // Attempts that took no time at all guide nobody, but their peak is known.
  if (guides.empty()) {
    for (std::size_t i = 0; i < record.runs().size(); ++i) {
      guides.push_back({.run = &record.runs()[i], .weight = record.weight(i)});
    }
  }
  return combine(guides, record.runs().size(), nullptr);
}

Forecast forecast(const Record& record, const BySize& size, const Track& track) {
  Guides guides = guides_of(record, size, &track);
  if (guides.all.empty()) return {.estimate = {}, .likelihood = 0};
  keep_heaviest(guides.all);
  return {.estimate = combine(guides.all, record.runs().size(), &track),
          .likelihood = guides.likelihood};
}

}  // namespace plimsoll::policy

#include "policy/forecast.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

namespace plimsoll::policy {
namespace {

// Each past attempt is also tried slower and faster than it was, as jobs of a class are mostly the
// same work on more or less of it.
struct Pace {
  double factor;
  double weight;
};
constexpr auto kPaces =
    std::to_array<Pace>({{0.5, 0.1}, {0.7, 0.2}, {1, 0.4}, {1.4, 0.2}, {2, 0.1}});
// Two attempts at the same point of the same course differ by about this share.
constexpr double kLikeness = 0.15;
// Differences below this are noise, whatever the share.
constexpr double kNoiseBytes = 2.0 * 1024 * 1024;
// How far the past of a class may mislead with a single attempt known, as a share.
constexpr double kDoubt = 0.3;
// A straight line is not believed further away than this.
constexpr double kRatioMax = 20;
// Guides lighter than this share of the heaviest change nothing that can be seen.
constexpr double kNegligible = 0.01;

double number(Bytes bytes) { return static_cast<double>(bytes.count); }
double seconds(Duration time) { return std::chrono::duration<double>(time).count(); }

// A past attempt at some pace, taken as the course that the one at hand follows.
struct Guide {
  const Run* run = nullptr;
  double pace = 1;   // seconds of the attempt at hand for one of the past one
  double level = 1;  // bytes, likewise
  double weight = 0;
  double left = 0;  // seconds of the attempt at hand
  Course::Place place{};
};

double off_by(double seen, double expected) {
  return std::log((seen + kNoiseBytes) / (expected + kNoiseBytes)) / kLikeness;
}

// How much more (or less) the line has at `input` than at that of a past attempt.
double ratio(const LineFit* line, double input, const std::optional<double>& past) {
  if (line == nullptr || !past) return 1;
  const double here = line->at(input);
  const double there = line->at(*past);
  // A line that has gone below nothing tells nothing.
  if (here <= 0 || there <= 0) return 1;
  return std::clamp(here / there, 1 / kRatioMax, kRatioMax);
}

std::vector<Guide> guides_of(const Record& record, const BySize& size, const Track* track) {
  const double ran = track != nullptr ? seconds(track->ran()) : 0;
  std::vector<Guide> guides;
  guides.reserve(record.runs().size() * kPaces.size());
  for (std::size_t i = 0; i < record.runs().size(); ++i) {
    const Run& run = record.runs()[i];
    const double level = ratio(size.peak, size.input, run.input);
    const double stretch = ratio(size.seconds, size.input, run.input);
    for (const Pace& pace : kPaces) {
      Guide guide{.run = &run, .pace = pace.factor * stretch, .level = level};
      guide.weight = record.weight(i) * pace.weight;
      guide.left = run.seconds * guide.pace - ran;
      if (guide.left <= 0) continue;
      guide.place = run.course.find(ran / guide.pace);
      guides.push_back(guide);
    }
  }
  return guides;
}

// Weighs each guide by how well it matches; gives the likelihood of all.
double match(std::vector<Guide>& guides, const Track& track) {
  const double used = number(track.used());
  const double peak = number(track.peak());
  double before = 0;
  double after = 0;
  for (Guide& guide : guides) {
    const Course& course = guide.run->course;
    const double now = off_by(used, guide.level * course.used(guide.place));
    const double most = off_by(peak, guide.level * course.most_until(guide.place));
    before += guide.weight;
    guide.weight *= std::exp(-(now * now + most * most) / 2);
    after += guide.weight;
  }
  return before > 0 ? after / before : 0;
}

void drop_negligible(std::vector<Guide>& guides) {
  double heaviest = 0;
  for (const Guide& guide : guides) heaviest = std::max(heaviest, guide.weight);
  std::erase_if(guides, [&](const Guide& guide) { return guide.weight <= heaviest * kNegligible; });
}

struct Sum {
  double weight = 0, first = 0, second = 0;
  void add(double one_weight, double value) {
    weight += one_weight;
    first += one_weight * value;
    second += one_weight * value * value;
  }
  [[nodiscard]] Belief belief(double doubt) const {
    const double mean = first / weight;
    return {mean,
            std::hypot(std::sqrt(std::max(0.0, second / weight - mean * mean)), doubt * mean)};
  }
};

}  // namespace

static Forecast combine(std::vector<Guide>& guides, double runs, const Track* track) {
  Forecast result;
  Estimate& estimate = result.estimate;
  const double doubt = kDoubt / std::sqrt(runs);
  Sum peak;
  Sum left;
  Sum cores;
  for (Guide& guide : guides) {
    const Course& course = guide.run->course;
    peak.add(guide.weight, guide.level * course.most_from(guide.place));
    left.add(guide.weight, guide.left);
    if (guide.run->cores) cores.add(guide.weight, *guide.run->cores);
  }
  estimate.peak = peak.belief(doubt);
  estimate.remaining = left.belief(doubt);
  if (cores.weight > 0) estimate.cores = cores.belief(doubt);
  const double ran = track != nullptr ? seconds(track->ran()) : 0;
  for (std::size_t h = 0; h < kHorizons.size(); ++h) {
    const double ahead = seconds(kHorizons[h]);
    Sum used;
    for (Guide& guide : guides) {
      if (guide.left <= ahead) continue;
      guide.place = guide.run->course.find((ran + ahead) / guide.pace, guide.place);
      used.add(guide.weight, guide.level * guide.run->course.used(guide.place));
    }
    estimate.survival[h] = used.weight / peak.weight;
    estimate.ahead[h] = used.weight > 0 ? used.belief(doubt)
                        : h > 0         ? estimate.ahead[h - 1]
                                        : estimate.peak;
  }
  return result;
}

Forecast forecast(const Record& record, const BySize& size) {
  std::vector<Guide> guides = guides_of(record, size, nullptr);
  return combine(guides, static_cast<double>(record.runs().size()), nullptr);
}

Forecast forecast(const Record& record, const BySize& size, const Track& track) {
  std::vector<Guide> guides = guides_of(record, size, &track);
  Forecast result;
  const double likelihood = match(guides, track);
  drop_negligible(guides);
  if (guides.empty()) return {.estimate = {}, .likelihood = 0};
  result = combine(guides, static_cast<double>(record.runs().size()), &track);
  result.likelihood = likelihood;
  return result;
}

}  // namespace plimsoll::policy

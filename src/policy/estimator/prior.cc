#include "policy/estimator/prior.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "policy/estimator/showing.h"

namespace plimsoll::policy {
namespace {

// A job that has not grown for so long has probably what it wanted: half of what the prior expects
// beyond that is given up after 5 s, nearly all after 10.
constexpr double kCalmSeconds = 6;
// The doubt is given up far more slowly than the mean: what comes late is what hurts.
constexpr double kDoubtCalmSeconds = 60;
// The share of the prior's spread that stays however calm the job is.
constexpr double kDoubtLeftOfGuess = 0.2;
// A rise goes on for so many times as long as it has: once again while the prior is not exceeded,
// three times once it is by kExceeded, when all that is known of the job is that it grows.
constexpr double kGrowsAgain = 1;
constexpr double kGrowsOn = 3;
// What creeps is expected to do so for this long at least.
constexpr double kCreepSeconds = 30;
constexpr double kExceeded = 0.5;
// How far growth is off, as a share of what it adds.
constexpr double kGrowthDoubt = 0.5;
// What a job uses wobbles by about this share of itself.
constexpr double kWobble = 0.05;
// How soon a job without a past is expected to have what it will have.
constexpr double kRiseSeconds = 15;

Belief peak_of(const Prior& prior, const LiveProfile& live_profile) {
  const double peak = to_double(live_profile.peak());
  const double calm = to_seconds(live_profile.calm()) / kCalmSeconds;
  const double trust = std::exp(-calm * calm);
  const double from_prior = trust * std::max(0.0, prior.peak.mean - peak);
  const double beyond = prior.peak.mean > 0 ? peak / prior.peak.mean - 1 : kExceeded;
  const double goes_on =
      kGrowsAgain + (kGrowsOn - kGrowsAgain) * std::clamp(beyond / kExceeded, 0.0, 1.0);
  const double rising = std::max(to_seconds(live_profile.rising()),
                                 std::min(to_seconds(live_profile.ran()), kCreepSeconds));
  double from_growth = std::max(0.0, live_profile.growth()) * rising * goes_on;
  if (prior.growth_ends && peak <= prior.peak.mean) {
    from_growth = std::min(from_growth, std::max(0.0, *prior.growth_ends - peak));
  }
  const double doubt =
      kDoubtLeftOfGuess +
      (1 - kDoubtLeftOfGuess) * std::exp(-to_seconds(live_profile.calm()) / kDoubtCalmSeconds);
  return {peak + std::max(from_prior, from_growth),
          std::hypot(doubt * prior.peak.spread, kGrowthDoubt * from_growth, kWobble * peak)};
}

// Fills in the course from `used` now, growing by `growth` bytes per second, to `estimate.peak`.
void fill_course(Estimate& estimate, double used, double growth) {
  const double rise = std::max(0.0, estimate.peak.mean - used);
  const double slope = std::max(growth, rise / kRiseSeconds);
  for (std::size_t i = 0; i < kHorizons.size(); ++i) {
    const double ahead = to_seconds(kHorizons[i]);
    const double share = rise > 0 ? std::min(1.0, slope * ahead / rise) : 0;
    const double doubt = 1 - std::exp(-ahead / kRiseSeconds);
    estimate.ahead[i] = {used + share * rise,
                         std::hypot(doubt * estimate.peak.spread, kWobble * used)};
    // Of jobs nobody knows, half of those that ran for some time run for as long again.
    estimate.survival[i] = estimate.remaining.mean / (estimate.remaining.mean + ahead);
  }
}

struct Known {
  std::string_view tool;
  double mean_mib;
  double spread_mib;
  double cores;
};

// Rough figures of common use, each with a spread that reaches the bad cases; the first attempt of
// a class that ends replaces them.
constexpr auto kKnown = std::to_array<Known>({
    {"ar", 30, 50, 1},            // copies files
    {"awk", 20, 100, 1},          // streams, but may keep tables
    {"bwa", 5000, 4000, 4},       // the index of a large genome is 3 to 6 GB
    {"bzip2", 8, 4, 1},           // ten times its block, which is at most 900 kB
    {"c++", 700, 600, 1},         // templates; debug information doubles it
    {"cargo", 1200, 1200, 2},     // a rustc at a time and more
    {"cc", 150, 200, 1},          // plain C is small
    {"cc1", 150, 200, 1},         //
    {"cc1plus", 700, 600, 1},     //
    {"clang", 200, 300, 1},       //
    {"clang++", 700, 600, 1},     //
    {"collect2", 1500, 2500, 1},  // the linker behind it
    {"convert", 500, 800, 1},     // holds images whole, 8 bytes a channel
    {"cp", 5, 10, 1},             //
    {"ffmpeg", 600, 600, 4},      // reference frames times threads
    {"g++", 700, 600, 1},         //
    {"gcc", 150, 200, 1},         //
    {"git", 100, 300, 1},         // packing a large history is the bad case
    {"go", 800, 800, 2},          // compilers side by side
    {"grep", 10, 20, 1},          //
    {"gzip", 3, 3, 1},            // a window of 32 kB
    {"java", 1000, 1500, 2},      // a quarter of the machine by default, if it needs it
    {"javac", 800, 600, 2},       //
    {"ld", 1500, 2500, 1},        // debug information is what it holds; 10 GB are seen
    {"ld.gold", 1500, 2500, 1},   //
    {"ld.lld", 1500, 2500, 2},    //
    {"lld", 1500, 2500, 2},       //
    {"lto1", 2000, 2500, 1},      // a whole program at once
    {"mold", 1500, 2500, 4},      //
    {"node", 500, 600, 1},        // bundlers reach the heap's limit of 2 to 4 GB
    {"nvcc", 3000, 2500, 1},      // builders reckon 4 to 8 GB each
    {"perl", 60, 200, 1},         //
    {"python", 250, 600, 1},      // anything from a script to a model
    {"R", 500, 1000, 1},          // copies its tables
    {"ruby", 100, 200, 1},        //
    {"rustc", 900, 800, 1},       // builders reckon 1 to 2 GB each
    {"samtools", 400, 600, 1},    // sort: 768 MiB a thread
    {"sed", 5, 10, 1},            //
    {"sort", 300, 500, 1},        // takes what is there, up to its input
    {"tar", 10, 20, 1},           //
    {"tsc", 700, 500, 1},         //
    {"xz", 200, 250, 1},          // -6: 94 MiB, -9: 674 MiB, a thread each
    {"zstd", 100, 200, 1},        // grows with the level and --long
});

constexpr double kMib = 1024.0 * 1024.0;
// Most commands are smaller than this, some far larger; the spread makes a start of a few at a
// time on a small machine and of many on a large one. A guess.
constexpr Known kUnknown{"", 500, 1000, 1};
// Jobs worth queueing take about a minute, and from a second to hours. A guess.
constexpr Belief kSeconds{60, 300};
// How far the cores of a tool are off, as a share. A guess.
constexpr double kCoresSpread = 0.5;

Prior made_of(const Known& known) {
  return {.peak = {known.mean_mib * kMib, known.spread_mib * kMib},
          .cores = {known.cores, known.cores * kCoresSpread},
          .seconds = kSeconds};
}

}  // namespace

Estimate guess(const Prior& prior) {
  Estimate estimate{};
  estimate.peak = prior.peak;
  estimate.cores = prior.cores;
  estimate.remaining = prior.seconds;
  fill_course(estimate, 0, 0);
  return estimate;
}

Estimate guess(const Prior& prior, const LiveProfile& live_profile) {
  if (!live_profile.has_samples()) return guess(prior);
  Estimate estimate{};
  const double ran = to_seconds(live_profile.ran());
  estimate.peak = peak_of(prior, live_profile);
  const double seen = load_shown(live_profile.ran());
  estimate.cores = {seen * live_profile.cores_wanted_lately() + (1 - seen) * prior.cores.mean,
                    std::max(1 - seen, kWobble) * prior.cores.spread + kWobble};
  const double left = std::max(ran, prior.seconds.mean - ran);
  estimate.remaining = {left, std::max(left, prior.seconds.spread)};
  fill_course(estimate, to_double(live_profile.used()), std::max(0.0, live_profile.growth()));
  return estimate;
}

std::optional<Prior> prior_of(std::string_view tool) {
  const std::string_view name = tool.substr(0, tool.find(' '));
  // A compiler that links is the linker.
  const std::string_view sought = tool.ends_with(" link") ? "ld" : name;
  const auto* found = std::find_if(kKnown.begin(), kKnown.end(),
                                   [sought](const Known& known) { return known.tool == sought; });
  if (found == kKnown.end()) return std::nullopt;
  return made_of(*found);
}

Prior unknown_prior() { return made_of(kUnknown); }

}  // namespace plimsoll::policy

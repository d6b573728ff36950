#include "policy/estimator/prior.h"

#include <algorithm>
#include <array>

namespace plimsoll::policy {
namespace {

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

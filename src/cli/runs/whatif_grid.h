#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/units.h"
#include "sim/curves.h"
#include "sim/outcome.h"

// A recorded run on machines of other sizes: the same governor, on a simulated machine.
namespace plimsoll::cli {

struct WhatifMachine {
  double cores = 1;
  Bytes line;
};

// What the governor knows of the jobs before it begins.
enum class Knowledge : std::uint8_t { nothing, some, all };
[[nodiscard]] std::string_view name_of(Knowledge knowledge);

// What a run was, as far as it is recorded.
struct WhatifRun {
  std::string id;
  std::vector<sim::SimJob> jobs;  // as replay_of() makes them: without pauses and waits
  WhatifMachine machine;
  std::optional<Duration> makespan{};  // of a run that has ended
  double other_load = 0;               // cores that other programs used
  // Of the whole machine: others use first what jobs may not use of them. Absent: whatever others
  // use they take from the cores that the jobs may use.
  std::optional<double> cores_of_machine{};
  // Of each job whether the governor knew its class when the run began; empty: it is not recorded.
  std::vector<bool> known{};
  // What it is to know instead: `nothing` or `all`.
  std::optional<Knowledge> knowledge{};
};

// What varies from run to run is drawn so many times; the run with the middle makespan is told.
inline constexpr std::uint64_t kWhatifSeeds = 3;

struct WhatifAnswer {
  WhatifMachine machine;
  sim::Outcome outcome;          // with the middle makespan
  double low_s = 0, high_s = 0;  // the least and the greatest makespan
};

struct Whatif {
  Knowledge knowledge{};
  WhatifAnswer replay;  // on the machine that the run had
  // By how much the replay misses the makespan that was recorded, as a share of that.
  std::optional<double> error{};
  std::vector<WhatifAnswer> answers;  // in the order of the machines
};

// Where `run` does not tell what the governor knew, it is nothing or all, whichever replay misses
// the recorded makespan by less; for all answers.
[[nodiscard]] Whatif what_if(const WhatifRun& run, const std::vector<WhatifMachine>& machines);

// For people, and the document `plimsoll.whatif/1` of docs/whatif.md. Both end with a newline.
[[nodiscard]] std::string whatif_text(const WhatifRun& run, const Whatif& whatif,
                                      std::size_t width);
[[nodiscard]] std::string whatif_json(const WhatifRun& run, const Whatif& whatif);

}  // namespace plimsoll::cli

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include "base/result.h"
#include "policy/job/attempt.h"

// When a whole run stops before its jobs are through: `--halt`, in the words of GNU parallel.
namespace plimsoll::policy {

enum class Urgency : std::uint8_t {
  soon,  // start no more, let what runs end
  now,   // also cancel what runs
};

enum class HaltOn : std::uint8_t { fail, success, done };

struct JobCount {
  std::uint64_t count = 1;
  bool operator==(const JobCount&) const = default;
};

// Of all jobs that the run has been given so far.
struct JobPercent {
  unsigned percent = 100;  // 1..100
  bool operator==(const JobPercent&) const = default;
};

// Stop, with `urgency`, as soon as so many jobs have failed, succeeded or ended at all. A job
// counts when it has ended for good, after its last retry; a skipped one never counts.
struct HaltPolicy {
  Urgency urgency = Urgency::soon;
  HaltOn on = HaltOn::fail;
  std::variant<JobCount, JobPercent> threshold;
  bool operator==(const HaltPolicy&) const = default;
};

// The jobs of a run that have ended for good, without the skipped ones, and all that were entered.
struct Tally {
  std::uint64_t failed = 0;
  std::uint64_t succeeded = 0;
  std::uint64_t entered = 0;
};

// A run that was stopped by its policy: what it had come to, and the attempt whose end stopped it.
struct Halted {
  HaltPolicy policy;
  Tally tally;
  AttemptEnd last;
};

// The sentence that says why the run stops; nothing while the threshold is not reached.
[[nodiscard]] std::optional<std::string> halt_reason(const HaltPolicy& policy, const Tally& tally);

// `now|soon,fail|success|done=N|N%`: "now,fail=1", "soon,fail=10%". N from 1; a percentage from 1
// to 100. GNU parallel's older words too: 1 and 2 are soon,fail=1 and now,fail=1, N% is
// soon,fail=N%. Anything else is an error that says what was expected.
[[nodiscard]] Result<HaltPolicy> parse_halt(std::string_view text);

// The policy as parse_halt() reads it.
[[nodiscard]] std::string to_text(const HaltPolicy& policy);

}  // namespace plimsoll::policy

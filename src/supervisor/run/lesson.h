#pragma once

#include <optional>
#include <string>

#include "policy/estimator/attempt_summary.h"
#include "policy/estimator/estimator.h"
#include "policy/job/job.h"
#include "supervisor/attempt.h"

// What a command that runs alone has in common with the jobs of batches: their past.
namespace plimsoll::supervisor {

// What earlier attempts of this class, or of the same tool, have needed, by the history below this
// state directory; nothing if none is known or there is no history. Reads for kRecallMax at most.
[[nodiscard]] std::optional<policy::Estimate> recall(const std::string& state_dir,
                                                     const policy::JobSpec& job);
inline constexpr Duration kRecallMax = std::chrono::milliseconds(50);

// What an attempt has taught of its class, told from its report's figures; nothing of one whose
// command was never executed. `input`: what it had to read, if that was known beforehand.
[[nodiscard]] std::optional<policy::AttemptSummary> lesson_of(const policy::JobSpec& job,
                                                              const AttemptResult& result,
                                                              std::optional<Bytes> input);

}  // namespace plimsoll::supervisor

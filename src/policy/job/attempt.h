#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include "base/units.h"
#include "policy/job/job.h"

// What the end of an attempt means: success or not, in words, and as an exit status.
namespace plimsoll::policy {

// How an attempt ended, as whoever decides about its job needs to know it.
struct AttemptEnd {
  Outcome outcome{};
  std::optional<int> exit_code{};  // of the main process; at most one of these two is present
  std::optional<int> signal{};     // the number
  Duration wall{};                 // from start to end; zero if it never started
  // As JobSample::written, by the main process and all that it has waited for, and they.
  std::optional<Bytes> written{};
};

// Whether a job whose last attempt ended so has done what it should: it exited by itself with 0.
[[nodiscard]] bool succeeded(Outcome outcome, std::optional<int> exit_code);
[[nodiscard]] inline bool succeeded(const AttemptEnd& end) {
  return succeeded(end.outcome, end.exit_code);
}

// Lost to the machine or to other jobs, not by a fault of its own.
[[nodiscard]] inline bool was_lost(Outcome outcome) {
  return outcome == Outcome::evicted || outcome == Outcome::machine_oom;
}

// Whether nothing of the command was executed, as far as can be told: it could not be started, or a
// shell says so with its status 126 or 127. What was measured then is not what the command needs.
[[nodiscard]] bool was_never_executed(const AttemptEnd& end);

// How an attempt ended, as the rest of a sentence whose subject is the job: "exited with code 2",
// "was ended by signal SEGV", "timed out".
[[nodiscard]] std::string describe(const AttemptEnd& end);

// The name of a signal without SIG ("KILL", "RTMIN+3"); the number in digits if it has none.
[[nodiscard]] std::string signal_name(int signal);

// The largest count of jobs that `batch` can give as its exit status; more is this plus one. Above
// come the statuses with a meaning of their own (124 and up).
inline constexpr int kExitCountMax = 100;

// The exit status of `batch`: how many jobs did not succeed, as 0, 1-100, or 101 for more.
[[nodiscard]] int batch_exit_status(std::size_t jobs_not_succeeded);

}  // namespace plimsoll::policy

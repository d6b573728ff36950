#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/result.h"
#include "base/units.h"
#include "supervisor/control/run_status.h"

// The jobs of the runs that are watched: which are shown, and in which order. Pure.
namespace plimsoll::cli::top {

// A run, or the daemon, as it was last heard of.
struct RunView {
  std::string run;                                // id
  std::optional<supervisor::RunStatus> status{};  // absent until it has answered
  std::optional<supervisor::RunningJob> next{};   // that waits, with the reason
  std::unordered_map<JobId, double> io_rates{};   // bytes a second, between the last two answers
  Instant heard{};                                // the last answer
  std::optional<std::string> end{};               // it has ended; how that was seen
};

// A new answer of the run takes the place of the one before.
void take_status(RunView& view, supervisor::RunStatus status, Instant now);

enum class SortKey : std::uint8_t { age, used, estimate, growth, cores, io, state, job };
inline constexpr std::array<std::pair<SortKey, std::string_view>, 8> kSortKeys = {
    {{SortKey::age, "age"},
     {SortKey::used, "used"},
     {SortKey::estimate, "estimate"},
     {SortKey::growth, "growth"},
     {SortKey::cores, "cores"},
     {SortKey::io, "io"},
     {SortKey::state, "state"},
     {SortKey::job, "job"}}};
[[nodiscard]] std::string_view name_of(SortKey key);
Result<SortKey> parse_sort_key(std::string_view text);
[[nodiscard]] SortKey key_after(SortKey key);  // the first one after the last

// The natural one begins with the oldest, with the most, with those that run, with the lowest
// number.
enum class SortOrder : std::uint8_t { natural, reversed };

struct RowChoice {
  std::optional<std::size_t> run{};  // of this one alone
  SortKey sort = SortKey::age;
  SortOrder order = SortOrder::natural;
  std::string filter{};  // what the name, the command or the state must contain, in any case
};

// A job. Points into the view of its run.
struct Row {
  std::size_t run = 0;
  const supervisor::RunningJob* job = nullptr;
  std::optional<double> io_rate{};
};

// Jobs without a figure come after those that have it; those with equal ones are in order of run
// and number. Pointers hold until one of the views is changed.
[[nodiscard]] std::vector<Row> rows_of(const std::vector<RunView>& runs, const RowChoice& choice);

// "running", "paused", "waiting".
[[nodiscard]] std::string_view state_text(policy::JobState state);

// Since its start, pauses included.
[[nodiscard]] inline Duration age_of(const supervisor::RunningJob& job) {
  return job.ran + job.frozen;
}

}  // namespace plimsoll::cli::top

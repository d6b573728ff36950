#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "base/units.h"
#include "policy/job/event.h"

// Events on disk: JSON lines `plimsoll.event/1` (docs/formats/events.md).
namespace plimsoll::report {

// An event as it is recorded: jobs by the ids of their reports, times since the run's start.
struct RecordedEvent {
  Duration t{};
  policy::EventKind kind{};
  std::string job{};                      // empty: it concerns the whole run
  std::optional<std::uint64_t> number{};  // of the job in the order of input
  std::string reason{};
  std::vector<std::pair<std::string, double>> numbers{};
  bool operator==(const RecordedEvent&) const = default;
};

// The ids of jobs that the user has given one; the id of all others is their number.
using JobNames = std::map<JobId, std::string>;

// `begun` is the run's start.
[[nodiscard]] RecordedEvent recorded(const policy::Event& event, Instant begun,
                                     const JobNames& names);

// One line, valid JSON in UTF-8 whatever the texts hold.
[[nodiscard]] std::string to_json(const RecordedEvent& event);

// Nothing for a line that is no event, or one of a kind that is not known; keys that are not known
// are passed over.
[[nodiscard]] std::optional<RecordedEvent> parse_event(std::string_view line);

// The events of a file, in its order. Lines that are none are passed over: the last one is cut off
// if the program was killed.
Result<std::vector<RecordedEvent>> read_events(const std::string& path);

// The reports of a file, each a line with its newline, in the order in which jobs ended. Lines that
// are none are passed over.
Result<std::vector<std::string>> read_reports(const std::string& path);

// The report of one job in a file of reports, if it is there.
Result<std::optional<std::string>> find_report(const std::string& path, const std::string& job);

}  // namespace plimsoll::report

#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "report/json.h"
#include "report/summary.h"

// What `plimsoll doctor` tells of a host: the values, filled by the engine, and their two forms.
namespace plimsoll::report {

enum class CheckState : std::uint8_t {
  ok,
  degraded,  // there, but not as good as it could be
  missing,
};
[[nodiscard]] std::string_view name_of(CheckState state);

// One thing that a host offers or does not.
struct Check {
  std::string id;  // "memory.high": for people and for scripts; docs/doctor.md has them all
  CheckState state{};
  std::string value{};   // what was found
  std::string cost{};    // what it costs; empty if it is ok
  std::string remedy{};  // what would add it; empty if it is ok, or nothing would
};

struct CheckSection {
  std::string title;
  std::vector<Check> checks;
};

struct DoctorReport {
  std::string why_not;  // why no job can be run here; empty if jobs can
  // Checks that could not be made (without a group there is nothing to try) are not in it.
  std::vector<CheckSection> sections;
};

// For people, ending with a newline: a verdict, then a line for each check, with its cost and its
// remedy below where there are any. Text from outside can't control the terminal.
[[nodiscard]] std::string doctor_text(const DoctorReport& report, const TextStyle& style);

// The document `plimsoll.doctor/1` of docs/doctor.md. As to_json() of reports.
[[nodiscard]] std::string to_json(const DoctorReport& report, JsonForm form);

}  // namespace plimsoll::report

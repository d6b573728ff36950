#pragma once

#include <string>

#include "report/json_text.h"
#include "report/report.h"

// Reports as JSON: the documents of docs/formats/job-report.md and docs/formats/run-summary.md.
//
// The text is always valid UTF-8 and valid JSON: commands, paths and names may hold any bytes, and
// each byte that is no part of a UTF-8 character becomes U+FFFD. Keys stand in the order of the
// documents; what is absent in the value is absent in the text. Whole numbers stay whole up to 64
// bits. Never fails and never throws, short of memory running out.
namespace plimsoll::report {

// Ends with a newline in either form.
[[nodiscard]] std::string to_json(const JobReport& report, JsonForm form);
[[nodiscard]] std::string to_json(const RunSummary& summary, JsonForm form);

}  // namespace plimsoll::report

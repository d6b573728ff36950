#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "jobfile/records.h"
#include "policy/job/job.h"

namespace plimsoll::jobfile {

// The jobs of a plain text file: one shell command a line (docs/formats/job-files.md). Blank lines
// and lines whose first character other than a blank is `#` are passed over; blanks around a
// command and a carriage return at its end are dropped. A backslash at the end of a line does not
// join it with the next.
//
// With Separator::nul each record that is not empty is a command exactly as it stands, newlines and
// a leading `#` included.
[[nodiscard]] Result<std::vector<policy::JobSpec>> parse_text_jobs(std::string_view text,
                                                                   std::string_view file,
                                                                   Separator separator,
                                                                   const policy::JobSpec& defaults);

// What to warn of in a plain text file of lines; nothing mostly. A command that ends in a backslash
// was meant to go on in the next line (`make -n` writes such), and does not.
[[nodiscard]] std::optional<std::string> warning_of_text(std::string_view text,
                                                         std::string_view file);

// The jobs of a JSON lines file: one object a line (docs/formats/job-files.md). Blank lines are
// passed over. `needs` may name jobs that come later in the file. The first error found is
// returned, with file and line.
[[nodiscard]] Result<std::vector<policy::JobSpec>> parse_jsonl_jobs(
    std::string_view text, std::string_view file, const policy::JobSpec& defaults);

}  // namespace plimsoll::jobfile

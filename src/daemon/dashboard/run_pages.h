#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "base/result.h"
#include "base/units.h"

// What is recorded of runs, for a browser. Reads files: not for the thread of a loop.
namespace plimsoll::dashboard {

// So many are listed, the last first.
inline constexpr std::size_t kRunsListed = 30;
// Events and reports of a run that the daemon makes a page of: 10,000 jobs have less. It takes some
// times as much memory to read them, which the daemon should not have to find.
inline constexpr Bytes kRecordBytesMax{32ULL << 20};

// The document `plimsoll.runs/1`. No runs where there is no directory.
Result<std::string> runs_json(const std::string& runs_dir);

// The page of that run, as `plimsoll report RUN --html` writes it, but without what is reckoned of
// it: what to ask a scheduler for, and other machines. An error that is gone(): there is none.
Result<std::string> run_page(const std::string& runs_dir, std::string_view id);

}  // namespace plimsoll::dashboard

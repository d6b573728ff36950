#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

// MAKEFLAGS, in which a jobserver is handed on: GNU make's manual, "POSIX Jobserver". Pure.
namespace plimsoll::govern {

// What a command's MAKEFLAGS say of how many jobs run at once.
enum class MakeJobs : std::uint8_t {
  nothing,
  number,     // -j of its own
  jobserver,  // of a make above, usable or not
};
[[nodiscard]] MakeJobs jobs_in_makeflags(std::string_view makeflags);

// `makeflags` with a jobserver of `slots` slots. Variables of the command line, which stand last
// there behind `--`, stay last. It holds none yet, as jobs_in_makeflags() says.
[[nodiscard]] std::string with_jobserver(std::string_view makeflags, std::string_view auth,
                                         std::size_t slots);

// Whether the command line names a number of jobs (-j8, -j, --jobs=8, --parallel 8), for the
// program itself or in a text that a shell is given.
[[nodiscard]] bool names_jobs(const std::vector<std::string>& command);

}  // namespace plimsoll::govern

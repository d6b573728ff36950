#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/unique_fd.h"
#include "base/units.h"
#include "policy/job/job.h"

namespace plimsoll::supervisor {

// At most so many files of one command are looked at: its size is told by the first of them, if a
// command names more.
inline constexpr std::size_t kInputsPerJobMax = 32;
// And so many of all jobs together; a look takes 3 us while the kernel remembers the file.
inline constexpr std::size_t kInputsMax = 100'000;
// A cold disk takes milliseconds for each: the run does not wait longer than this for its start.
inline constexpr Duration kInputsTime = std::chrono::seconds(1);
// Sizes are rounded to so many steps for each doubling, 19 % apart: jobs that read nearly the same
// share one estimate, and what those that run have shown of it.
inline constexpr double kSizeSteps = 4;

// What the jobs of a run have to read, as far as that can be told before they start: the sizes of
// the regular files that their commands name, each looked at once.
//
// Looks at nothing that might never answer: below a mount of a network's or a user program's
// filesystem no file is, and where there is such a mount anywhere no symbolic link is followed,
// since it might lead there. Blocks for local disks, kInputsTime in all.
class InputSizes {
 public:
  // Reads /proc/self/mountinfo; without it, nothing is looked at.
  InputSizes();

  // The sum of the sizes, rounded; absent if no file is named, if one of many was passed over for
  // want of time, or if the limits above are reached.
  [[nodiscard]] std::optional<Bytes> of(const policy::JobSpec& job);

 private:
  [[nodiscard]] std::optional<Bytes> size_of(const std::string& path);

  std::optional<std::vector<std::string>> slow_mounts_;
  std::string directory_;  // Plimsoll's own
  std::size_t left_ = kInputsMax;
  std::optional<Instant> end_;  // from the first look on
};

// The words of a command that may name a file to be read, kInputsPerJobMax at most, each once: not
// the program, no options, nothing that the shell would still change, nothing that is written to
// (`> FILE`, `-o FILE`).
[[nodiscard]] std::vector<std::string> words_that_may_be_inputs(const policy::Command& command);

// The mount points, in a text of /proc/PID/mountinfo (proc(5)), of filesystems that are not known
// to answer by themselves. Those in /proc, /sys and /dev don't count: no input is there.
[[nodiscard]] std::vector<std::string> mounts_that_may_block(std::string_view mountinfo);

// A file, by an absolute path without dots, opened with O_PATH, so that neither a device nor a pipe
// notices. Invalid: it can't be, or it is below one of these mount points, or may be by way of a
// symbolic link.
[[nodiscard]] UniqueFd open_quick(const std::string& path, const std::vector<std::string>& mounts);

[[nodiscard]] Bytes rounded_size(Bytes size);

}  // namespace plimsoll::supervisor

#pragma once

#include <sys/types.h>

#include <string>
#include <string_view>

#include "base/result.h"
#include "base/unique_fd.h"

namespace plimsoll {

// The longest text that is read from a kernel file or a small file of ours; longer is an error.
// cgroup.procs of a group with a million processes has 8 MB.
inline constexpr std::size_t kTextBytesMax = 16 << 20;

// openat(2) with O_CLOEXEC; `dir` may be AT_FDCWD. Never creates.
Result<UniqueFd> open_at(int dir, const std::string& name, int flags);

// The whole text of a file, read from its start with pread(2): an open kernel file gives its
// present contents each time. Blocks only as long as the kernel takes to print the file.
Result<std::string> read_text(int fd);
Result<std::string> read_text_at(int dir, const std::string& name);

// Reads as above into `buffer`, which keeps its capacity from call to call; the result points into
// it. For samplers, which read the same files for days.
Result<std::string_view> read_text_into(int fd, std::string& buffer);

// write(2), again where a signal interrupts it. Safe between fork and exec.
ssize_t write_again(int fd, const void* data, std::size_t size);

// Writes `text` with one write(2), as kernel files want it: a short write is an error.
Result<void> write_text(int fd, std::string_view text);
Result<void> write_text_at(int dir, const std::string& name, std::string_view text);

}  // namespace plimsoll

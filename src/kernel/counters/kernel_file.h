#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "base/unique_fd.h"
#include "base/units.h"
#include "kernel/cgroup/directory.h"
#include "kernel/counters/usage.h"

namespace plimsoll::counters {

// One counter file, kept open: pread(2) costs 1-2.5 us, opening it each time 7-10.
//
// Never an error: a file that can't be had is a key of the report with a reason in words, and one
// that is gone (the group was removed) just gives nothing any more.
class KernelFile {
 public:
  // A file that this group has not, and the reporter need not hear of it.
  KernelFile() = default;

  // Opens `name` in a group; `key` is what the report calls it, or what the file feeds.
  KernelFile(const cgroup::Directory& directory, const char* name, const char* key);

  // Opens a file of /proc.
  KernelFile(const char* path, const char* key);

  // The present text, in `buffer` until its next use; nothing if it can't be read.
  std::optional<std::string_view> read(std::string& buffer);

  // Has a peak begin again from what is in use now; of v2 for whoever reads through this object.
  // The arguments are those of the constructor. Whether the kernel does: of v2 since Linux 6.12.
  [[nodiscard]] bool reset(const cgroup::Directory& directory, const char* name);

  [[nodiscard]] bool is_open() const { return static_cast<bool>(fd_); }
  // A read found that the group has been removed.
  [[nodiscard]] bool gone() const { return gone_; }

  // It could not be opened or read for a reason that may pass, such as too few descriptors.
  [[nodiscard]] bool has_failed() const { return has_failed_; }

  // Adds the key and the reason if the file can't be had.
  void note(Unavailable& unavailable) const;

 private:
  void take(Result<UniqueFd> opened, const char* name);

  UniqueFd fd_;
  const char* key_ = "";
  bool is_writable_ = false;
  bool has_failed_ = false;
  std::string why_;  // empty: available
  bool gone_ = false;
};

// The shortest time between two reads of one pressure file. The kernel rounds a group's idle time
// to jiffies at each read: read every 3 ms on a kernel with HZ=250, a file keeps 3-7 % of the
// stall time, and what is lost is lost for every reader. A jiffy is at most 10 ms (HZ=100), and
// twice that is safe on every kernel (measured on Linux 6.1, 6.12 and 6.18).
inline constexpr Duration kPressureIntervalMin = std::chrono::milliseconds(20);

// A pressure file, read no oftener than that. One object for each file of the kernel: whoever wants
// the pressure of a group asks its one reader.
class PressureFile {
 public:
  PressureFile() = default;
  explicit PressureFile(KernelFile file) : file_(std::move(file)) {}

  // The pressure as last read, which was at most kPressureIntervalMin before `now`. When the group
  // is gone, the last that was read.
  const std::optional<Pressure>& read(Instant now, std::string& buffer);

  // Reads whatever the time: for the end of a group, when nobody reads after.
  const std::optional<Pressure>& read_last(Instant now, std::string& buffer);

  [[nodiscard]] const KernelFile& file() const { return file_; }

 private:
  KernelFile file_;
  std::optional<Pressure> last_;
  std::optional<Instant> read_at_;
};

}  // namespace plimsoll::counters

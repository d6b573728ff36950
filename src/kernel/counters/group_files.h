#pragma once

#include <cstdint>
#include <string>

#include "base/units.h"
#include "kernel/cgroup/group.h"
#include "kernel/counters/cpu_files.h"
#include "kernel/counters/io_files.h"
#include "kernel/counters/kernel_file.h"
#include "kernel/counters/memory_files.h"
#include "kernel/counters/usage.h"

namespace plimsoll::counters {

// The process counters of a group; v1 and v2 have the same files. Threads count.
class PidsFiles {
 public:
  explicit PidsFiles(const cgroup::Group& group);

  // Brings the fields that this level reads up to date; what can't be read stays as it is.
  void read(Level level, PidsUsage& pids, std::string& buffer);
  // KernelFile::has_failed() of any.
  [[nodiscard]] bool has_failed() const;
  void note(Unavailable& unavailable) const;

 private:
  KernelFile current_;
  KernelFile peak_;
  KernelFile events_;
  std::string missing_;
};

// By so much may memory.stat be behind: the kernel adds up small changes every two seconds.
inline constexpr Duration kStatLag = std::chrono::seconds(2);
// How long a group at rest is not read whole.
inline constexpr Duration kRestMax = std::chrono::seconds(30);

// So much may be charged to a group that begins again: what the kernel counts in batches for each
// processor (256 KiB), and what a program of a moment leaves in its caches.
inline constexpr Bytes kLeftInGroupMax{1 << 20};

// All counter files of one group, open for as long as this lives: up to 18 descriptors. What is
// read from where on v2, hybrid and v1 hosts: docs/cgroups.md.
//
// A group is at rest when neither its CPU time nor its memory nor its pressure has changed since
// the look before: nothing in it has run, or waited to. A full look then reads the first two and
// one of the pressure files in turn, once memory.stat has been read so late that it does not lag;
// what changes without the group, as when its dirty pages are written back, is seen kRestMax later
// at most.
//
// Nothing here fails: what can't be had is noted with its reason, and of a group that was removed
// the last reading stands.
class GroupFiles {
 public:
  // Costs about 5 us a file.
  explicit GroupFiles(const cgroup::Group& group);

  // Reads the files of the level, fewer of a group at rest. Pressure is read again only
  // kPressureIntervalMin after the last time.
  void read(Level level, Instant now);

  // Whether the group has been at rest since the last look, and all else is known of it.
  [[nodiscard]] bool is_at_rest(Instant now) const;

  // Reads memory.stat too, after a cheap read that makes it matter.
  void read_stat();

  // Reads everything, pressure too, whenever it was read last: the end of an attempt, its
  // processes gone and its directories still there.
  void read_last(Instant now);

  // After read_last(): has all be counted for another attempt in the same group, from now on, if
  // that finds the group as one that was just made. It does where one process was in it at a time,
  // no limit of memory was set and none was hit, nothing is to be written and no sub-group is left,
  // nor more memory than kLeftInGroupMax; and where the kernel has a peak begin again. Of a group
  // that it does not, these are of no further use.
  [[nodiscard]] bool begin_again(const cgroup::Group& group, Instant now);

  // What was read last of each file; `t`, `wall`, `state` and `network` are the caller's to fill.
  // At Level::cheap without the fields that such a read leaves as they are, unless the group is
  // gone and they are the last that will be known.
  [[nodiscard]] Sample latest(Level level) const;

  // A read found that the group has been removed.
  [[nodiscard]] bool gone() const { return cpu_.gone() || memory_.gone(); }

  // The keys of the report that this group can't have. Complete after the last read.
  void note(Unavailable& unavailable) const;

 private:
  // Where a descriptor was lacking, nothing is known of the group.
  [[nodiscard]] bool has_failed() const;
  void read_leading(Instant now);
  void read_rest(Level level);
  void read_a_pressure(Instant now);
  void take(PressureFile& file, std::optional<Pressure>& pressure, Instant now);

  CpuFiles cpu_;
  MemoryFiles memory_;
  IoFiles io_;
  PidsFiles pids_;
  KernelFile frozen_;
  PressureFile cpu_pressure_;
  PressureFile memory_pressure_;
  PressureFile io_pressure_;
  unsigned turns_ = 0;  // of pressure files at rest
  bool has_v2_;
  Sample raw_;                    // as the kernel tells it
  std::optional<Sample> start_;   // of a group that has begun again, what it was then
  Instant changed_{};             // the last look that found the group not at rest
  std::optional<Instant> whole_;  // the last full look
  std::string buffer_;
};

}  // namespace plimsoll::counters

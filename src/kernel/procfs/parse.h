#pragma once

#include <sys/stat.h>

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/units.h"

namespace plimsoll::procfs {

// The files of /proc/PID as values (proc(5)). Text in, values out: what is not there, or is no
// number, is absent; keys that are not known are passed over.

// A process as long as it lives: a number is used again, but not with the same start.
struct Id {
  int pid = 0;
  std::uint64_t start = 0;  // in ticks since the machine's boot
  auto operator<=>(const Id&) const = default;
};

// Of /proc/PID/stat. CPU times of the whole process, in the kernel's ticks: 10 ms as a rule.
struct Stat {
  Id id;
  std::string comm;  // any bytes
  char state = '?';
  int parent = 0;
  int group = 0;
  int session = 0;
  std::uint64_t user_ticks = 0;
  std::uint64_t system_ticks = 0;
  // Of its children that have ended and that it has waited for, and of theirs.
  std::uint64_t waited_user_ticks = 0;
  std::uint64_t waited_system_ticks = 0;
  std::uint64_t threads = 0;
  // It executes what its parent did, of which all of its memory is a copy, or is the parent's own
  // (vfork); as the kernel has it (PF_FORKNOEXEC).
  bool is_copy = false;
  // Where its stack begins: another place after each exec, but for chance where the kernel does not
  // choose the places of memory at random. 0 of a process that the reader may not trace.
  std::uint64_t stack = 0;
  std::uint64_t code_end = 0;  // where the code of its program ends; likewise

  // Nothing of it runs any more. A leader that has ended while other threads go on is no such.
  [[nodiscard]] bool is_dead() const { return (state == 'Z' || state == 'X') && threads <= 1; }
  [[nodiscard]] bool is_stopped() const { return state == 'T' || state == 't'; }
  bool operator==(const Stat&) const = default;
};
std::optional<Stat> parse_stat(std::string_view text);

// Of /proc/PID/stat of a process that has ended and that nobody has waited for: its status as of
// wait(2). The kernel gives 0 to whoever may not trace the process. Nothing of one that lives.
std::optional<int> parse_end_status(std::string_view stat);

// The process of a pidfd, in a text of /proc/PID/fdinfo/FD; nothing if it has been waited for.
std::optional<int> parse_fdinfo_pid(std::string_view text);

// Of /proc/PID/status: whose process it is.
struct Uids {
  std::uint32_t real = 0, effective = 0, saved = 0;
  bool operator==(const Uids&) const = default;
};
std::optional<Uids> parse_uids(std::string_view status);

// Whether a process of this user may signal it, as kill(2) says it. Root may; so may, with SIGCONT,
// whoever is of its session, which is left out here.
[[nodiscard]] bool may_signal(std::uint32_t user, const Uids& target);

// Of /proc/PID/status: the memory that is resident, by kind. Absent of a process that has none any
// more.
struct Resident {
  std::optional<Bytes> anon{};
  std::optional<Bytes> file{};
  std::optional<Bytes> shmem{};
  std::optional<Bytes> swap{};
  bool operator==(const Resident&) const = default;
};
Resident parse_resident(std::string_view status);

// Pss_Anon and Pss_Shmem of /proc/PID/smaps_rollup: pages that several processes share are counted
// as a share in each. Nothing where the kernel does not tell both apart (before Linux 5.4).
std::optional<Bytes> parse_proportional(std::string_view smaps_rollup);

// Of /proc/PID/io: what came from and went to devices, children that were waited for included.
struct Traffic {
  Bytes read;
  Bytes written;
  bool operator==(const Traffic&) const = default;
};
std::optional<Traffic> parse_io(std::string_view text);

// The value of a variable in a text of /proc/PID/environ, whose entries end with a NUL; the first
// of that name.
std::optional<std::string_view> find_variable(std::string_view environ, std::string_view name);

// A mount, as a line of /proc/PID/mountinfo tells it (proc(5)). The views point into the line.
struct Mount {
  std::string root;  // the directory of the filesystem that appears at the mount point
  std::string mount_point;
  std::string_view options;  // of this mount, with commas between
  std::string_view type;     // of the filesystem
  std::string_view super_options;
};

// Octal escapes (\040 for a space) of the two paths are undone. Nothing of a line of another form.
[[nodiscard]] std::optional<Mount> parse_mount(std::string_view line);

// The process that took a flock(2) on a file, in a text of /proc/locks (proc_locks(5)). Whoever
// inherits its descriptor holds the lock as well, and is not named. Nothing: the file is not
// locked, or its locker can't be told: it is of another pid namespace, or died in this one if that
// is not the machine's own.
[[nodiscard]] std::optional<int> flock_owner(std::string_view locks, const struct stat& file);

}  // namespace plimsoll::procfs

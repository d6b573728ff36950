#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/unique_fd.h"
#include "kernel/procfs/parse.h"

namespace plimsoll::procfs {

// The processes of one look at /proc, by their numbers; dead ones are left out.
using Table = std::map<int, Stat>;

// A process as it is now, a zombie too; nothing if it is gone.
[[nodiscard]] std::optional<Stat> stat_of(int pid);

// Whether a process of this user could signal the process, as may_signal(). One that is gone, it
// could not; root may all.
[[nodiscard]] bool user_may_signal(std::uint32_t user, int pid);

// The process and all that live below it now, without those that are `apart` and whoever lives
// below them; parents before their children.
[[nodiscard]] std::vector<int> family_of(int pid, const std::set<Id>& apart = {});

// Whether the process of a pidfd has ended.
[[nodiscard]] bool has_ended(int pidfd);

// The number of the process of a pidfd; nothing once somebody has waited for it.
[[nodiscard]] std::optional<int> pid_of(int pidfd);

// How the process of a pidfd has ended, for whoever is not its parent: a status as of wait(2).
// Until its parent has waited for it /proc tells (proc(5)), and from Linux 6.15 on the pidfd does
// after that. Nothing: it lives, or nobody can tell any more. Does not wait.
[[nodiscard]] std::optional<int> end_status(int pidfd);

// /proc, held open. A look costs about 10 us for each process of the machine: whoever looks often
// bounds that itself.
class ProcDir {
 public:
  static Result<ProcDir> open();

  // Who lives now. One that is born while the list is read may be missing; its parent is not,
  // unless that has ended meanwhile.
  [[nodiscard]] Result<Table> read_table() const;

  // The numbers alone: dead ones too.
  [[nodiscard]] Result<std::vector<int>> pids() const;

  // A process as it is now; gone() if it is no more.
  [[nodiscard]] Result<Stat> read_stat(int pid) const;

  // The pid namespace of a process, by its inode.
  [[nodiscard]] Result<std::uint64_t> pid_space(int pid) const;

  // The text of /proc/PID/NAME.
  [[nodiscard]] Result<std::string> read(int pid, const char* name) const;

 private:
  explicit ProcDir(UniqueFd directory) : directory_(std::move(directory)) {}
  UniqueFd directory_;
};

}  // namespace plimsoll::procfs

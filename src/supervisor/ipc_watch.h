#pragma once

#include <sys/types.h>

#include <optional>
#include <vector>

#include "kernel/procfs/ipc.h"
#include "report/report.h"

namespace plimsoll::supervisor {

// What an attempt leaves of System V IPC and of POSIX message queues: what its user has made since
// it began. Of another user's job it is removed, if no process of that user lives any more, as
// systemd does after a user's last session (RemoveIPC): nobody is there who could want it, and the
// memory would be held for ever. Otherwise it is told alone, and of that only shared memory which
// nobody has attached and whose maker is dead: more can't be laid at the attempt's door.
class IpcWatch {
 public:
  // Before the attempt's first process runs. Takes some 50 us, as does settle().
  explicit IpcWatch(uid_t user);

  // When its last process has ended. Nothing: it depends on whether a process of the user lives,
  // which is to be asked now (UserLook) and given to settle().
  [[nodiscard]] std::optional<std::vector<report::IpcLeft>> look();
  // Of what look() found.
  [[nodiscard]] std::vector<report::IpcLeft> settle(bool user_lives) const;

  [[nodiscard]] uid_t user() const { return user_; }

 private:
  uid_t user_;
  std::optional<std::vector<procfs::IpcObject>> before_;  // nothing: too many to tell
  std::vector<procfs::IpcObject> made_;
};

}  // namespace plimsoll::supervisor

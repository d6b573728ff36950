#pragma once

#include <sys/types.h>

#include <memory>
#include <optional>
#include <vector>

#include "kernel/procfs/ipc.h"
#include "report/report.h"

namespace plimsoll::supervisor {

class UserLook;

// Who wants to know what an attempt has left of IPC.
class IpcObserver {
 public:
  IpcObserver() = default;
  IpcObserver(const IpcObserver&) = delete;
  IpcObserver& operator=(const IpcObserver&) = delete;
  virtual ~IpcObserver() = default;
  virtual void on_ipc_settled(std::vector<report::IpcLeft> left) = 0;
};

// What an attempt leaves of IPC; made before its first process runs.
class IpcWatch {
 public:
  IpcWatch() = default;
  IpcWatch(const IpcWatch&) = delete;
  IpcWatch& operator=(const IpcWatch&) = delete;
  virtual ~IpcWatch() = default;

  // When its last process has ended. Once. Nothing: it depends on a look at all processes, after
  // which the observer is told, from the loop; not if this is destroyed before.
  [[nodiscard]] virtual std::optional<std::vector<report::IpcLeft>> look(IpcObserver& observer) = 0;
};

// What there is of System V IPC and of POSIX message queues that its user has made since it began.
// Of another user's job it is removed, if no process of that user lives any more, as systemd does
// after a user's last session (RemoveIPC): nobody is there who could want it, and the memory would
// be held for ever. Otherwise it is told alone, and of that only shared memory which nobody has
// attached and whose maker is dead: more can't be laid at the attempt's door.
class UserIpcWatch : public IpcWatch {
 public:
  // Takes some 10 us, as does a look; of our own user, of whom nothing is removed, less where one
  // job has just ended. `tables` and `user_look` must outlive this.
  UserIpcWatch(uid_t user, procfs::IpcTables& tables, UserLook& user_look);

  [[nodiscard]] std::optional<std::vector<report::IpcLeft>> look(IpcObserver& observer) override;

 private:
  [[nodiscard]] std::vector<report::IpcLeft> settle(bool user_lives) const;

  uid_t user_;
  procfs::IpcTables& tables_;
  UserLook& user_look_;
  std::optional<std::vector<procfs::IpcObject>> before_;  // nothing: too many to tell
  std::vector<procfs::IpcObject> made_;
  std::shared_ptr<UserIpcWatch*> self_;  // while a question is under way, which may outlive this
};

}  // namespace plimsoll::supervisor

#pragma once

#include <memory>
#include <vector>

#include "base/loop/loop.h"
#include "base/result.h"
#include "govern/exec_observer.h"
#include "govern/exec_readers.h"
#include "govern/exec_sightings.h"
#include "kernel/procfs/table.h"
#include "supervisor/processes/families.h"

namespace plimsoll::govern {

// Finds the execs below a command where nobody tells of them (ExecListener), by looks at /proc:
// after they are done, and not those of processes that have ended between two looks.
//
// Looks are as far apart as those of process mode, and are the same ones there: Families::kGapMin,
// or more to stay below the share of a CPU that they may take. From the loop's thread.
class ExecWatcher : private ExecReadersObserver {
 public:
  struct Scene {
    loop::Loop& loop;
    int guardian = 0;                // the command and its orphans are children of this process
    supervisor::Families* families;  // of process mode; null: this looks by itself
  };
  // Before the command is started: whoever lives below the guardian now is not of it. All must
  // outlive this.
  static Result<std::unique_ptr<ExecWatcher>> create(const Scene& scene, ExecObserver& observer);
  ExecWatcher(const ExecWatcher&) = delete;
  ExecWatcher& operator=(const ExecWatcher&) = delete;
  ~ExecWatcher() override;

  // Looks from now on, until end(); then nothing more is told. What has been told is not told anew
  // by a later begin().
  void begin();
  void end();

  // What these execute is told once more, as far as they live.
  void tell_again(const std::vector<procfs::Id>& processes);

 private:
  ExecWatcher(const Scene& scene, ExecObserver& observer, procfs::ProcDir proc);
  void look();
  [[nodiscard]] Instant look_here(Instant now);
  void take(const procfs::Table& table);
  void on_read(const seccomp_notif& call, Result<std::optional<Exec>> exec) override;

  supervisor::Families* families_;
  ExecObserver& observer_;
  procfs::ProcDir proc_;
  ExecSightings sightings_;
  ExecReaders readers_;
  loop::Timer timer_;
  bool looks_ = false;
};

}  // namespace plimsoll::govern

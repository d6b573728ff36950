#pragma once

#include "base/loop/loop.h"
#include "base/loop/worker.h"
#include "guardian/heartbeat.h"
#include "kernel/cgroup/group.h"
#include "report/report.h"
#include "supervisor/attempt_host.h"

namespace plimsoll::supervisor {

class Families;

// Who is told what reaches Plimsoll as a whole, from the loop.
class SignalObserver {
 public:
  SignalObserver() = default;
  SignalObserver(const SignalObserver&) = delete;
  SignalObserver& operator=(const SignalObserver&) = delete;
  virtual ~SignalObserver() = default;
  virtual void on_signal(const guardian::Signalled& signal) = 0;
  // The guardian had stopped itself (RunHost::stop_guardian()) and was continued.
  virtual void on_resumed() {}
};

// What a run of jobs needs of the machine: what each attempt needs, the loop that turns it all, and
// the pool. The Supervisor is one; a test has a model of one.
class RunHost : public AttemptHost {
 public:
  // Waits for the next event and handles it; at most `timeout`, negative for ever. If the guardian
  // is gone, everything is reaped and an error returned, after which nothing runs any more.
  [[nodiscard]] virtual Result<void> run_once(Duration timeout) = 0;
  [[nodiscard]] virtual loop::Loop& loop() = 0;
  [[nodiscard]] virtual loop::Worker& worker() = 0;
  // For writes that may last seconds (reclaim): they must not hold up the removal of groups.
  [[nodiscard]] virtual loop::Worker& slow_worker() = 0;

  // The host as reports name it.
  [[nodiscard]] virtual report::HostInfo describe() const = 0;
  // The parent of all groups; without any part in process mode.
  [[nodiscard]] virtual const cgroup::Group& pool() const = 0;
  // In process mode, else null.
  [[nodiscard]] virtual Families* families() = 0;
  // Stops every job where it stands, as far as the host can, and undoes it.
  virtual void freeze_all() = 0;
  virtual void thaw_all() = 0;

  // Null: nobody. Must outlive its place here.
  virtual void tell_signals(SignalObserver* observer) = 0;
  // The guardian stops itself, as the shell expects after Ctrl-Z.
  virtual void stop_guardian() = 0;
  // From now on this process's silence, should it be stopped or spin, is the guardian's business:
  // it then freezes the pool and takes its throttle away. Before the first job starts. Both
  // processes are protected from the kernel's OOM killer and from being swapped or throttled, as
  // far as allowed.
  virtual void be_watched() = 0;
  // How guardian and supervisor stand to each other; each turn of the loop beats.
  [[nodiscard]] virtual guardian::Heartbeat& heartbeat() = 0;
};

}  // namespace plimsoll::supervisor

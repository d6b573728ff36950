#pragma once

#include <memory>
#include <string>

#include "base/loop/loop.h"
#include "base/result.h"
#include "base/unique_fd.h"
#include "govern/exec_observer.h"
#include "govern/exec_readers.h"

namespace plimsoll::govern {

// Hears of every exec below a child that has the exec filter (guardian/exec_filter.h). Those that
// will fail, as far as can be seen, are answered here and not told.
//
// From the loop's thread, which never waits for what a process has made of its files and memory
// (ExecReaders). When this is destroyed, further execs of whoever lives below the child
// fail with ENOSYS.
class ExecListener : private ExecReadersObserver {
 public:
  // `loop` and `observer` must outlive this.
  static Result<std::unique_ptr<ExecListener>> create(loop::Loop& loop, ExecObserver& observer);
  ExecListener(const ExecListener&) = delete;
  ExecListener& operator=(const ExecListener&) = delete;
  ~ExecListener() override;

  // For SpawnRequest::exec_listener; to be closed when the request is on its way.
  [[nodiscard]] UniqueFd take_child_end() { return std::move(child_end_); }

  // The exec goes on. Of one whose caller is gone, nothing happens.
  void answer(PendingExec pending);

  // Whether a signal to one that stands in an exec has it begin that anew.
  [[nodiscard]] bool signals_interrupt() const { return signals_interrupt_; }

  // So many are taken in one turn of the loop: others wait meanwhile.
  static constexpr int kTurnMax = 16;

 private:
  ExecListener(loop::Loop& loop, ExecObserver& observer);
  void receive_listener();
  void take_notifications();
  bool take_notification();
  void on_read(const seccomp_notif& call, Result<std::optional<Exec>> exec) override;

  loop::Loop& loop_;
  ExecObserver& observer_;
  UniqueFd own_end_, child_end_;
  UniqueFd listener_;
  loop::Watch watch_;  // of own_end_ until the listener has come, then of that
  ExecReaders readers_;
  bool has_heard_ = false;
  bool signals_interrupt_;
};

}  // namespace plimsoll::govern

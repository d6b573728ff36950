#pragma once

#include "supervisor/attempt.h"
#include "supervisor/run_host.h"

namespace plimsoll::supervisor {

// Hands on to the command what is sent to Plimsoll alone. The terminal and a shell's `fg` signal
// the whole process group, so the command has had those already: handed on late, the SIGCONT of a
// `fg` would undo the next Ctrl-Z. Ctrl-Z stops the guardian as well.
class SignalRelay : public SignalObserver {
 public:
  // Both must outlive this. `session` is that of the command.
  SignalRelay(RunHost& host, Attempt& attempt, guardian::Session session)
      : host_(host), attempt_(attempt), session_(session) {}

  void on_signal(const guardian::Signalled& signal) override;
  void on_resumed() override { attempt_.thaw(); }

 private:
  void pass_on_to_session(const guardian::Signalled& signal);

  RunHost& host_;
  Attempt& attempt_;
  guardian::Session session_;
  bool stopped_by_terminal_ = false;
};

}  // namespace plimsoll::supervisor

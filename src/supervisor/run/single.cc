#include "supervisor/run/single.h"

#include <signal.h>

#include <utility>

namespace plimsoll::supervisor {
namespace {

// Hands on to the command what is sent to Plimsoll alone. The terminal and a shell's `fg` signal
// the whole process group, so the command has had those already: handed on late, the SIGCONT of a
// `fg` would undo the next Ctrl-Z.
class SignalRelay : public SignalObserver {
 public:
  SignalRelay(RunHost& host, Attempt& attempt, guardian::Session session)
      : host_(host), attempt_(attempt), session_(session) {
    host_.tell_signals(this);
  }
  ~SignalRelay() override { host_.tell_signals(nullptr); }

  void on_signal(const guardian::Signalled& signal) override {
    if (guardian::asks_to_end(signal.number)) attempt_.give_up_removal();
    if (session_ == guardian::Session::own) return pass_on_to_session(signal);
    const bool from_process = signal.origin == guardian::SignalOrigin::process;
    const bool of_shell = signal.number == SIGCONT && std::exchange(stopped_by_terminal_, false);
    if (from_process && !of_shell && signal.number != SIGWINCH) attempt_.signal_main(signal.number);
    if (signal.number != SIGTSTP) return;
    stopped_by_terminal_ = signal.origin == guardian::SignalOrigin::terminal;
    host_.stop_guardian();
  }

  void on_resumed() override { attempt_.thaw(); }

 private:
  // Which no terminal signals, and which can't be stopped by SIGTSTP: nobody in its session could
  // continue it (setpgid(2), orphaned process groups).
  void pass_on_to_session(const guardian::Signalled& signal) {
    if (signal.number == SIGTSTP) {
      attempt_.freeze();
      host_.stop_guardian();
    } else if (signal.origin == guardian::SignalOrigin::terminal) {
      attempt_.signal_all(signal.number);
    } else if (signal.origin == guardian::SignalOrigin::process) {
      attempt_.signal_main(signal.number);
    }
  }

  RunHost& host_;
  Attempt& attempt_;
  guardian::Session session_;
  bool stopped_by_terminal_ = false;
};

// Hands on what is told while it runs, and keeps its end.
class Relayed : public AttemptObserver {
 public:
  explicit Relayed(SingleObserver& observer) : observer_(observer) {}
  void on_sampled(const counters::Sample& sample) override { observer_.on_sampled(sample); }
  void on_stuck(const reap::Stuck& stuck) override { observer_.on_stuck(stuck); }
  void on_gone(const AttemptResult& result) override { ended_ = result; }

  [[nodiscard]] const std::optional<AttemptResult>& ended() const { return ended_; }

 private:
  SingleObserver& observer_;
  std::optional<AttemptResult> ended_;
};

}  // namespace

Result<AttemptResult> run_single(RunHost& host, AttemptRequest request, SingleObserver& observer) {
  const guardian::Session session = request.spawn.session;
  Relayed relayed(observer);
  Attempt attempt(host, std::move(request), relayed);
  const SignalRelay relay(host, attempt, session);
  attempt.start();
  while (!relayed.ended()) {
    if (auto ran = host.run_once(Duration(-1)); !ran) return pass(std::move(ran));
  }
  return *relayed.ended();
}

}  // namespace plimsoll::supervisor

#include "supervisor/run/single.h"

#include <fcntl.h>
#include <unistd.h>

#include <string>
#include <utility>

#include "base/file.h"
#include "supervisor/run/signal_relay.h"

namespace plimsoll::supervisor {
namespace {

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

Result<TerminalGuard> TerminalGuard::over(guardian::SpawnRequest& request,
                                          guardian::Session session) {
  TerminalGuard guard;
  if (session == guardian::Session::shared) return guard;
  request.session = session;
  request.descriptors = guardian::Descriptors::close;
  for (std::size_t target = 0; target < request.stdio.size(); ++target) {
    const int source = request.stdio[target].value_or(static_cast<int>(target));
    if (::isatty(source) == 0) continue;
    const std::string same = "/proc/self/fd/" + std::to_string(source);
    auto opened = target == STDIN_FILENO ? open_at(AT_FDCWD, "/dev/null", O_RDONLY)
                                         : open_at(AT_FDCWD, same, O_WRONLY | O_NOCTTY);
    if (!opened) return pass(std::move(opened), "protect the terminal from the job's user");
    request.stdio[target] = opened->get();
    guard.opened_.push_back(std::move(*opened));
  }
  return guard;
}

Result<AttemptResult> run_single(RunHost& host, AttemptRequest request, SingleObserver& observer) {
  const guardian::Session session = request.spawn.session;
  Relayed relayed(observer);
  Attempt attempt(host, std::move(request), relayed);
  SignalRelay relay(host, attempt, session);
  host.tell_signals(&relay);
  attempt.start();
  Result<void> ran{};
  while (ran && !relayed.ended()) ran = host.run_once(Duration(-1));
  host.tell_signals(nullptr);
  if (!ran) return pass(std::move(ran));
  return *relayed.ended();
}

}  // namespace plimsoll::supervisor

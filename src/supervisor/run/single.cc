#include "supervisor/run/single.h"

#include <utility>

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

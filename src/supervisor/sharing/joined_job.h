#pragma once

#include <optional>

#include "base/result.h"
#include "guardian/protocol.h"
#include "kernel/counters/usage.h"
#include "supervisor/sharing/lease.h"
#include "supervisor/supervisor.h"

namespace plimsoll::supervisor {

// What a job is said to need; nothing is known without.
struct JobNeed {
  Bytes memory{};
  double cores = 1;
};

// One job that is nobody's but takes its place beside the other runs of the machine, as `plimsoll
// run --join`: they leave it what it is said to need, later what it uses if that is more.
class JoinedJob : private SignalObserver, private LeaseHolder {
 public:
  // `machine` must outlive this. The others know of it from here on.
  JoinedJob(Supervisor& supervisor, Ledger ledger, const policy::Share& whole, const JobNeed& need);

  // Runs the loop until the others leave it what it needs, or its fair share if that is less: with
  // that, they will give way as it grows. Where there are others it looks twice, as what they tell
  // may be older than a job of theirs; if it waits then, `waits` is called. A value: a signal that
  // ended the waiting.
  Result<std::optional<int>> await_room(const std::function<void()>& waits);
  // It runs, and was looked at.
  void look(const counters::Sample& sample);

 private:
  void on_signal(const guardian::Signalled& signal) override;
  [[nodiscard]] policy::RunClaim claim() const override;
  void on_share(const policy::Share& /*share*/, std::string /*reason*/) override {}
  [[nodiscard]] bool has_room() const;

  Supervisor& supervisor_;
  JobNeed need_;
  bool started_ = false;
  std::optional<int> ended_;  // by this signal, while it waited
  Instant started_at_{};
  Bytes used_{};
  Lease lease_;
};

}  // namespace plimsoll::supervisor

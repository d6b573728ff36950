#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "base/loop/loop.h"
#include "base/loop/worker.h"
#include "kernel/procfs/table.h"

namespace plimsoll::supervisor {

// Signals to the processes of external jobs, sent on a thread of their own: each takes some ten
// microseconds, and a job may have thousands of processes. Users take turns, some processes of one
// job of each.
//
// Of the loop's thread. What was asked for is done before this is destroyed.
class ProcessSignals {
 public:
  // Those of one job. Its processes get one signal at a time: the one that was asked for last.
  class Round;

  // So many of one job are signalled, and then some of another user's.
  static constexpr std::size_t kAtOnce = 64;

  // `proc` must outlive this.
  ProcessSignals(const loop::Loop& loop, const procfs::ProcDir& proc);
  ProcessSignals(const ProcessSignals&) = delete;
  ProcessSignals& operator=(const ProcessSignals&) = delete;
  ~ProcessSignals();

  // Of processes that this user may signal; others are left out, as in procfs::send_to().
  [[nodiscard]] std::shared_ptr<Round> round(std::uint32_t user);
  // Those that have not had an earlier signal of this round do not get it any more. If the same
  // signal is still on its way, it goes on to those that it was meant for.
  void send(const std::shared_ptr<Round>& round, int signal,
            const std::map<int, procfs::Stat>& members);
  // All had what was sent last.
  [[nodiscard]] bool is_done(const Round& round) const;

 private:
  struct Some {  // of a round, its turn
    std::vector<procfs::Stat> targets;
    int signal = 0;
    std::uint32_t user = 0;
    std::shared_ptr<Round> round;
  };

  void serve();
  [[nodiscard]] std::optional<Some> next();

  const procfs::ProcDir& proc_;
  mutable std::mutex mutex_;  // of all below, and of rounds
  std::map<std::uint32_t, std::deque<std::shared_ptr<Round>>> waiting_;  // by user; none is empty
  std::uint32_t last_ = 0;                                               // whose turn was the last
  bool is_serving_ = false;
  loop::Worker worker_;
};

}  // namespace plimsoll::supervisor

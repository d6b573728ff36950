#pragma once

#include <memory>
#include <mutex>
#include <optional>

#include "base/units.h"
#include "kernel/cgroup/group.h"
#include "kernel/cgroup/kill.h"
#include "kernel/cgroup/signals.h"
#include "supervisor/external/peer_rights.h"
#include "supervisor/external/process_signals.h"

namespace plimsoll::supervisor {

// Signals to all in a group of somebody else's and below it, and its end by signals, with the
// rights of the peer.
class GroupSignals final : public ProcessSignals::Task {
 public:
  GroupSignals(std::shared_ptr<const cgroup::Group> group, const Peer& peer);

  // To all; who has not had an earlier signal does not get it any more. One that is still on its
  // way goes on, and one that all have had is sent again, to who was born since, once it costs no
  // more than 1 / kCostShare of a CPU or after kRepeatMax.
  void set(int signal);
  // Another step of its end, which goes before signals that were set.
  void set_kill(Instant now);

  static constexpr int kCostShare = 20;
  static constexpr Duration kRepeatMax = std::chrono::seconds(1);

 private:
  bool step() override;
  bool kill(Instant when);
  bool signal(int number);

  std::shared_ptr<const cgroup::Group> group_;
  PeerRights rights_;
  // Of the thread of signals.
  cgroup::Kill kill_;
  std::optional<cgroup::SignalWalk> walk_;
  int walks_with_ = 0;
  Duration cost_{};

  std::mutex mutex_;  // of all below
  std::optional<Instant> kill_at_;
  std::optional<int> signal_;
  int last_signal_ = 0;
  Instant repeat_at_{};
};

}  // namespace plimsoll::supervisor

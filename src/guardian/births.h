#pragma once

#include <poll.h>
#include <signal.h>
#include <sys/types.h>

#include <cstddef>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <unordered_set>
#include <vector>

#include "guardian/channel.h"
#include "guardian/protocol.h"
#include "guardian/spawner.h"
#include "guardian/vfork_spawner.h"

namespace plimsoll::guardian {

// Whoever has children made is told what becomes of each: begun, and then born or failed. One that
// is withdrawn is begun again.
class BirthObserver {
 public:
  BirthObserver() = default;
  BirthObserver(const BirthObserver&) = delete;
  BirthObserver& operator=(const BirthObserver&) = delete;
  virtual ~BirthObserver() = default;
  // There is a process.
  virtual void on_begun(const ReceivedSpawn& request, pid_t pid) = 0;
  // It has come to nothing, was waited for, and is tried once more.
  virtual void on_withdrawn(pid_t pid) = 0;
  virtual void on_born(Started started) = 0;
  // `pid` is 0 if no process could be made.
  virtual void on_failed(const StartFailed& failure, pid_t pid) = 0;
};

// The children whose exec has not been seen. Most are made by a VforkSpawner, as soon as there have
// been some; the first ones, those that it does not take, and those that are asked for while one
// hangs, by a Spawner.
class Births {
 public:
  // `mask` is the signal mask that children start with. `observer` must outlive this.
  // `go_on` is what a thread that takes the lead does, and `patience` when it does (Standby).
  Births(const sigset_t& mask, BirthObserver& observer, std::function<void()> go_on,
         Duration patience = Standby::kPatience)
      : spawner_(mask), observer_(observer), go_on_(std::move(go_on)), patience_(patience) {}

  // As of Spawner.
  void children_have_oom_score(std::optional<std::string> score) {
    spawner_.children_have_oom_score(std::move(score));
  }
  void children_are_as_nice_as_this() { spawner_.children_are_as_nice_as_this(); }

  // The packet is what the request points into. May not return where the child hangs: then another
  // thread has the lead, and all that the caller was about to do is left to it.
  void begin(Packet packet, ReceivedSpawn request);

  // Tells of the child of a birth that has cost the lead, once there is one. Whether all children
  // that there are have been told of: only then can others be told from them.
  [[nodiscard]] bool tell_begun();

  // What is to be watched, put behind the others that are; and what came of it, in the same order.
  void watch(std::vector<pollfd>& fds) const;
  void take(std::span<const pollfd> fds);

  // This child has ended, and is waited for: what is to be told before its end is told now. Returns
  // what memory it had before its exec.
  [[nodiscard]] Memory settle(pid_t pid);

  // Before a stop of this process, which no thread may sleep through: a birth that hangs, as its
  // group is frozen, is withdrawn, and the child made by fork. False: there is one that can't be
  // killed, as some file systems let nobody be killed who waits for them.
  [[nodiscard]] bool before_stop();

  // The thread of a VforkSpawner, and its memory, are worth their price from so many children on.
  static constexpr std::size_t kForkedFirst = 8;

 private:
  struct Pending {
    Packet packet;
    ReceivedSpawn request;
    SpawnedChild child;
  };

  [[nodiscard]] bool is_for_vfork(const ReceivedSpawn& request);
  void fork(Pending pending);
  void read_report(std::size_t index);
  void tell_failed(const Pending& pending, const SpawnFailure& failure);
  void take_vforked();
  void withdraw(const Pending& pending);

  Spawner spawner_;
  BirthObserver& observer_;
  std::size_t forked_ = 0;
  std::deque<Pending> pending_;
  std::function<void()> go_on_;
  Duration patience_;
  std::optional<Pending> vforked_;  // the birth that is under way
  ChildSettings vforked_settings_;
  std::unordered_set<pid_t> shared_;  // children that live, and had our memory
  bool is_withdrawn_ = false;         // and killed
  std::unique_ptr<VforkSpawner> vfork_spawner_;
};

}  // namespace plimsoll::guardian

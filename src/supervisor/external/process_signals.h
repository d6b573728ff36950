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
#include "base/units.h"
#include "kernel/cgroup/freeze.h"
#include "kernel/cgroup/group.h"
#include "kernel/cgroup/kill.h"
#include "kernel/cgroup/signals.h"
#include "kernel/procfs/table.h"
#include "supervisor/external/peer_rights.h"

namespace plimsoll::supervisor {

// Signals to the processes of external jobs, sent on a thread of their own: each takes some ten
// microseconds, and a job may have thousands of processes. Users take turns, some processes of one
// job of each.
//
// Of the loop's thread. What was asked for is done before this is destroyed.
class ProcessSignals {
 public:
  // What is done to the processes of one job. One at a time is asked for.
  class Task {
   public:
    explicit Task(std::uint32_t user) : user_(user) {}
    Task(const Task&) = delete;
    Task& operator=(const Task&) = delete;
    virtual ~Task() = default;

   protected:
    // Whose processes it may signal; others are left out.
    [[nodiscard]] std::uint32_t user() const { return user_; }

   private:
    friend class ProcessSignals;
    // Some of what was asked for, which takes some milliseconds at most. Returns whether anything
    // is left. On the thread of signals.
    virtual bool step() = 0;

    std::uint32_t user_;
    bool is_waiting_ = false;    // for its turn
    bool is_under_way_ = false;  // a step of it
    bool is_asked_ = false;      // once more, since that step began
  };

  explicit ProcessSignals(const loop::Loop& loop) : worker_(loop) {}
  ProcessSignals(const ProcessSignals&) = delete;
  ProcessSignals& operator=(const ProcessSignals&) = delete;
  ~ProcessSignals() { worker_.drain(); }

  // Steps of it are taken until one says that nothing is left; again if it was asked for meanwhile.
  void ask(const std::shared_ptr<Task>& task);

 private:
  void serve();
  std::shared_ptr<Task> next();
  void wait(const std::shared_ptr<Task>& task);

  std::mutex mutex_;  // of all below, and of what is private to tasks
  std::map<std::uint32_t, std::deque<std::shared_ptr<Task>>> waiting_;  // by user; none is empty
  std::uint32_t last_ = 0;                                              // whose turn was the last
  bool is_serving_ = false;
  loop::Worker worker_;
};

// Signals to those that a reading of the processes has found. They get one signal at a time: the
// one that was set last.
class FamilySignals final : public ProcessSignals::Task {
 public:
  // So many are signalled in one step.
  static constexpr std::size_t kAtOnce = 64;

  FamilySignals(std::shared_ptr<const procfs::ProcDir> proc, std::uint32_t user)
      : Task(user), proc_(std::move(proc)) {}

  // Those that have not had an earlier signal do not get it any more. If the same signal is still
  // on its way, or SIGKILL is, that one goes on to those that it was meant for.
  void set(int signal, const std::map<int, procfs::Stat>& members);
  // All had what was set last.
  [[nodiscard]] bool is_done() const;

 private:
  bool step() override;

  std::shared_ptr<const procfs::ProcDir> proc_;
  mutable std::mutex mutex_;  // of all below
  int signal_ = 0;
  std::vector<procfs::Stat> left_;  // the next is the last
  bool is_sending_ = false;
};

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
  // Its end for the last time, which does not wait for the freezer. `frozen` is kept until then.
  void kill_at_once(std::optional<cgroup::FreezeGuard> frozen);

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

  std::mutex mutex_;                           // of all below
  std::optional<cgroup::FreezeGuard> frozen_;  // goes with this
  bool is_last_ = false;                       // nobody asks for its end again
  std::optional<Instant> kill_at_;
  std::optional<int> signal_;
  int last_signal_ = 0;
  Instant repeat_at_{};
};

}  // namespace plimsoll::supervisor

#pragma once

#include <deque>
#include <memory>
#include <optional>
#include <vector>

#include "base/limits.h"
#include "base/loop/loop.h"
#include "base/loop/worker.h"
#include "base/result.h"
#include "kernel/cgroup/freeze.h"
#include "kernel/cgroup/group.h"
#include "kernel/cgroup/processes.h"
#include "kernel/cgroup/signals.h"
#include "kernel/counters/job_sampler.h"
#include "kernel/counters/network.h"
#include "supervisor/processes/child_spawner.h"
#include "supervisor/processes/group_stock.h"
#include "supervisor/processes/process_set.h"

namespace plimsoll::supervisor {

// Keeps a job's group frozen, with its own CPU quota lifted as long: a throttled process freezes
// only when its quota comes round. The destructor thaws and puts the quota back.
class PauseGuard {
 public:
  // `cpus`: the quota that the group has, if it has one.
  static Result<PauseGuard> pause(std::shared_ptr<const cgroup::Group> group,
                                  std::optional<double> cpus);
  PauseGuard(PauseGuard&&) noexcept = default;
  PauseGuard& operator=(PauseGuard&&) = delete;
  ~PauseGuard();

 private:
  PauseGuard(std::shared_ptr<const cgroup::Group> group, std::optional<double> cpus,
             cgroup::FreezeGuard frozen)
      : group_(std::move(group)), cpus_(cpus), frozen_(std::move(frozen)) {}

  std::shared_ptr<const cgroup::Group> group_;  // null after a move
  std::optional<double> cpus_;
  std::optional<cgroup::FreezeGuard> frozen_;
};

// A cgroup as the place where an attempt lives: in every hierarchy that has one, with its limits.
class CgroupProcessSet : public ProcessSet {
 public:
  struct Deps {
    ChildSpawner& spawner;
    loop::Loop& loop;
    loop::Worker& worker;  // removes the group
    counters::Network& network;
  };
  // What is around the group, and what becomes of it.
  struct Around {
    std::shared_ptr<const cgroup::Inner> above{};  // is to stand as long; null: the pool itself
    GroupStock* stock = nullptr;  // where it goes if it is left as new; null: it is removed
  };
  // What `deps` and `around` name and `observer` must outlive this.
  CgroupProcessSet(const Deps& deps, ProcessSetObserver& observer, JobGroup group, Around around);
  ~CgroupProcessSet() override;

  [[nodiscard]] Result<guardian::ChildId> spawn(guardian::SpawnRequest request) override;
  void adopt(int main) override;
  OomKills watch_oom() override;
  [[nodiscard]] OwnOoms own_ooms() override;
  void freeze() override;
  void thaw() override { paused_.reset(); }
  void signal_all(int number) override;
  const counters::Sample& sample(Instant now, WallTime wall, counters::Level level,
                                 counters::SampleState state) override;
  [[nodiscard]] Instant next_due() const override { return sampler_->next_due(); }
  [[nodiscard]] bool is_at_rest() const override { return sampler_->is_at_rest(); }
  [[nodiscard]] counters::JobUsage finish(Instant now, WallTime wall) override;
  void reap(reap::LeftBehind left_behind) override;
  void give_up_removal() override {
    if (reaper_) reaper_->give_up();
  }
  [[nodiscard]] std::shared_ptr<const cgroup::Group> group() const override { return group_; }

  // The kernel tells when the last has ended, where there is a v2 tree, within 10 ms; else it is
  // looked so often. The end of the main process mostly is that of all.
  static constexpr Duration kVacancyLook = std::chrono::milliseconds(50);

 private:
  void signal_some();
  void look_for_vacancy();
  void stop_looking();
  bool put_back();

  Deps deps_;
  ProcessSetObserver& observer_;
  Around around_;
  std::shared_ptr<const cgroup::Leaf> group_;
  Limits limits_;
  std::vector<UniqueFd> entrances_;
  std::optional<counters::JobSampler> sampler_;  // until finish(): its files are many
  std::optional<counters::JobUsage> usage_;      // if it was read before finish()
  std::optional<PauseGuard> paused_;
  bool was_touched_ = false;  // paused, or lived so long that it was looked at
  std::optional<reap::Reaper> reaper_;
  // Signals that are being sent: a group may be so large that the loop has others to serve
  // meanwhile.
  std::deque<int> signals_;
  std::optional<cgroup::SignalWalk> signal_walk_;  // of the first of them
  std::optional<loop::Timer> signal_timer_;
  int main_ = -1;    // the pidfd of an adopted process
  UniqueFd events_;  // cgroup.events, of adopted processes; before its watch, which must go first
  loop::Watch events_watch_, main_watch_;
  loop::Timer vacancy_timer_;
  std::optional<cgroup::OccupancyWalk> occupancy_;  // of a look that goes on
  OwnOoms own_ooms_;
  UniqueFd oom_event_;  // v1; before its watch, which must go first
  loop::Watch oom_watch_;
};

}  // namespace plimsoll::supervisor

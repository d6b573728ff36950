#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/loop/loop.h"
#include "base/loop/worker.h"
#include "base/result.h"
#include "guardian/guardian.h"
#include "guardian/heap_reserve.h"
#include "guardian/protocol.h"
#include "kernel/cgroup/freeze.h"
#include "kernel/cgroup/hierarchies.h"
#include "kernel/cgroup/limits.h"
#include "kernel/cgroup/run_tree.h"
#include "kernel/cgroup/run_weight.h"
#include "kernel/counters/network.h"
#include "kernel/procfs/ipc.h"
#include "supervisor/guardian_client.h"
#include "supervisor/oom_watch.h"
#include "supervisor/processes/child_spawner.h"
#include "supervisor/processes/families.h"
#include "supervisor/processes/group_stock.h"
#include "supervisor/processes/mover.h"
#include "supervisor/processes/place.h"
#include "supervisor/run_host.h"
#include "supervisor/user_groups.h"
#include "supervisor/user_look.h"

namespace plimsoll::supervisor {

// The value of --cgroup that asks for process mode.
inline constexpr std::string_view kNoCgroup = "none";

struct SupervisorConfig {
  std::string run_id;                      // new_run_id()
  std::optional<std::string> cgroup_path;  // --cgroup or PLIMSOLL_CGROUP; kNoCgroup: without
  cgroup::ControllerSet controllers;       // that limits of jobs ask for, beside those always used
  cgroup::RunWeight weight{};              // of all jobs together, against the rest of the machine
  // That of the jobs: each of their own has a share of the CPUs to itself, whatever its nice value,
  // where the kernel weighs sessions.
  guardian::Session session = guardian::Session::own;
  // Whether the jobs of each user have a group around them, and how many processes it takes.
  struct ByUser {
    std::optional<std::uint64_t> processes_max{};
  };
  std::optional<ByUser> by_user{};
};

// The real machine, as a run has it: the event loop, the guardian (GuardianClient), and the run's
// tree of groups, or in process mode its families of processes.
//
// Process mode is for hosts where no group can be made and none was named, and where it was asked
// for; docs/process-mode.md says what it is.
//
// Invariant: the guardian knows of the tree before the first directory of it exists, so that
// nothing is left behind whenever this process dies.
class Supervisor : public RunHost, public ChildSpawner {
 public:
  static Result<std::unique_ptr<Supervisor>> create(guardian::Link link,
                                                    const SupervisorConfig& config);
  // An empty tree is removed; what is left of one is the guardian's when this process has ended, or
  // is reaped here if the guardian is gone.
  ~Supervisor() override;

  // Why jobs run without groups; nothing if they have them.
  [[nodiscard]] const std::optional<std::string>& why_process_mode() const {
    return why_process_mode_;
  }
  [[nodiscard]] Families* families() override { return families_.get(); }

  [[nodiscard]] Result<std::unique_ptr<ProcessSet>> make_process_set(
      const std::string& name, const Limits& limits, uid_t uid,
      ProcessSetObserver& observer) override;
  // New places for processes that others start (StandingPlace): in the pool, and beside it, where
  // nobody is frozen or bounded by the line. Groups have as few controllers as what is measured of
  // them needs, as processes are moved there, by `mover`, which must outlive them.
  [[nodiscard]] Result<std::unique_ptr<Place>> make_place_in_pool(const std::string& name,
                                                                  Mover& mover);
  [[nodiscard]] Result<std::unique_ptr<Place>> make_place_beside_pool(const std::string& name,
                                                                      Mover& mover);
  // As cgroup::RunTree::prefer(); in process mode nobody can be.
  void prefer(const Place& beside_pool) const;
  // The name of the place in the pool in which the process is, as it was asked for; empty if it is
  // in none.
  [[nodiscard]] std::string place_in_pool(int pid) const;
  // A new cgroup in the pool, with its limits set.
  [[nodiscard]] Result<cgroup::Leaf> make_group(const std::string& name, const Limits& limits);

  // Spawns through the guardian, as GuardianClient::spawn().
  Result<guardian::ChildId> spawn(guardian::SpawnRequest request,
                                  ChildObserver& observer) override {
    return guardian_.spawn(std::move(request), observer);
  }
  Result<guardian::ChildId> spawn_in(const cgroup::Group& group, guardian::SpawnRequest request,
                                     ChildObserver& observer) override;
  void over(guardian::ChildId child, ChildObserver& observer) override {
    guardian_.over(child, observer);
  }
  void forget(guardian::ChildId child) override { guardian_.forget(child); }

  void tell_signals(SignalObserver* observer) override { guardian_.tell_signals(observer); }
  // The first signal that has asked Plimsoll to end, if one has.
  [[nodiscard]] const std::optional<int>& asked_to_end() const { return guardian_.asked_to_end(); }
  // Plimsoll is ended by this signal: whoever has started it sees it die of it once this process
  // has exited. The answer is the exit status of a shell for that.
  int die_of(int signal);
  void be_watched() override;
  [[nodiscard]] guardian::Heartbeat& heartbeat() override { return guardian_.heartbeat(); }

  [[nodiscard]] Instant now() const override { return loop::now(); }
  [[nodiscard]] Instant job_clock() const override;
  [[nodiscard]] Instant on_loop_clock(Instant when) const override;
  [[nodiscard]] std::unique_ptr<Timer> timer(std::function<void()> callback) override;

  // The guardian, the main process of the service, tells its manager so, as sd_notify(3).
  void notify(std::string state) { guardian_.tell(guardian::Notify{std::move(state)}); }
  void stop_guardian() override { guardian_.tell(guardian::StopYourself{}); }

  [[nodiscard]] Result<void> run_once(Duration timeout) override;

  [[nodiscard]] loop::Loop& loop() override { return loop_; }
  [[nodiscard]] loop::Worker& worker() override { return *worker_; }
  [[nodiscard]] loop::Worker& slow_worker() override;
  [[nodiscard]] std::unique_ptr<IpcWatch> watch_ipc(uid_t user) override;
  [[nodiscard]] const cgroup::Hierarchies& hierarchies() const { return hierarchies_; }
  [[nodiscard]] const cgroup::Group& pool() const override { return *pool_; }
  [[nodiscard]] OomWatch& oom() override { return *oom_; }
  [[nodiscard]] report::HostInfo describe() const override;
  [[nodiscard]] Bytes memory() const override;
  void freeze_all() override;
  void thaw_all() override;
  [[nodiscard]] counters::Network& network() { return *network_; }
  void count_dropped_samples(std::uint64_t samples) override { dropped_samples_ += samples; }
  [[nodiscard]] std::uint64_t dropped_samples() const { return dropped_samples_; }

 private:
  Supervisor(loop::Loop loop, guardian::Link link);
  Result<void> make_tree(const SupervisorConfig& config);
  Result<void> enter_process_mode(std::string why);
  // What dead owners have left is removed beside this run's own work. Processes of theirs may take
  // as long to die; then they are left for the next sweep.
  static constexpr Duration kSweepPatience = std::chrono::seconds(10);
  void sweep_stale();
  Result<cgroup::RunTree> make_run_group(const SupervisorConfig& config);
  Result<void> hand_over(const cgroup::RunTree* tree);
  Result<cgroup::Placement> place(const SupervisorConfig& config, const std::string& name);
  [[nodiscard]] cgroup::PlacementRequest placement_request(const SupervisorConfig& config,
                                                           std::vector<int> own_pids);
  Result<void> reap_after_guardian();
  Result<void> reap_tree();
  // Removes the named path as far as runs have made it and this was the last.
  void forget_named();
  void attach_network();
  [[nodiscard]] std::unique_ptr<Place> make_family(const std::string& name,
                                                   Families::Counts counts);
  [[nodiscard]] Result<JobGroup> new_group(cgroup::Inner& parent, const std::string& name,
                                           const Limits& limits);
  [[nodiscard]] Result<std::vector<UniqueFd>> entrances_of(const cgroup::Group& group) const;
  [[nodiscard]] Result<cgroup::Leaf> make_group_in(cgroup::Inner& parent, const std::string& name,
                                                   const Limits& limits);

  loop::Loop loop_;
  GuardianClient guardian_;
  std::optional<guardian::HeapReserve> stock_;  // while it is watched
  std::unique_ptr<loop::Worker> worker_;
  std::unique_ptr<loop::Worker> slow_worker_;  // once it was asked for
  std::unique_ptr<UserLook> user_look_;        // the same
  procfs::IpcTables ipc_tables_;
  cgroup::Hierarchies hierarchies_;
  cgroup::ControllerSet wanted_;    // of each job's group
  cgroup::ControllerSet run_wide_;  // of the pool beside those
  cgroup::ControllerSet adopting_;  // of groups that processes are moved into
  cgroup::CallerShare caller_;
  cgroup::Placement placement_;
  std::string run_id_;
  std::string tree_name_;
  std::optional<cgroup::RunTree> tree_;
  cgroup::Inner no_pool_{{}, {}};
  cgroup::Inner* pool_ = &no_pool_;     // of tree_, where there is one
  std::optional<UserGroups> users_;     // in the pool
  GroupStock group_stock_;              // of the pool itself, and our own user's jobs
  std::unique_ptr<Families> families_;  // process mode
  std::optional<std::string> why_process_mode_;
  std::optional<cgroup::FreezeGuard> all_frozen_;
  std::optional<counters::Network> network_;
  std::optional<OomWatch> oom_;
  std::uint64_t dropped_samples_ = 0;
  bool reaped_ = false;  // after the guardian's death
};

}  // namespace plimsoll::supervisor

#include "supervisor/supervisor.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>

#include "base/file.h"
#include "base/loop/scope.h"
#include "base/text.h"
#include "guardian/protection.h"
#include "kernel/cgroup/directory.h"
#include "kernel/cgroup/freeze.h"
#include "kernel/cgroup/placement.h"
#include "kernel/cgroup/remove.h"
#include "kernel/cgroup/run_removal.h"
#include "kernel/cgroup/sweep.h"
#include "kernel/procfs/kill_all.h"
#include "kernel/procfs/table.h"
#include "supervisor/host.h"
#include "supervisor/ipc_watch.h"
#include "supervisor/processes/families.h"

// The run's tree: how it is made, watched and removed.
namespace plimsoll::supervisor {
namespace {

using cgroup::Controller;
using cgroup::ControllerSet;

// Each try that fails is another run ending at that very moment.
constexpr unsigned kPlacementTries = 20;

// Newer kernels count blkio of v1 only on devices where a limit was set: where even the root names
// no device, a group would cost a directory for each job and tell nothing.
bool counts_io(const cgroup::Hierarchies& hierarchies) {
  const cgroup::Hierarchy* io = hierarchies.of(Controller::io);
  if (io == nullptr || io->version == cgroup::Version::v2) return true;
  const auto root =
      read_text_at(AT_FDCWD, io->mount_point + "/blkio.throttle.io_service_bytes_recursive");
  return !root || root->find(':') != std::string::npos;
}

// What every job's group has, so that its report is whole. On v2 `cpu` costs nothing to create and
// brings the weights; on v1 each controller is a directory more for each job, so those whose
// figures the v2 tree has are left out.
ControllerSet always_wanted(const cgroup::Hierarchies& hierarchies) {
  ControllerSet wanted(Controller::memory, Controller::pids);
  if (counts_io(hierarchies)) wanted.add(Controller::io);
  if (hierarchies.v2() == nullptr) wanted.add(Controller::cpuacct), wanted.add(Controller::freezer);
  if (hierarchies.layout() == cgroup::Layout::v2) wanted.add(Controller::cpu);
  return wanted;
}

// The same of a group that processes are moved into: each v1 hierarchy is a move more, which waits
// for an RCU grace period. Where there is one tree alone, one move does for all controllers.
ControllerSet wanted_when_moved(const cgroup::Hierarchies& hierarchies, ControllerSet wanted) {
  if (hierarchies.layout() == cgroup::Layout::v2) return wanted;
  ControllerSet few(Controller::memory);
  if (hierarchies.v2() == nullptr) few.add(Controller::cpuacct), few.add(Controller::freezer);
  return few;
}

std::vector<cgroup::Group::Part> parts_of(const cgroup::Placement& placement) {
  std::vector<cgroup::Group::Part> parts;
  for (const cgroup::Base& base : placement.bases) {
    if (auto directory = base.directory.clone()) {
      parts.push_back({std::move(*directory), base.hierarchy.controllers});
    }
  }
  return parts;
}

// Where dead runs are looked for: a named path in all hierarchies, as such a run may have used more
// of them than this one, and weigh there.
std::vector<cgroup::Group::Part> swept_of(const cgroup::Placement& placement,
                                          const cgroup::Hierarchies& hierarchies) {
  const std::string& named = placement.bases.front().named;
  if (named.empty()) return parts_of(placement);
  std::vector<cgroup::Group::Part> parts;
  for (const cgroup::Hierarchy& hierarchy : hierarchies.all) {
    auto directory =
        cgroup::Directory::open(hierarchy.mount_point + "/" + named, hierarchy.version);
    if (directory) parts.push_back({std::move(*directory), hierarchy.controllers});
  }
  return parts;
}

// The first cgroup namespace of a kernel has a fixed number (PROC_CGROUP_INIT_INO).
bool in_cgroup_namespace() {
  struct stat status{};
  constexpr ino_t kFirst = 0xEFFFFFFB;
  return ::stat("/proc/self/ns/cgroup", &status) == 0 && status.st_ino != kFirst;
}

// How many levels the base lies below its mount point, which here is the root of the hierarchy.
unsigned depth_below(const cgroup::Base& base) {
  const std::string_view path =
      std::string_view(base.directory.label()).substr(base.hierarchy.mount_point.size());
  unsigned depth = 0;
  for (std::size_t i = 0; i + 1 < path.size(); ++i) {
    if (path[i] == '/' && path[i + 1] != '/') ++depth;
  }
  return depth;
}

Result<UniqueFd> duplicate(int fd) {
  UniqueFd copy(::fcntl(fd, F_DUPFD_CLOEXEC, 3));
  if (!copy) return fail_errno("duplicate a descriptor");
  return copy;
}

class LoopTimer : public loop::Clock::Timer {
 public:
  explicit LoopTimer(loop::Timer timer) : timer_(std::move(timer)) {}
  void set(Instant when) override { timer_.set(when); }
  void off() override { timer_.off(); }

 private:
  loop::Timer timer_;
};

}  // namespace

Supervisor::Supervisor(loop::Loop loop, guardian::Link link)
    : loop_(std::move(loop)),
      guardian_(std::move(link)),
      worker_(std::make_unique<loop::Worker>(loop_)) {}

Supervisor::~Supervisor() {
  const bool handed_over = families_ != nullptr || !placement_.bases.empty();
  if (!handed_over || reaped_) return;
  if (guardian_.channel().other_is_gone()) {
    [[maybe_unused]] const auto told = reap_after_guardian();
  } else if (tree_) {
    const auto removed = cgroup::remove_group(tree_->run());
    if (removed && *removed == cgroup::Removal::done) forget_named();
  }
}

Result<std::unique_ptr<Supervisor>> Supervisor::create(guardian::Link link,
                                                       const SupervisorConfig& config) {
  auto loop = loop::Loop::create();
  if (!loop) return pass(std::move(loop));
  std::unique_ptr<Supervisor> supervisor(new Supervisor(std::move(*loop), std::move(link)));
  supervisor->run_id_ = config.run_id;
  GuardianClient& guardian = supervisor->guardian_;
  if (auto attached = guardian.attach(supervisor->loop_); !attached) {
    return pass(std::move(attached));
  }
  Result<void> made{};
  if (config.cgroup_path == kNoCgroup) {
    made = supervisor->enter_process_mode("as --cgroup or PLIMSOLL_CGROUP says");
  } else {
    made = supervisor->make_tree(config);
    if (!made) guardian.take_messages();
    // Half a tree is the guardian's to remove, unless its death is what went wrong.
    if (!made && guardian.is_gone()) return pass(supervisor->reap_after_guardian());
    if (!made && !config.cgroup_path) made = supervisor->enter_process_mode(made.error().message());
  }
  // A weight that can't be had is a mistake, and no reason for process mode.
  if (made && supervisor->tree_) {
    made = cgroup::weigh_run(supervisor->tree_->run(), config.weight, supervisor->caller_);
    for (const cgroup::Base& base : supervisor->placement_.bases) {
      cgroup::weigh_made(base.directory);
    }
    supervisor->sweep_stale();
  }
  if (!made) return pass(std::move(made));
  return supervisor;
}

Result<cgroup::Placement> Supervisor::place(const SupervisorConfig& config,
                                            const std::string& name) {
  const std::vector<int> own_pids = {guardian_.pid(), ::getpid()};
  auto found = cgroup::discover_hierarchies();
  if (!found) return pass(std::move(found));
  std::optional<std::string> why_no_scope;
  if (!config.cgroup_path && loop::systemd_runs() &&
      !cgroup::own_v2_group_serves(*found, own_pids)) {
    // Without an answer of systemd's the other places are tried, and their error is the one told.
    const cgroup::CallerShare caller = cgroup::caller_share(*found);
    const loop::ScopeWeights weights{.cpu = config.weight.of_cpu(caller),
                                     .io = config.weight.of_io()};
    if (auto made = loop::start_scope(name + ".scope", own_pids, weights)) {
      auto moved = cgroup::discover_hierarchies();
      if (moved) found = std::move(moved);
    } else {
      why_no_scope = made.error().message();
    }
  }
  hierarchies_ = std::move(*found);
  cgroup::PlacementRequest request = placement_request(config, own_pids);
  request.why_no_scope = std::move(why_no_scope);
  return cgroup::find_placement(hierarchies_, request);
}

cgroup::PlacementRequest Supervisor::placement_request(const SupervisorConfig& config,
                                                       std::vector<int> own_pids) {
  wanted_ = always_wanted(hierarchies_) | config.controllers;
  adopting_ = wanted_when_moved(hierarchies_, wanted_);
  caller_ = cgroup::caller_share(hierarchies_);
  cgroup::PlacementRequest request{
      .path = config.cgroup_path, .own_pids = std::move(own_pids), .wanted = wanted_, .wished = {}};
  const bool is_asked = config.weight.run || config.weight.cpu;
  // Of jobs with sessions of their own each would weigh as much as that of the caller.
  const bool escapes = caller_.session_nice && config.session == guardian::Session::own;
  if (is_asked) {
    request.wanted.add(Controller::cpu);
  } else if (escapes && caller_.factor() != 1) {
    request.wished.add(Controller::cpu);
  }
  run_wide_ = request.wanted | request.wished;
  return request;
}

// A named path that another run had made may go, with that run, before ours is in it.
Result<cgroup::RunTree> Supervisor::make_run_group(const SupervisorConfig& config) {
  for (unsigned tries_left = kPlacementTries;; --tries_left) {
    auto placement = place(config, tree_name_);
    if (placement) {
      placement_ = std::move(*placement);
      if (auto told = hand_over(nullptr); !told) return pass(std::move(told));
      auto tree = cgroup::RunTree::create(placement_, tree_name_);
      if (tree || !tree.error().gone() || tries_left == 0) return tree;
    } else if (!placement.error().gone() || !config.cgroup_path || tries_left == 0) {
      return pass(std::move(placement));
    }
  }
}

Result<void> Supervisor::make_tree(const SupervisorConfig& config) {
  tree_name_ = cgroup::run_name(config.run_id);
  auto tree = make_run_group(config);
  if (!tree) return pass(std::move(tree));
  if (auto told = hand_over(&*tree); !told) return told;
  if (placement_.supervisor == cgroup::Supervisor::moves) {
    if (auto entered = tree->enter({guardian_.pid(), ::getpid()}); !entered) return entered;
  }
  if (auto made = tree->make_pool(placement_, run_wide_); !made) return made;
  tree_ = std::move(*tree);
  pool_ = &tree_->pool();
  if (const auto& by_user = config.by_user) {
    users_.emplace(*pool_, UserGroups::Config{wanted_, by_user->processes_max}, *worker_);
  }
  attach_network();
  oom_.emplace(loop_, pool_->of(Controller::memory));
  return {};
}

void Supervisor::sweep_stale() {
  const auto runs =
      std::make_shared<cgroup::RunParents>(cgroup::runs_at(swept_of(placement_, hierarchies_)));
  if (!cgroup::has_stale(*runs)) return;
  auto sweep = [runs] {
    [[maybe_unused]] const auto swept =
        cgroup::sweep(*runs, cgroup::Orphaned::left, loop::now() + kSweepPatience, &loop::now);
  };
  worker_->submit(std::move(sweep), [] {});
}

// The programs count by the depth of a job's group in the whole hierarchy: base, run, pool, perhaps
// user, job.
void Supervisor::attach_network() {
  const cgroup::Directory* pool = pool_->v2();
  if (pool == nullptr) {
    network_.emplace("there is no cgroup v2 tree here to count in");
  } else if (in_cgroup_namespace()) {
    network_.emplace("a cgroup namespace hides how deep the groups are");
  } else {
    const cgroup::Base& base = placement_.bases.front();
    network_.emplace(counters::Network::attach(*pool, depth_below(base) + (users_ ? 4 : 3)));
  }
}

Result<void> Supervisor::hand_over(const cgroup::RunTree* tree) {
  guardian::HandOver message;
  message.name = tree_name_;
  for (std::size_t i = 0; i < placement_.bases.size(); ++i) {
    const cgroup::Base& base = placement_.bases[i];
    auto directory = duplicate(base.directory.fd());
    if (!directory) return pass(std::move(directory));
    UniqueFd lock;
    if (tree != nullptr) {
      auto locked = duplicate(tree->run().parts()[i].directory.fd());
      if (!locked) return pass(std::move(locked));
      lock = std::move(*locked);
    }
    message.places.push_back({base.hierarchy.version, base.hierarchy.controllers,
                              std::move(*directory), std::move(lock), base.named});
  }
  if (placement_.supervisor == cgroup::Supervisor::moves) {
    auto home = placement_.bases.front().directory.open_file("cgroup.procs", O_WRONLY);
    if (!home) return pass(std::move(home));
    message.home_procs = std::move(*home);
  }
  return guardian::send(guardian_.channel(), message);
}

loop::Worker& Supervisor::slow_worker() {
  if (slow_worker_ == nullptr) slow_worker_ = std::make_unique<loop::Worker>(loop_);
  return *slow_worker_;
}

std::unique_ptr<IpcWatch> Supervisor::watch_ipc(uid_t user) {
  if (user_look_ == nullptr) user_look_ = std::make_unique<UserLook>(loop_);
  return std::make_unique<UserIpcWatch>(user, ipc_tables_, *user_look_);
}

report::HostInfo Supervisor::describe() const { return describe_host(*this); }

Bytes Supervisor::memory() const { return memory_of_host(); }

void Supervisor::be_watched() {
  guardian_.tell(guardian::StandWatch{});
  [[maybe_unused]] const auto before = guardian::lower_oom_score();
  [[maybe_unused]] const bool locked = guardian::lock_memory();
  stock_.emplace();
  guardian::go_before_others();
  worker_->submit([] { guardian::go_before_others(); }, [] {});
  tree_->protect_supervisor();
  guardian_.heartbeat().watch();
}

Instant Supervisor::job_clock() const {
  const Instant now = loop::now();
  return now - guardian_.heartbeat().stalled(now);
}

Instant Supervisor::on_loop_clock(Instant when) const {
  return when + guardian_.heartbeat().stalled(loop::now());
}

std::unique_ptr<loop::Clock::Timer> Supervisor::timer(std::function<void()> callback) {
  return std::make_unique<LoopTimer>(loop_.timer(std::move(callback)));
}

int Supervisor::die_of(int signal) {
  // Without the message the status says it.
  guardian_.tell(guardian::DieOf{signal});
  constexpr int kShellBase = 128;
  return kShellBase + signal;
}

Result<void> Supervisor::run_once(Duration timeout) {
  auto ran = loop_.run_once(timeout);
  guardian_.heartbeat().beat();
  if (stock_) stock_->fill(loop::now());
  if (!ran) return ran;
  if (guardian_.is_gone()) return reap_after_guardian();
  return {};
}

Result<void> Supervisor::reap_after_guardian() {
  reaped_ = true;
  if (families_ == nullptr) return reap_tree();
  procfs::ProcessScanner& process_scanner = families_->process_scanner();
  process_scanner.membership().guardian_ended();
  const procfs::Left left =
      procfs::kill_all(process_scanner, loop::now() + kSweepPatience, &loop::now);
  if (!left.processes.empty()) {
    return fail("the process that starts the jobs was killed, and " +
                counted(left.processes.size(), "process", "processes") +
                " of the jobs could not be killed; try `plimsoll reap --stale`");
  }
  return fail("the process that starts the jobs was killed; all jobs were killed with it");
}

void Supervisor::forget_named() {
  for (const cgroup::Base& base : placement_.bases) {
    cgroup::remove_made(base.directory, base.named);
    cgroup::weigh_made(base.directory);  // what other runs are in has stayed
  }
}

Result<void> Supervisor::reap_tree() {
  int home = -1;
  UniqueFd home_procs;
  if (placement_.supervisor == cgroup::Supervisor::moves) {
    auto opened = placement_.bases.front().directory.open_file("cgroup.procs", O_WRONLY);
    if (opened) home = (home_procs = std::move(*opened)).get();
  }
  const auto remains = cgroup::destroy_run(parts_of(placement_), tree_name_, home,
                                           loop::now() + kSweepPatience, &loop::now);
  if (remains.gone) forget_named();
  return fail("the process that starts the jobs was killed; all jobs were killed with it");
}

}  // namespace plimsoll::supervisor

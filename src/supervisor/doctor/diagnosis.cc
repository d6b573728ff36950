#include "supervisor/doctor/diagnosis.h"

#include <vector>

#include "base/text.h"
#include "kernel/cgroup/group.h"
#include "kernel/cgroup/placement.h"
#include "kernel/cgroup/run_tree.h"
#include "kernel/counters/network.h"
#include "kernel/monitor/watcher.h"
#include "supervisor/doctor/probes.h"
#include "supervisor/run/pool_terms.h"

namespace plimsoll::supervisor {
namespace {

using cgroup::Controller;
using cgroup::ControllerSet;
using report::Check;
using report::CheckState;

Check probe_io_usage(const cgroup::Group& group) {
  Check check = probe_file(group, {.id = "io.usage",
                                   .controller = Controller::io,
                                   .v2_files = {"io.stat"},
                                   .v1_files = {"blkio.throttle.io_service_bytes_recursive",
                                                "blkio.throttle.io_service_bytes"},
                                   .cost = "reports have no bytes read and written",
                                   .remedy = "a kernel with CONFIG_BLK_CGROUP"});
  const cgroup::Directory* io = group.of(Controller::io);
  if (check.state == CheckState::ok && io->version() == cgroup::Version::v1) {
    check.state = CheckState::degraded;
    check.cost =
        "reports of jobs without --io-max may have no bytes read and written: newer kernels count "
        "on v1 only if a limit is set on the device";
    check.remedy = "cgroup v2 for io: see layout";
  }
  return check;
}

Check judge_network(const std::string& why_not) {
  if (why_not.empty()) return {.id = "network", .value = "counted for each job by BPF"};
  return {.id = "network",
          .state = CheckState::missing,
          .value = why_not,
          .cost = "reports have no bytes sent and received",
          .remedy = "root with CAP_BPF and CAP_NET_ADMIN, a v2 tree, and no cgroup namespace"};
}

// Looks in a group of ours for what counts and limits CPU, I/O and processes: `cpu.limit`,
// `cpu.weight`, `io.usage`, `io.limit`, `io.weight`, `pids.limit`, `pids.peak`, and `network`.
std::vector<Check> probe_limits(const cgroup::Group& group, const counters::Network& network) {
  constexpr const char* kBfq =
      "a disk with the bfq scheduler (echo bfq > /sys/block/DISK/queue/scheduler), or io.cost on "
      "v2";
  return {probe_file(group, {.id = "cpu.limit",
                             .controller = Controller::cpu,
                             .v2_files = {"cpu.max"},
                             .v1_files = {"cpu.cfs_quota_us"},
                             .cost = "--cpus can't be used",
                             .remedy = "a kernel with CONFIG_CFS_BANDWIDTH"}),
          probe_file(group, {.id = "cpu.weight",
                             .controller = Controller::cpu,
                             .v2_files = {"cpu.weight"},
                             .v1_files = {"cpu.shares"},
                             .cost = "--cpu-weight can't be used",
                             .remedy = "a kernel with CONFIG_FAIR_GROUP_SCHED"}),
          probe_io_usage(group),
          probe_file(group, {.id = "io.limit",
                             .controller = Controller::io,
                             .v2_files = {"io.max"},
                             .v1_files = {"blkio.throttle.read_bps_device"},
                             .cost = "--io-max can't be used",
                             .remedy = "a kernel with CONFIG_BLK_DEV_THROTTLING"}),
          probe_file(group, {.id = "io.weight",
                             .controller = Controller::io,
                             .v2_files = {"io.weight", "io.bfq.weight"},
                             .v1_files = {"blkio.bfq.weight", "blkio.weight"},
                             .cost = "--io-weight can't be used",
                             .remedy = kBfq}),
          probe_file(group, {.id = "pids.limit",
                             .controller = Controller::pids,
                             .v2_files = {"pids.max"},
                             .v1_files = {"pids.max"},
                             .cost = "--pids-max can't be used, and fork bombs take longer to end",
                             .remedy = "a kernel with CONFIG_CGROUP_PIDS"}),
          probe_file(group, {.id = "pids.peak",
                             .controller = Controller::pids,
                             .v2_files = {"pids.peak"},
                             .v1_files = {"pids.peak"},
                             .cost = "the peak of processes is the highest sample",
                             .remedy = "Linux 6.1"}),
          judge_network(network.why_not())};
}

Check check_of(const monitor::Status& status) {
  Check check{.id = "watch." + status.name, .value = status.why};
  if (status.works) return check;
  check.state = CheckState::missing;
  check.value = status.health;
  check.cost = status.why;
  check.remedy = status.name == "pressure" ? "psi=1 on the kernel command line (CONFIG_PSI)"
                                           : "a memory controller: see controller.memory";
  return check;
}

// Its watcher never starts, so none of these is called.
class NobodyWatches final : public monitor::WatcherHost {
  monitor::Reading look() override { return {}; }
  void on_memory_alarm(const monitor::Alarm& /*alarm*/) override {}
  void decide(monitor::Cause /*cause*/) override {}
  void on_weakened(const monitor::Status& /*status*/) override {}
};

// The monitors that a run would watch its memory with, as they are made for an empty group:
// `watch.event`, `watch.pressure`, `watch.threshold`, `watch.oom`.
std::vector<Check> probe_watch(Supervisor& supervisor, const cgroup::Group& group) {
  NobodyWatches nobody;
  const monitor::Watcher watcher(
      {.loop = supervisor.loop(), .worker = supervisor.worker(), .pool = group}, nobody);
  std::vector<Check> checks;
  for (const monitor::Status& status : watcher.status()) checks.push_back(check_of(status));
  checks.push_back(check_of(supervisor.oom().status()));
  return checks;
}

// The directories below which the run's own are: of each part of the pool two levels up.
std::vector<std::string> bases_of(const cgroup::Group& pool) {
  std::vector<std::string> bases;
  for (const cgroup::Group::Part& part : pool.parts()) {
    std::string path = part.directory.label();
    for (int level = 0; level < 2; ++level) path.resize(path.rfind('/'));
    bases.push_back(std::move(path));
  }
  return bases;
}

// Without the pointer to this very command that errors of placement end with.
std::string own_words(std::string message) {
  constexpr std::string_view kPointer = "; `plimsoll doctor` explains it";
  const std::size_t found = message.find(kPointer);
  if (found != std::string::npos) message.erase(found, kPointer.size());
  return message;
}

// Of the hierarchy that decides: v2 where there is one.
Check placement_of(const Patient& patient, const std::vector<std::string>& bases) {
  const auto& why = patient.supervisor->why_process_mode();
  if (why) return judge_process_mode(own_words(*why));
  const cgroup::Hierarchy& first = patient.supervisor->hierarchies().all.front();
  return judge_placement({.named = patient.cgroup_path.has_value(),
                          .own = first.directory_of(first.own_path),
                          .base = bases.front(),
                          .run_name = cgroup::run_name(patient.run_id)});
}

// Errors of placement say after a semicolon what would help.
Check no_placement(const Error& error) {
  const std::string words = own_words(error.message());
  std::string_view remedy = words;
  const std::string_view value = take_until(remedy, ';');
  return {.id = "placement",
          .state = report::CheckState::missing,
          .value = std::string(value),
          .cost = "no job can be run",
          .remedy = std::string(trim(remedy))};
}

// What needs no group.
void probe_without_groups(report::DoctorReport& report) {
  report.sections.push_back({"Memory", {probe_swap()}});
  report.sections.push_back({"Pressure", probe_pressure(nullptr)});
}

void probe_with_machine(Supervisor& supervisor, report::DoctorReport& report) {
  auto groups = probe_groups(supervisor);
  if (groups) {
    report.sections.push_back({"Groups", std::move(*groups)});
  } else {
    report.why_not = groups.error().message();
  }
  auto leaf = supervisor.make_group("probe-files", {});
  if (!leaf) {
    if (report.why_not.empty()) report.why_not = leaf.error().message();
    return;
  }
  std::vector<Check> memory = probe_memory(*leaf);
  memory.push_back(probe_swap());
  report.sections.push_back({"Memory", std::move(memory)});
  report.sections.push_back({"Pressure", probe_pressure(&*leaf)});
  report.sections.push_back({"Watch", probe_watch(supervisor, *leaf)});
  report.sections.push_back({"CPU, I/O, processes", probe_limits(*leaf, supervisor.network())});
}

// What holds where nobody says otherwise.
std::vector<Check> probe_pool(const Supervisor& supervisor) {
  const PoolOptions options;
  auto governor = pool_governor(options, supervisor);
  if (!governor) {
    return {{.id = "batch.line",
             .state = report::CheckState::missing,
             .value = governor.error().message(),
             .cost = "plimsoll batch does not start without --line",
             .remedy = "more memory, or a --reserve that leaves some"}};
  }
  std::vector<Check> checks;
  for (PoolTerm& term : pool_terms(options, *governor, pool_facts(supervisor))) {
    checks.push_back({.id = "batch." + term.name, .value = term.value + ": " + term.origin});
  }
  return checks;
}

}  // namespace

ControllerSet controllers_at_hand(const std::optional<std::string>& cgroup_path) {
  ControllerSet at_hand;
  if (cgroup_path == kNoCgroup) return at_hand;
  const auto found = cgroup::discover_hierarchies();
  if (!found) return at_hand;
  for (const Controller controller : {Controller::cpu, Controller::io}) {
    const cgroup::Hierarchy* hierarchy = found->of(controller);
    if (hierarchy == nullptr || hierarchy->version == cgroup::Version::v2) continue;
    const ControllerSet wanted(controller);
    if (cgroup::find_placement({{*hierarchy}}, {cgroup_path, {}, wanted})) at_hand.add(controller);
  }
  return at_hand;
}

report::DoctorReport diagnose(const Patient& patient) {
  report::DoctorReport report;
  cgroup::Hierarchies hierarchies;
  std::vector<std::string> bases;
  if (patient.supervisor != nullptr) {
    hierarchies = patient.supervisor->hierarchies();
    bases = bases_of(patient.supervisor->pool());
  } else if (auto found = cgroup::discover_hierarchies()) {
    hierarchies = std::move(*found);
  }
  std::vector<Check> host = probe_host(hierarchies, bases);
  host.push_back(patient.supervisor != nullptr ? placement_of(patient, bases)
                                               : no_placement(*patient.why_no_machine));
  host.push_back(probe_delegation(hierarchies));
  report.sections.push_back({"Host", std::move(host)});
  if (patient.supervisor != nullptr && patient.supervisor->why_process_mode()) {
    probe_without_groups(report);
  } else if (patient.supervisor != nullptr) {
    probe_with_machine(*patient.supervisor, report);
  } else {
    report.why_not = own_words(patient.why_no_machine->message());
    probe_without_groups(report);
  }
  if (patient.supervisor != nullptr) {
    report.sections.push_back({"What a batch would take", probe_pool(*patient.supervisor)});
  }
  report.sections.push_back({"This process", probe_process()});
  return report;
}

}  // namespace plimsoll::supervisor

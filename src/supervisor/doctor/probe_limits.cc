#include "supervisor/doctor/probe_limits.h"

#include "supervisor/doctor/probe_file.h"

namespace plimsoll::supervisor {
namespace {

using cgroup::Controller;
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

}  // namespace

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

}  // namespace plimsoll::supervisor

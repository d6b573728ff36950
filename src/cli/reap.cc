// plimsoll reap: kills and removes groups, ours or anybody's.
#include <cstdio>

#include "base/loop/loop.h"
#include "base/quantity.h"
#include "cli/command/diagnostics.h"
#include "cli/command/exit_status.h"
#include "cli/command/options.h"
#include "cli/commands.h"
#include "kernel/cgroup/destroy.h"
#include "kernel/cgroup/hierarchies.h"
#include "kernel/cgroup/placement.h"
#include "kernel/cgroup/run_weight.h"
#include "kernel/cgroup/sweep.h"
#include "kernel/procfs/kill_all.h"
#include "report/plain.h"
#include "supervisor/sharing/runtime_dir.h"

namespace plimsoll::cli {
namespace {

struct ReapOptions {
  std::vector<std::string> paths;
  bool stale = false;
  std::optional<Duration> timeout;
};

constexpr Duration kReapPatience = std::chrono::seconds(30);
constexpr int kSomethingLeft = 1;

constexpr const char* kReapFooter =
    R"(PATH is a group's directory (/sys/fs/cgroup/...), which is reaped in its hierarchy alone,
or the path of a group from the root (/my/group), which is reaped in every hierarchy that has it.
Everything in it and below it is killed, then the groups are removed. A group that holds this
command itself is refused.

Examples:
  plimsoll reap --stale
  plimsoll reap /sys/fs/cgroup/build.slice/job-7
  plimsoll reap --timeout 5s /ci/worker-3

Exit status: 0 if nothing is left, 1 if something is left (it is named), 125 if the command line is
wrong.
)";

// Whether nothing is left.
bool tell(const std::string& what, const cgroup::Remains& remains) {
  if (remains.gone) {
    std::printf("reaped %s\n", what.c_str());
    return true;
  }
  complain(what + " could not be removed" +
           (remains.trouble ? ": " + remains.trouble->message() : std::string()));
  complain_of_processes(remains.processes);
  return false;
}

// The same of a run in process mode, which has no groups.
bool tell(const procfs::Abandoned& run) {
  if (run.left.processes.empty() && !run.left.trouble) {
    std::printf("reaped the processes of %s\n", report::printable(run.run).c_str());
    return true;
  }
  complain("some processes of run " + report::printable(run.run) + " could not be killed" +
           (run.left.trouble ? ": " + run.left.trouble->message() : std::string()));
  for (const procfs::Stat& stat : run.left.processes) {
    complain("  process " + std::to_string(stat.id.pid) + " (" + report::printable(stat.comm) +
             "), state " + stat.state);
  }
  return false;
}

// What a run that was killed had made of the path of --cgroup; groups of it that other runs are in
// weigh what is left in them. How many groups were removed.
std::size_t remove_left_paths(const cgroup::Hierarchies& hierarchies) {
  std::size_t count = 0;
  for (const cgroup::Hierarchy& hierarchy : hierarchies.all) {
    const auto root = cgroup::Directory::open(hierarchy.mount_point, hierarchy.version);
    if (!root) continue;
    const cgroup::MadeGroups made = cgroup::remove_all_made(*root);
    for (const std::string& group : made.removed) {
      std::printf("removed the empty group %s\n", report::printable(group).c_str());
    }
    for (const cgroup::Directory& group : made.in_use) cgroup::weigh_made(group);
    count += made.removed.size();
  }
  return count;
}

// Of the runs of this user. How many had left any.
std::size_t remove_left_sockets() {
  const auto directory = supervisor::open_runtime_dir(supervisor::runtime_dir());
  if (!directory) return 0;  // there is none, or nothing in it is to be trusted
  const auto runs = supervisor::remove_stale_sockets(directory->get());
  for (const std::string& run : runs) {
    std::printf("removed the sockets of %s\n", report::printable(run).c_str());
  }
  return runs.size();
}

Result<int> reap(const ReapOptions& options) {
  auto hierarchies = cgroup::discover_hierarchies();
  if (!hierarchies) return pass(std::move(hierarchies));
  const Instant deadline = loop::now() + options.timeout.value_or(kReapPatience);
  bool all_gone = true;
  if (options.stale) {
    const auto swept = cgroup::sweep(cgroup::runs_anywhere(*hierarchies), cgroup::Orphaned::awaited,
                                     deadline, &loop::now);
    for (const cgroup::Swept& run : swept) all_gone = tell(run.name, run.remains) && all_gone;
    const auto abandoned = procfs::kill_abandoned(deadline, &loop::now);
    for (const procfs::Abandoned& run : abandoned) all_gone = tell(run) && all_gone;
    std::size_t removed = remove_left_paths(*hierarchies);
    removed += remove_left_sockets();
    if (swept.empty() && abandoned.empty() && removed == 0)
      std::printf("nothing was left behind\n");
  }
  for (const std::string& path : options.paths) {
    auto target = cgroup::find_reap_target(*hierarchies, path);
    if (!target) return pass(std::move(target));
    all_gone = tell(path, cgroup::destroy(target->parents, target->name, deadline, &loop::now)) &&
               all_gone;
  }
  return all_gone ? kSuccess : kSomethingLeft;
}

}  // namespace

int reap_command(int argc, char** argv) {
  ReapOptions options;
  CLI::App app("Kills all processes in cgroups and removes the cgroups.", "reap");
  app.footer(kReapFooter);
  app.add_option("PATH", options.paths, "Cgroups to reap");
  app.add_flag("--stale", options.stale, "Reap what killed runs of Plimsoll have left behind");
  add_parsed(app, "--timeout", options.timeout, parse_duration,
             "How long to wait for processes that do not die (default 30s)")
      ->type_name("DURATION");
  std::vector<std::string> arguments(argv + 1, argv + argc);
  if (const auto status = parse_or_exit_status(app, std::move(arguments))) return *status;
  if (options.paths.empty() && !options.stale) {
    complain("reap: no cgroup was named; give a PATH or --stale");
    return kPlimsollFailed;
  }
  auto status = reap(options);
  if (status) return *status;
  complain("reap: " + status.error().message());
  return kPlimsollFailed;
}

}  // namespace plimsoll::cli

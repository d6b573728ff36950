// plimsoll batch: many commands, each in a group of its own.
#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <system_error>

#include "base/text.h"
#include "cli/batch_files.h"
#include "cli/batch_options.h"
#include "cli/command/diagnostics.h"
#include "cli/command/exit_status.h"
#include "cli/command/process_mode.h"
#include "cli/commands.h"
#include "cli/governed_run.h"
#include "policy/job/attempt.h"
#include "policy/job/priority.h"
#include "report/plain.h"
#include "supervisor/host.h"
#include "supervisor/identity.h"
#include "supervisor/output/disk.h"
#include "supervisor/output/results.h"
#include "supervisor/run/batch_run.h"
#include "supervisor/run/disk_options.h"
#include "supervisor/run/pool_terms.h"
#include "supervisor/run/run_id.h"
#include "supervisor/wall_clock.h"

namespace plimsoll::cli {
namespace {

// Somebody who has typed `plimsoll batch` alone should know what it waits for.
void tell_of_terminal(const BatchOptions& options) {
  if (options.quiet || ::isatty(STDIN_FILENO) == 0) return;
  if (!jobfile::reads_standard_input(options.input)) return;
  complain(std::string("batch: reading ") + (options.input.words ? "arguments" : "commands") +
           " from the terminal, one per line; Ctrl-D ends the input (see `plimsoll batch --help`)");
}

Result<std::vector<policy::JobSpec>> read_jobs(const BatchOptions& options) {
  tell_of_terminal(options);
  auto input = jobfile::read_jobs(options.input);
  if (!input) return pass(std::move(input));
  for (const std::string& warning : input->warnings) {
    complain("batch: " + report::printable(warning));
  }
  if (input->jobs.empty() && !options.quiet) complain("batch: the input has no jobs");
  return std::move(input->jobs);
}

Result<int> print_commands(const BatchOptions& options, std::vector<policy::JobSpec> all) {
  const auto jobs = jobs_to_run(options, std::move(all));
  if (!jobs) return tl::unexpected(jobs.error());
  for (const policy::JobSpec& job : *jobs) {
    const std::string line = policy::command_line(job.command) + "\n";
    std::fwrite(line.data(), 1, line.size(), stdout);
  }
  return kSuccess;
}

supervisor::SupervisorConfig machine_config(const BatchOptions& options,
                                            const std::vector<policy::JobSpec>& jobs) {
  supervisor::SupervisorConfig config;
  config.run_id = supervisor::new_run_id(supervisor::wall_now());
  config.cgroup_path = options.cgroup_path;
  config.weight.run = options.governor.weight;
  for (const policy::JobSpec& job : jobs) {
    config.controllers = config.controllers | cgroup::controllers_for(policy::weighted_limits(job));
  }
  return config;
}

supervisor::BatchRunConfig batch_config(const BatchOptions& options,
                                        std::vector<policy::JobSpec> jobs,
                                        const std::string& run_id,
                                        const policy::GovernorConfig& governor) {
  supervisor::BatchRunConfig config;
  config.jobs = std::move(jobs);
  config.run_id = run_id;
  policy::QueueConfig& queue = config.scheduler.queue;
  queue.jobs_max = governor.jobs_max;
  queue.delay = options.delay.value_or(Duration{});
  queue.halt = options.halt;
  if (options.timeout) queue.timeout = *options.timeout;
  config.scheduler.governor = governor;
  // Who says one at a time means one after the other.
  const auto usual =
      options.governor.jobs_max == 1 ? policy::StartOrder::input : policy::StartOrder::longest;
  config.scheduler.governor.order = options.start_order.value_or(usual);
  std::error_code unknown;  // then its commands are of no place
  config.scheduler.directory = std::filesystem::current_path(unknown).string();
  if (options.kill_after) config.kill_after = *options.kill_after;
  config.output.order = options.order;
  if (options.report == "-") config.output.out = STDERR_FILENO;
  config.output.spool_dir = output::default_spool_dir();
  config.output.results_dir = options.results;
  config.output.results_durability = options.durability;
  config.tag = options.tag;
  return config;
}

// That fewer run than were asked for is no mistake, but seen as one if nobody says so.
void tell_few_descriptors(const BatchOptions& options, const policy::GovernorConfig& governor) {
  const auto asked = options.governor.jobs_max;
  if (options.quiet || !asked || *asked <= governor.jobs_max) return;
  const std::string most = governor.jobs_max == 1 ? "one job" : std::to_string(governor.jobs_max);
  complain("batch: running at most " + most + " at once instead of " + std::to_string(*asked) +
           ": the limit on open files is too low (`ulimit -Hn`)");
}

// It is taken at its word: a program may know better what its jobs wait for.
void tell_many_cores(const BatchOptions& options, const supervisor::Supervisor& supervisor) {
  const unsigned usable = supervisor::usable_cores(supervisor.hierarchies());
  if (options.quiet || options.governor.cores.value_or(0) <= usable) return;
  complain("batch: --cores is more than the " + counted(usable, "core", "cores") +
           " that Plimsoll may use here: jobs start as if there were that many cores, and "
           "share the real ones");
}

Result<int> run(const BatchOptions& options, std::vector<policy::JobSpec> jobs, BatchFiles files,
                guardian::Link link, std::vector<std::string> command_line) {
  const supervisor::SupervisorConfig machine_options = machine_config(options, jobs);
  auto supervisor = supervisor::Supervisor::create(std::move(link), machine_options);
  if (!supervisor) return pass(std::move(supervisor));
  const Verbosity verbosity = options.quiet ? Verbosity::quiet : Verbosity::normal;
  if (auto fits = announce(**supervisor, jobs, options.governor.weight, verbosity); !fits) {
    return pass(std::move(fits));
  }
  if (options.results) {
    // Before the run is recorded as one that has begun.
    auto results = output::Results::in(*options.results, options.durability);
    if (!results) return pass(std::move(results), "--results");
  }
  auto governor = supervisor::pool_governor(options.governor, **supervisor);
  if (!governor) return pass(std::move(governor));
  auto disks = supervisor::disk_floors(options.governor);
  if (!disks) return pass(std::move(disks));
  governor->disks = std::move(*disks);
  tell_few_descriptors(options, *governor);
  tell_many_cores(options, **supervisor);
  if (options.verbose && !options.quiet) {
    const std::string terms = supervisor::terms_text(
        supervisor::pool_terms(options.governor, *governor, supervisor::pool_facts(**supervisor)));
    std::fputs(("plimsoll: limits of all jobs together:\n" + terms).c_str(), stderr);
  }
  GovernedRun governed(**supervisor, options, std::move(files),
                       batch_config(options, std::move(jobs), machine_options.run_id, *governor),
                       std::move(command_line));
  return governed.run();
}

}  // namespace

int batch_command(int argc, char** argv) {
  std::vector<std::string> command_line = {"plimsoll"};
  command_line.insert(command_line.end(), argv, argv + argc);
  BatchOptions options;
  if (const auto status = parse_batch_options(options, argc, argv)) return *status;
  const auto failed = [](const Error& error) {
    complain("batch: " + error.message());
    return kPlimsollFailed;
  };
  // Only the guardian's process is in the terminal's foreground and can read what is typed;
  // anything longer is read after the split, so that it stays small.
  std::optional<Result<std::vector<policy::JobSpec>>> jobs;
  if (options.dry_run || ::isatty(STDIN_FILENO) != 0) jobs = read_jobs(options);
  if (options.dry_run) {
    auto printed = *jobs ? print_commands(options, std::move(**jobs)) : pass(std::move(*jobs));
    return printed ? *printed : failed(printed.error());
  }

  if (auto done = become_nice(options.nice); !done) return failed(done.error());
  auto link = guardian::become_guardian(nullptr, guardian::Begins::by_itself);
  if (!link) return failed(link.error());
  if (!jobs) jobs = read_jobs(options);
  if (!*jobs) return failed(jobs->error());
  if (const auto user = supervisor::Accounts().of(options.input.defaults.uid); !user) {
    return failed(Error{.what = "--uid: " + user.error().message()});
  }
  if (!link->heartbeat.begin()) return kCancelled;  // and is killed, if it is not yet
  auto files = BatchFiles::open(options, **jobs);
  if (!files) return failed(files.error());
  auto status =
      run(options, std::move(**jobs), std::move(*files), std::move(*link), std::move(command_line));
  return status ? *status : failed(status.error());
}

}  // namespace plimsoll::cli

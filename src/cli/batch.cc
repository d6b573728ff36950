// plimsoll batch: many commands, each in a group of its own.
#include <unistd.h>

#include <cstdio>

#include "cli/batch_files.h"
#include "cli/batch_options.h"
#include "cli/command.h"
#include "cli/diagnostics.h"
#include "cli/exit_status.h"
#include "cli/governed_run.h"
#include "cli/process_mode.h"
#include "engine/batch.h"
#include "engine/host.h"
#include "engine/wall_clock.h"
#include "output/disk.h"
#include "policy/attempt.h"
#include "policy/priority.h"
#include "record/json.h"
#include "record/summary.h"

namespace plimsoll::cli {
namespace {

Result<std::vector<policy::JobSpec>> read_jobs(const BatchOptions& options) {
  auto jobs = jobs::read_jobs(options.input);
  if (!jobs) return jobs;
  return jobs_to_run(options, std::move(*jobs));
}

int print_commands(const std::vector<policy::JobSpec>& jobs) {
  for (const policy::JobSpec& job : jobs) {
    const std::string line = policy::command_line(job.command) + "\n";
    std::fwrite(line.data(), 1, line.size(), stdout);
  }
  return kSuccess;
}

engine::MachineConfig machine_config(const BatchOptions& options,
                                     const std::vector<policy::JobSpec>& jobs) {
  engine::MachineConfig config;
  config.run_id = engine::new_run_id(engine::wall_now());
  config.cgroup_path = options.cgroup_path;
  for (const policy::JobSpec& job : jobs) {
    config.controllers = config.controllers | cgroup::controllers_for(policy::weighted_limits(job));
  }
  return config;
}

engine::BatchConfig batch_config(const BatchOptions& options, std::vector<policy::JobSpec> jobs,
                                 const std::string& run_id,
                                 const policy::GovernorConfig& governor) {
  engine::BatchConfig config;
  config.jobs = std::move(jobs);
  config.run_id = run_id;
  policy::QueueConfig& queue = config.conductor.queue;
  queue.jobs_max = governor.jobs_max;
  queue.delay = options.delay.value_or(Duration{});
  queue.halt = options.halt;
  if (options.timeout) queue.timeout = *options.timeout;
  config.conductor.governor = governor;
  if (options.kill_after) config.kill_after = *options.kill_after;
  config.output.order = options.order;
  config.output.spool_dir = output::default_spool_dir();
  config.output.results_dir = options.results;
  config.tag = options.tag;
  return config;
}

// That fewer run than were asked for is no mistake, but seen as one if nobody says so.
void tell_few_descriptors(const BatchOptions& options, const policy::GovernorConfig& governor) {
  const auto asked = options.governor.jobs_max;
  if (options.quiet || !asked || *asked <= governor.jobs_max) return;
  const std::string most = governor.jobs_max == 1 ? "one job" : std::to_string(governor.jobs_max);
  complain("batch: at most " + most + " at once instead of " + std::to_string(*asked) +
           ": the limit of descriptors is too low (`ulimit -Hn`)");
}

Result<int> run(const BatchOptions& options, std::vector<policy::JobSpec> jobs, BatchFiles files,
                guardian::Link link, std::vector<std::string> command_line) {
  const engine::MachineConfig machine_options = machine_config(options, jobs);
  auto machine = engine::Machine::create(std::move(link), machine_options);
  if (!machine) return pass(std::move(machine));
  const Verbosity verbosity = options.quiet ? Verbosity::quiet : Verbosity::normal;
  if (auto fits = announce(**machine, jobs, verbosity); !fits) return pass(std::move(fits));
  auto governor = engine::pool_governor(options.governor, **machine);
  if (!governor) return pass(std::move(governor));
  tell_few_descriptors(options, *governor);
  GovernedRun governed(**machine, options, std::move(files),
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
  if (options.dry_run) return *jobs ? print_commands(**jobs) : failed(jobs->error());

  auto link = guardian::become_guardian();
  if (!link) return failed(link.error());
  if (!jobs) jobs = read_jobs(options);
  if (!*jobs) return failed(jobs->error());
  auto files = BatchFiles::open(options);
  if (!files) return failed(files.error());
  auto status =
      run(options, std::move(**jobs), std::move(*files), std::move(*link), std::move(command_line));
  return status ? *status : failed(status.error());
}

}  // namespace plimsoll::cli

// plimsoll batch: many commands, each in a group of its own.
#include <unistd.h>

#include <cstdio>

#include "cli/batch_files.h"
#include "cli/batch_options.h"
#include "cli/command.h"
#include "cli/diagnostics.h"
#include "cli/exit_status.h"
#include "engine/batch.h"
#include "engine/host.h"
#include "output/disk.h"
#include "policy/attempt.h"
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
  config.run_id = engine::new_run_id(std::chrono::system_clock::now());
  config.cgroup_path = options.cgroup_path;
  for (const policy::JobSpec& job : jobs) {
    config.controllers = config.controllers | cgroup::controllers_for(job.limits);
  }
  return config;
}

engine::BatchConfig batch_config(const BatchOptions& options, std::vector<policy::JobSpec> jobs,
                                 const std::string& run_id, unsigned cores) {
  engine::BatchConfig config;
  config.jobs = std::move(jobs);
  config.run_id = run_id;
  config.queue.jobs_max = static_cast<unsigned>(options.jobs_at_once.value_or(cores));
  config.queue.delay = options.delay.value_or(Duration{});
  config.queue.halt = options.halt;
  if (options.timeout) config.queue.timeout = *options.timeout;
  if (options.kill_after) config.kill_after = *options.kill_after;
  config.output.order = options.order;
  config.output.spool_dir = output::default_spool_dir();
  config.output.results_dir = options.results;
  config.tag = options.tag;
  return config;
}

// What is listed unless --heaviest says otherwise: a glance.
constexpr std::size_t kHeaviestListed = 10;

engine::RunStatus status_of(const engine::Progress& progress, Duration elapsed,
                            const std::string& run) {
  engine::RunStatus status;
  status.run = run;
  status.elapsed = elapsed;
  status.jobs = {.total = progress.jobs,
                 .succeeded = progress.succeeded,
                 .failed = progress.failed,
                 .skipped = progress.skipped,
                 .running = progress.running};
  status.jobs.waiting =
      progress.jobs - progress.running - progress.succeeded - progress.failed - progress.skipped;
  return status;
}

// Where the display draws on the terminal that jobs write to as well, they write through it.
std::optional<output::Screen> screen_of(Display& display) {
  output::Screen screen{.print =
                            [&display](std::string piece, std::function<void(Result<void>)> done) {
                              display.print_above(std::move(piece), std::move(done));
                            },
                        .shows_out = display.owns(STDOUT_FILENO),
                        .shows_err = display.owns(STDERR_FILENO)};
  if (!screen.shows_out && !screen.shows_err) return std::nullopt;
  return screen;
}

// What people are told at the end, on standard error.
void print_end(const BatchOptions& options, const record::RunSummary& summary,
               const record::Digest& digest) {
  if (options.quiet) return;
  if (options.progress == ProgressStyle::json) {
    const std::string line = record::to_json(summary, record::JsonForm::line);
    std::fwrite(line.data(), 1, line.size(), stderr);
    return;
  }
  const record::TextStyle style = stderr_style();
  std::string text;
  if (!options.heaviest && digest.jobs() > 1) {
    text = record::heaviest_table(digest, record::Weight::memory, style);
  }
  if (options.heaviest) {
    for (const record::Weight weight :
         {record::Weight::memory, record::Weight::cpu, record::Weight::stall}) {
      text += record::heaviest_table(digest, weight, style);
    }
  }
  text += record::run_text(summary, digest, style);
  std::fwrite(text.data(), 1, text.size(), stderr);
}

Result<int> run(const BatchOptions& options, std::vector<policy::JobSpec> jobs, BatchFiles files,
                guardian::Link link) {
  const engine::MachineConfig machine_options = machine_config(options, jobs);
  auto machine = engine::Machine::create(std::move(link), machine_options);
  if (!machine) return pass(std::move(machine));

  record::Digest digest(options.heaviest.value_or(kHeaviestListed));
  engine::Progress progress;
  const Instant begun = loop::now();
  auto display = Display::start(
      (*machine)->loop(),
      {.style =
           options.progress.value_or(options.quiet ? ProgressStyle::none : *parse_progress("auto")),
       .begun = begun,
       .jobs = jobs.size(),
       .look = [&] { return status_of(progress, loop::now() - begun, machine_options.run_id); },
       .spec_of = {}});
  if (!display) return pass(std::move(display));
  engine::BatchObserver observer;
  observer.progress = [&](const engine::Progress& now) {
    progress = now;
    (*display)->changed();
  };
  observer.notice = [&](const std::string& text) { (*display)->note(text); };
  observer.ended = [&](const policy::JobSpec& job, const record::JobReport& report,
                       Bytes received) {
    digest.add(report);
    (*display)->ended(job, report);
    if (auto told = files.job_ended(job, report, received)) (*display)->note(*told);
  };

  engine::BatchConfig config = batch_config(options, std::move(jobs), machine_options.run_id,
                                            engine::usable_cores((*machine)->hierarchies()));
  config.output.screen = screen_of(**display);
  engine::Batch batch(**machine, std::move(config), std::move(observer));
  auto summary = batch.run();
  if (!summary) return pass(std::move(summary));
  if (auto told = files.run_ended(*summary)) (*display)->note(*told);
  (*display)->finish();
  print_end(options, *summary, digest);
  return policy::batch_exit_status(digest.jobs() - digest.succeeded());
}

}  // namespace

int batch_command(int argc, char** argv) {
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
  auto status = run(options, std::move(**jobs), std::move(*files), std::move(*link));
  return status ? *status : failed(status.error());
}

}  // namespace plimsoll::cli

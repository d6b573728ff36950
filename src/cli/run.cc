// plimsoll run: one command, measured and bounded.
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>

#include "base/quantity.h"
#include "cli/command/diagnostics.h"
#include "cli/command/exit_status.h"
#include "cli/command/options.h"
#include "cli/command/process_mode.h"
#include "cli/command/report_lines.h"
#include "cli/commands.h"
#include "cli/progress/terminal.h"
#include "cli/single_memory.h"
#include "kernel/counters/machine_span.h"
#include "report/buildkit.h"
#include "report/json.h"
#include "report/summary.h"
#include "store/history/state_dir.h"
#include "supervisor/host.h"
#include "supervisor/identity.h"
#include "supervisor/reporting.h"
#include "supervisor/run/lesson.h"
#include "supervisor/run/pool_options.h"
#include "supervisor/run/run_id.h"
#include "supervisor/run/single.h"
#include "supervisor/sharing/joined_job.h"
#include "supervisor/sharing/ledger_place.h"
#include "supervisor/system_record.h"
#include "supervisor/wall_clock.h"

namespace plimsoll::cli {
namespace {

enum class ReportFormat : std::uint8_t { plimsoll, buildkit };

struct RunOptions {
  policy::JobSpec job;
  std::optional<Duration> kill_after;
  std::optional<std::string> report;
  std::optional<ReportFormat> report_format;
  Durability durability = Durability::written;  // of the report
  std::optional<std::string> cgroup_path;
  std::optional<unsigned> weight;
  std::optional<std::int64_t> nice;
  Verbosity verbosity = Verbosity::normal;
  bool join = false;
  std::vector<std::string> command_line;  // of Plimsoll
};

constexpr const char* kRunFooter = R"(Examples:
  plimsoll run -- make -j8
  plimsoll run --memory-max 2G --timeout 10m --report build.json -- ./build.sh
  plimsoll run --cpus 1.5 --pids-max 200 ./test | less
  plimsoll run --report usage.json --report-format buildkit -- make
  make CC='plimsoll run --join -q -- gcc'

A command that takes 250 ms or more, fails, or has a --class is added to the history (`plimsoll
history`) and recorded (`plimsoll runs`); with --join it is only added to the history.

Exit status: that of the command; 128+n if signal n ended it, 124 if it timed out, 137 if it
exceeded its memory limit, 75 if it was killed because the machine was out of memory, 125 if
Plimsoll itself failed, 126 and 127 as in a shell.
)";

Result<ReportFormat> parse_report_format(std::string_view text) {
  if (text == "plimsoll") return ReportFormat::plimsoll;
  if (text == "buildkit") return ReportFormat::buildkit;
  return fail("found \"" + std::string(text) + "\", expected plimsoll or buildkit");
}

std::optional<int> parse(RunOptions& options, int argc, char** argv) {
  CLI::App app("Runs one command in a cgroup of its own.", "run");
  app.footer(kRunFooter);
  app.prefix_command();
  add_job_options(app, options.job);
  add_parsed(app, "--timeout", options.job.timeout, parse_duration_above_zero,
             "Maximum time of the command (10s, 5m); after that it is sent TERM")
      ->type_name("DURATION");
  add_parsed(app, "--kill-after", options.kill_after, parse_duration,
             "Time between that TERM and KILL for all its processes (default 5s)")
      ->type_name("DURATION");
  auto* report = app.add_option("--report", options.report,
                                "File for the report as JSON; - is standard output, and the "
                                "output of the command then goes to standard error")
                     ->type_name("FILE");
  add_parsed(app, "--report-format", options.report_format, parse_report_format,
             "Format of the report: Plimsoll's own (default), or that of BuildKit's provenance")
      ->type_name("plimsoll|buildkit")
      ->needs(report);
  app.add_flag_callback(
         "--sync", [&options] { options.durability = Durability::synced; },
         "Force the report to the disk, so that it survives a power failure")
      ->needs(report);
  add_parsed(app, "--weight", options.weight, parse_weight,
             "Share of the CPUs and disks that the command gets in competition with the rest of "
             "the machine (1 to 10000; default 100); it is multiplied with --cpu-weight, "
             "--io-weight and the nice value")
      ->type_name("N");
  add_nice_option(app, options.nice);
  add_cgroup_option(app, options.cgroup_path);
  app.add_flag("--join", options.join,
               "Share memory and cores with the daemon and the batches of this machine: wait until "
               "they leave what earlier commands of this class have needed, or else what "
               "--memory-hint or --memory-max says, or else a fair share");
  app.add_flag_callback(
      "-q,--quiet", [&] { options.verbosity = Verbosity::quiet; },
      "Print no summary on standard error");
  app.add_flag_callback(
      "-v,--verbose", [&] { options.verbosity = Verbosity::verbose; },
      "Also print why figures are missing");

  SplitArguments split = split_at_dashes(argc, argv);
  const args::Wording wording{.called = {}, .further_usage = {}, .followed_by = split.next()};
  if (const auto status = parse_or_exit_status(app, std::move(split.options), nullptr, wording)) {
    return status;
  }
  std::vector<std::string> command = app.remaining();
  if (split.command) {
    // After the command's first word, `--` is its own.
    if (!command.empty()) command.emplace_back("--");
    command.insert(command.end(), split.command->begin(), split.command->end());
  }
  if (command.empty()) {
    complain("run: no command was given; see `plimsoll run --help`");
    return kPlimsollFailed;
  }
  options.job.command = std::move(command);
  options.job.id = JobId{1};
  options.job.name = "1";
  return std::nullopt;
}

std::string report_text(const report::JobReport& report, ReportFormat format,
                        const std::vector<counters::SystemSample>& system) {
  if (format == ReportFormat::plimsoll) return report::to_json(report, report::JsonForm::pretty);
  return report::to_buildkit_json({.usage = report.usage.value_or(counters::JobUsage()),
                                   .machine = report.machine ? report.machine->cpu : std::nullopt,
                                   .system = system});
}

// Whether it is there.
bool write_report(report::OutputFile& file, const std::string& text) {
  auto wrote = file.append(text);
  if (wrote) wrote = file.finish();
  if (!wrote) complain("run: --report: " + wrote.error().message());
  return wrote.has_value();
}

// Where no summary tells it: how the command ended, or why it never began.
void complain_of_end(const supervisor::AttemptResult& ended) {
  switch (ended.end.outcome) {
    case policy::Outcome::exited: return;
    case policy::Outcome::signalled:
    case policy::Outcome::over_limit:
    case policy::Outcome::machine_oom:
    case policy::Outcome::timed_out: return complain("the command " + ended.reason);
    case policy::Outcome::over_line:
    case policy::Outcome::evicted:
    case policy::Outcome::cancelled:
    case policy::Outcome::failed_to_start:
    case policy::Outcome::skipped: return complain(ended.reason);
  }
}

void print_summary(const report::JobReport& report, Verbosity verbosity) {
  if (verbosity == Verbosity::quiet) return;
  report::TextStyle style = style_of(STDERR_FILENO);
  if (verbosity == Verbosity::verbose) style.detail = report::Detail::verbose;
  const std::string text = report::job_summary(report, style);
  std::fwrite(text.data(), 1, text.size(), stderr);
}

// What earlier commands of its class have needed goes before what the user said of it.
supervisor::JobNeed need_of(const policy::JobSpec& job) {
  supervisor::JobNeed need{
      .memory = job.memory_hint.value_or(job.limits.memory_max.value_or(Bytes{})),
      .cores = job.cpu_hint.value_or(job.limits.cpus.value_or(1))};
  const auto directory = history::state_dir(history::state_environment());
  if (!directory) return need;
  const auto past = supervisor::recall(*directory, job);
  if (!past) return need;
  need.memory =
      std::min(to_bytes(past->peak.mean), job.limits.memory_max.value_or(Bytes{UINT64_MAX}));
  if (!job.cpu_hint) need.cores = past->cores.mean;
  return need;
}

// What a batch that is told nothing would have here.
Result<policy::Share> whole_of(const supervisor::Supervisor& supervisor) {
  auto governor = supervisor::pool_governor({}, supervisor);
  if (!governor) return pass(std::move(governor));
  return policy::Share{.line = governor->line, .cores = governor->cores};
}

Result<std::unique_ptr<supervisor::JoinedJob>> join(supervisor::Supervisor& supervisor,
                                                    const std::string& run_id,
                                                    const supervisor::JobNeed& need) {
  auto whole = whole_of(supervisor);
  if (!whole) return pass(std::move(whole));
  auto ledger = supervisor::Ledger::join(supervisor::open_ledger(), run_id);
  if (!ledger) return pass(std::move(ledger), "--join");
  return std::make_unique<supervisor::JoinedJob>(supervisor, std::move(*ledger), *whole, need);
}

// What is told and looked at while the command runs.
class RunWatcher : public supervisor::SingleObserver, public supervisor::SystemObserver {
 public:
  // Null: it is alone.
  RunWatcher(supervisor::JoinedJob* joined, const counters::SystemSample& machine)
      : joined_(joined), span_(machine) {}
  void on_stuck(const reap::Stuck& stuck) override { complain_of_stuck(stuck); }
  void on_sampled(const counters::Sample& sample) override {
    if (joined_ != nullptr) joined_->look(sample);
  }
  void on_system_sample(const counters::SystemSample& sample) override { span_.observe(sample); }

  [[nodiscard]] counters::MachineUsage machine() const { return span_.usage(); }

 private:
  supervisor::JoinedJob* joined_;
  counters::MachineSpan span_;
};

// A command that has caught the signal and ended in its own way has its say.
int end_as(const supervisor::AttemptResult& ended, supervisor::Supervisor& supervisor) {
  const auto asked = supervisor.asked_to_end();
  const bool of_it = ended.end.outcome == policy::Outcome::signalled && ended.end.signal == asked;
  return asked && of_it ? supervisor.die_of(*asked) : exit_status_of(ended);
}

// Whoever is somebody else gets one without the caller's terminal.
guardian::Session session_for(const std::optional<supervisor::Account>& user) {
  const bool is_another = user && user->is_another();
  return is_another ? guardian::Session::own : guardian::Session::shared;
}

supervisor::AttemptRequest attempt_request(const RunOptions& options,
                                           const std::optional<supervisor::Account>& user) {
  supervisor::AttemptRequest request = supervisor::request_for(options.job, "job-1", user);
  if (options.kill_after) request.kill_after = *options.kill_after;
  if (options.report == "-") request.spawn.stdio[1] = STDERR_FILENO;
  return request;
}

supervisor::SupervisorConfig machine_config(const RunOptions& options, guardian::Session session) {
  supervisor::SupervisorConfig config;
  config.run_id = supervisor::new_run_id(supervisor::wall_now());
  config.cgroup_path = options.cgroup_path;
  config.controllers = cgroup::controllers_for(options.job.limits);
  // Within the run the job has nobody beside it.
  config.weight = {.run = options.weight,
                   .cpu = options.job.limits.cpu_weight,
                   .io = options.job.limits.io_weight};
  config.session = session;
  return config;
}

SingleStart start_of(const RunOptions& options, const std::string& run_id,
                     const supervisor::Supervisor& supervisor, WallTime started) {
  const auto whole = whole_of(supervisor);
  return {.kind = options.join ? SingleKind::step : SingleKind::run,
          .run_id = run_id,
          .command_line = options.command_line,
          .started = started,
          .begun = loop::now(),
          .whole = whole ? std::optional(*whole) : std::nullopt};
}

Result<int> run(const RunOptions& options, guardian::Link link) {
  // Where nothing can be written that is found out before the command starts.
  auto report_file =
      open_report_file(options.report, report::Unfinished::remove, options.durability);
  if (!report_file) return pass(std::move(report_file));
  const auto user = supervisor::Accounts().of(options.job.uid);
  if (!user) return pass(Result<std::optional<supervisor::Account>>(user), "--uid");
  const guardian::Session session = session_for(*user);
  const supervisor::SupervisorConfig config = machine_config(options, session);
  auto supervisor = supervisor::Supervisor::create(std::move(link), config);
  if (!supervisor) return pass(std::move(supervisor));
  if (auto fits = announce(**supervisor, {options.job}, options.weight, options.verbosity); !fits) {
    return pass(std::move(fits));
  }
  supervisor::AttemptRequest request = attempt_request(options, *user);
  auto terminal = supervisor::TerminalGuard::over(request.spawn, session);
  if (!terminal) return pass(std::move(terminal), "--uid");

  std::unique_ptr<supervisor::JoinedJob> joined;
  if (options.join) {
    const supervisor::JobNeed need = need_of(options.job);
    auto made = join(**supervisor, config.run_id, need);
    if (!made) return pass(std::move(made));
    joined = std::move(*made);
    const auto signal = joined->await_room([&options, &need] {
      if (options.verbosity == Verbosity::quiet) return;
      complain("run: the command waits until other runs leave it " + format_bytes(need.memory));
    });
    if (!signal) return pass(Result<std::optional<int>>(signal));
    if (*signal) return (*supervisor)->die_of(**signal);
  }

  supervisor::SystemRecord system((*supervisor)->loop());
  RunWatcher watcher(joined.get(), system.now());
  system.tell(&watcher);
  const WallTime queued = supervisor::wall_now();
  SingleMemory memory((*supervisor)->loop(), options.job,
                      start_of(options, config.run_id, **supervisor, queued), options.verbosity);
  if (joined != nullptr) request.sampled_for = supervisor::SampledFor::decisions;
  auto ended = supervisor::run_single(**supervisor, std::move(request), watcher);
  if (!ended) return pass(std::move(ended));
  watcher.on_system_sample(*system.finish().last());
  if (!ended->ipc_left.empty()) complain("run: " + supervisor::ipc_text(ended->ipc_left));
  if (const auto text = supervisor::got_away_text(ended->left_behind); !text.empty()) {
    complain("run: " + text);
  }
  if (ended->group_left) complain("run: " + supervisor::left_group_text(*ended->group_left));

  const report::JobReport report =
      supervisor::report_of({.job = options.job,
                             .queued = queued,
                             .attempts = {supervisor::short_report_of(*ended)},
                             .last = &*ended,
                             .outcome = ended->end.outcome,
                             .reason = ended->reason,
                             .machine = watcher.machine()},
                            supervisor::describe_host(**supervisor));
  print_summary(report, options.verbosity);
  if (options.verbosity == Verbosity::quiet) complain_of_end(*ended);
  memory.ended(*ended, report, system.series().points());
  if (*report_file) {
    const auto format = options.report_format.value_or(ReportFormat::plimsoll);
    const std::string text = report_text(report, format, system.series().points());
    // The status of a command that failed is what the caller waits for, even then.
    if (!write_report(**report_file, text) && exit_status_of(*ended) == 0) return kPlimsollFailed;
  }
  return end_as(*ended, **supervisor);
}

}  // namespace

int run_command(int argc, char** argv) {
  RunOptions options;
  options.command_line = {"plimsoll"};
  options.command_line.insert(options.command_line.end(), argv, argv + argc);
  if (const auto status = parse(options, argc, argv)) return *status;
  if (auto done = become_nice(options.nice); !done) {
    complain("run: " + done.error().message());
    return kPlimsollFailed;
  }
  auto link = guardian::become_guardian();
  auto status = link ? run(options, std::move(*link)) : Result<int>(pass(std::move(link)));
  if (status) return *status;
  complain("run: " + status.error().message());
  return kPlimsollFailed;
}

}  // namespace plimsoll::cli

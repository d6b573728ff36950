// plimsoll run: one command, measured and bounded.
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>

#include "base/quantity.h"
#include "cli/command.h"
#include "cli/diagnostics.h"
#include "cli/exit_status.h"
#include "cli/options.h"
#include "cli/process_mode.h"
#include "engine/host.h"
#include "engine/identity.h"
#include "engine/joined_job.h"
#include "engine/ledger_place.h"
#include "engine/pool_options.h"
#include "engine/reporting.h"
#include "engine/single.h"
#include "engine/system_record.h"
#include "engine/wall_clock.h"
#include "measure/machine_span.h"
#include "record/buildkit.h"
#include "record/json.h"
#include "record/summary.h"
#include "record/writer.h"

namespace plimsoll::cli {
namespace {

enum class ReportFormat : std::uint8_t { plimsoll, buildkit };

struct RunOptions {
  policy::JobSpec job;
  std::optional<Duration> kill_after;
  std::optional<std::string> report;
  std::optional<ReportFormat> report_format;
  std::optional<std::string> cgroup_path;
  Verbosity verbosity = Verbosity::normal;
  bool join = false;
};

constexpr const char* kRunFooter = R"(Examples:
  plimsoll run -- make -j8
  plimsoll run --memory-max 2G --timeout 10m --report build.json -- ./build.sh
  plimsoll run --cpus 1.5 --pids-max 200 ./test | less
  plimsoll run --report usage.json --report-format buildkit -- make

The command's exit status passes through; 128+n when signal n ended it, 124 timed out, 137 over
its memory limit, 75 lost to a machine out of memory, 125 Plimsoll itself failed, 126 and 127 as in
a shell.
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
  add_parsed(app, "--timeout", options.job.timeout, parse_duration,
             "How long it may take; then it is sent TERM (10s, 5m)");
  add_parsed(app, "--kill-after", options.kill_after, parse_duration,
             "From that TERM to the kill of everything (5s)");
  auto* report = app.add_option("--report", options.report,
                                "File for the report as JSON; - is standard output, and the "
                                "command's own goes to standard error");
  add_parsed(app, "--report-format", options.report_format, parse_report_format,
             "plimsoll, or buildkit: what BuildKit's provenance says of a step (plimsoll)")
      ->needs(report);
  app.add_option("--cgroup", options.cgroup_path,
                 "Group to work below, as a path from the root of each hierarchy; none: without "
                 "groups (process mode)")
      ->envname("PLIMSOLL_CGROUP");
  app.add_flag(
      "--join", options.join,
      "Share memory and cores with the daemon and the batches of this machine: wait until "
      "they leave what --memory-hint (or --memory-max) says that it needs, or a fair share");
  app.add_flag_callback(
      "-q,--quiet", [&] { options.verbosity = Verbosity::quiet; }, "No summary on standard error");
  app.add_flag_callback(
      "-v,--verbose", [&] { options.verbosity = Verbosity::verbose; },
      "Also why figures are missing");

  SplitArguments split = split_at_dashes(argc, argv);
  if (const auto status = parse_or_exit_status(app, std::move(split.options))) return status;
  std::vector<std::string> command = app.remaining();
  if (!command.empty() && command.front().starts_with('-')) {
    complain("run: there is no option \"" + command.front() +
             "\"; `plimsoll run --help` lists them");
    return kPlimsollFailed;
  }
  if (split.command) {
    // After the command's first word, `--` is its own.
    if (!command.empty()) command.emplace_back("--");
    command.insert(command.end(), split.command->begin(), split.command->end());
  }
  if (command.empty()) {
    complain("run: no command given; `plimsoll run --help` tells more");
    return kPlimsollFailed;
  }
  options.job.command = std::move(command);
  options.job.name = "1";
  return std::nullopt;
}

std::string report_text(const record::JobReport& report, ReportFormat format,
                        const std::vector<measure::SystemSample>& system) {
  if (format == ReportFormat::plimsoll) return record::to_json(report, record::JsonForm::pretty);
  return record::to_buildkit_json({.usage = report.usage.value_or(measure::JobUsage()),
                                   .machine = report.machine ? report.machine->cpu : std::nullopt,
                                   .system = system});
}

Result<void> write_report(const std::string& path, const std::string& text) {
  if (path != "-") return record::write_file(path, text);
  auto out = record::OutputFile::onto(UniqueFd(::dup(STDOUT_FILENO)), "standard output");
  return out.append(text);
}

void print_summary(const record::JobReport& report, Verbosity verbosity) {
  if (verbosity == Verbosity::quiet) return;
  record::TextStyle style = stderr_style();
  if (verbosity == Verbosity::verbose) style.detail = record::Detail::verbose;
  const std::string text = record::job_summary(report, style);
  std::fwrite(text.data(), 1, text.size(), stderr);
}

engine::JobNeed need_of(const policy::JobSpec& job) {
  return {.memory = job.memory_hint.value_or(job.limits.memory_max.value_or(Bytes{})),
          .cores = job.cpu_hint.value_or(job.limits.cpus.value_or(1))};
}

Result<std::unique_ptr<engine::JoinedJob>> join(const RunOptions& options, engine::Machine& machine,
                                                const std::string& run_id) {
  auto whole = engine::pool_governor({}, machine);
  if (!whole) return pass(std::move(whole));
  auto ledger = engine::Ledger::join(engine::open_ledger(), run_id);
  if (!ledger) return pass(std::move(ledger), "--join");
  return std::make_unique<engine::JoinedJob>(
      machine, std::move(*ledger), policy::Share{.line = whole->line, .cores = whole->cores},
      need_of(options.job));
}

std::function<void(const measure::Sample&)> looks_of(engine::JoinedJob* joined) {
  if (joined == nullptr) return {};
  return [joined](const measure::Sample& sample) { joined->look(sample); };
}

Result<int> run(const RunOptions& options, guardian::Link link) {
  engine::MachineConfig config;
  config.run_id = engine::new_run_id(engine::wall_now());
  config.cgroup_path = options.cgroup_path;
  config.controllers = cgroup::controllers_for(options.job.limits);
  auto machine = engine::Machine::create(std::move(link), config);
  if (!machine) return pass(std::move(machine));
  if (auto fits = announce(**machine, {options.job}, options.verbosity); !fits) {
    return pass(std::move(fits));
  }

  std::optional<guardian::Identity> identity;
  if (!options.job.uid.empty()) {
    auto found = engine::find_identity(options.job.uid);
    if (!found) return pass(std::move(found), "--uid");
    identity = std::move(*found);
  }
  engine::AttemptRequest request = engine::request_for(options.job, "job-1", identity);
  if (options.kill_after) request.kill_after = *options.kill_after;
  if (options.report == "-") request.spawn.stdio[1] = STDERR_FILENO;

  std::unique_ptr<engine::JoinedJob> joined;
  if (options.join) {
    auto made = join(options, **machine, config.run_id);
    if (!made) return pass(std::move(made));
    joined = std::move(*made);
    const auto signal = joined->await_room([&options] {
      if (options.verbosity == Verbosity::quiet) return;
      complain("run: waits until other runs leave it " + format_bytes(need_of(options.job).memory));
    });
    if (!signal) return pass(Result<std::optional<int>>(signal));
    if (*signal) return kSignalBase + **signal;
  }

  engine::SystemRecord system(**machine);
  measure::MachineSpan span(system.now());
  system.on_sample([&span](const measure::SystemSample& sample) { span.observe(sample); });
  const WallTime queued = engine::wall_now();
  auto ended = engine::run_single(**machine, std::move(request),
                                  {.stuck = complain_of_stuck, .looked = looks_of(joined.get())});
  if (!ended) return pass(std::move(ended));
  span.observe(*system.finish().last());

  const record::JobReport report = engine::report_of({.job = options.job,
                                                      .queued = queued,
                                                      .attempts = {engine::short_report_of(*ended)},
                                                      .last = &*ended,
                                                      .outcome = ended->end.outcome,
                                                      .reason = ended->reason,
                                                      .machine = span.usage()},
                                                     engine::describe_host(**machine));
  print_summary(report, options.verbosity);
  if (ended->end.outcome != policy::Outcome::exited && options.verbosity == Verbosity::quiet) {
    complain(ended->reason);
  }
  if (options.report) {
    const auto format = options.report_format.value_or(ReportFormat::plimsoll);
    const std::string text = report_text(report, format, system.series().points());
    if (auto wrote = write_report(*options.report, text); !wrote) {
      return pass(std::move(wrote), "--report");
    }
  }
  return exit_status_of(*ended);
}

}  // namespace

int run_command(int argc, char** argv) {
  RunOptions options;
  if (const auto status = parse(options, argc, argv)) return *status;
  auto link = guardian::become_guardian();
  auto status = link ? run(options, std::move(*link)) : Result<int>(pass(std::move(link)));
  if (status) return *status;
  complain("run: " + status.error().message());
  return kPlimsollFailed;
}

}  // namespace plimsoll::cli

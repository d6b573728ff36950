// plimsoll run: one command, measured and bounded.
#include <unistd.h>

#include <cstdio>
#include <cstdlib>

#include "cli/command.h"
#include "cli/diagnostics.h"
#include "cli/exit_status.h"
#include "cli/options.h"
#include "engine/host.h"
#include "engine/identity.h"
#include "engine/reporting.h"
#include "engine/single.h"
#include "measure/machine_span.h"
#include "measure/system_sampler.h"
#include "record/json.h"
#include "record/summary.h"
#include "record/writer.h"

namespace plimsoll::cli {
namespace {

enum class Verbosity : std::uint8_t { quiet, normal, verbose };

struct RunOptions {
  policy::JobSpec job;
  std::optional<Duration> kill_after;
  std::optional<std::string> report;
  std::optional<std::string> cgroup_path;
  Verbosity verbosity = Verbosity::normal;
};

constexpr const char* kFooter = R"(Examples:
  plimsoll run -- make -j8
  plimsoll run --memory-max 2G --timeout 10m --report build.json -- ./build.sh
  plimsoll run --cpus 1.5 --pids-max 200 ./test | less

The command's exit status passes through; 128+n when signal n ended it, 124 timed out, 137 over
its memory limit, 75 lost to a machine out of memory, 125 Plimsoll itself failed, 126 and 127 as in
a shell.
)";

std::optional<int> parse(RunOptions& options, int argc, char** argv) {
  CLI::App app("Runs one command in a cgroup of its own.", "run");
  app.footer(kFooter);
  app.prefix_command();
  add_job_options(app, options.job);
  add_parsed(app, "--timeout", options.job.timeout, parse_duration,
             "How long it may take; then it is sent TERM (10s, 5m)");
  add_parsed(app, "--kill-after", options.kill_after, parse_duration,
             "From that TERM to the kill of everything (5s)");
  app.add_option("--report", options.report,
                 "File for the report as JSON; - is standard output, and the command's own goes to "
                 "standard error");
  app.add_option("--cgroup", options.cgroup_path,
                 "Group to work below, as a path from the root of each hierarchy")
      ->envname("PLIMSOLL_CGROUP");
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

Result<void> write_report(const std::string& path, const record::JobReport& report) {
  const std::string text = record::to_json(report, record::JsonForm::pretty);
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

Result<int> run(const RunOptions& options, guardian::Link link) {
  engine::MachineConfig config;
  config.run_id = engine::new_run_id(std::chrono::system_clock::now());
  config.cgroup_path = options.cgroup_path;
  config.controllers = cgroup::controllers_for(options.job.limits);
  auto machine = engine::Machine::create(std::move(link), config);
  if (!machine) return pass(std::move(machine));

  std::optional<guardian::Identity> identity;
  if (!options.job.uid.empty()) {
    auto found = engine::find_identity(options.job.uid);
    if (!found) return pass(std::move(found), "--uid");
    identity = std::move(*found);
  }
  engine::AttemptRequest request = engine::request_for(options.job, "job-1", identity);
  if (options.kill_after) request.kill_after = *options.kill_after;
  if (options.report == "-") request.spawn.stdio[1] = STDERR_FILENO;

  measure::SystemSampler system;
  measure::MachineSpan span(system.sample(loop::now(), std::chrono::system_clock::now()));
  const WallTime queued = std::chrono::system_clock::now();
  auto ended = engine::run_single(**machine, std::move(request), complain_of_stuck);
  if (!ended) return pass(std::move(ended));
  span.observe(system.sample(loop::now(), std::chrono::system_clock::now()));

  const record::JobReport report =
      engine::report_of({.job = options.job,
                         .queued = queued,
                         .attempts = {engine::short_report_of(*ended)},
                         .last = &*ended,
                         .outcome = ended->end.outcome,
                         .reason = ended->reason,
                         .machine = span.usage()},
                        engine::describe_host((*machine)->hierarchies().layout()));
  print_summary(report, options.verbosity);
  if (ended->end.outcome != policy::Outcome::exited && options.verbosity == Verbosity::quiet) {
    complain(ended->reason);
  }
  if (options.report) {
    if (auto wrote = write_report(*options.report, report); !wrote) {
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

#include "cli/batch_options.h"

#include "base/text.h"
#include "cli/diagnostics.h"
#include "cli/exit_status.h"
#include "cli/options.h"

namespace plimsoll::cli {
namespace {

constexpr const char* kFooter =
    R"(Job files hold one shell command a line, or one JSON object a line with "id", "argv" or
"shell", "cwd", "env", "needs", limits and more. After "--" stand a command and its arguments as
for GNU parallel: {} {.} {/} {//} {#} {%} {1}; sources are ::: (all combinations), :::+ (in step)
and :::: FILE.

Examples:
  plimsoll batch jobs.txt
  find . -name '*.log' -print0 | plimsoll batch -0 -- gzip -k {}
  plimsoll batch -j4 --joblog log -- convert {1} -resize {2} {1.}-{2}.png ::: *.jpg ::: 320 640
  plimsoll batch --joblog log --resume jobs.txt
  plimsoll batch --halt now,fail=1 --report run.jsonl --results out jobs.jsonl

Exit status: how many jobs did not succeed, 101 for more than 100; 125 if Plimsoll itself failed.
)";

Result<std::uint64_t> parse_small_count(std::string_view text) {
  const auto number = to_u64(text);
  constexpr std::uint64_t kCountMax = 1'000'000;
  if (!number || *number < 1 || *number > kCountMax) {
    return fail("found \"" + std::string(text) + "\", expected a number from 1 to 1000000");
  }
  return *number;
}

Result<policy::TimeoutPolicy> parse_timeout(std::string_view text) {
  if (text.ends_with('%')) {
    const auto percent = to_double(text.substr(0, text.size() - 1));
    if (percent && *percent > 0) return policy::TimeoutPolicy(policy::MedianPercent{*percent});
  } else if (const auto duration = parse_duration(text)) {
    return policy::TimeoutPolicy(*duration);
  }
  return fail("found \"" + std::string(text) +
              "\", expected a duration such as 10s, or a share of the median such as 300%");
}

Result<output::Order> parse_order(std::string_view text) {
  if (text == "group") return output::Order::group;
  if (text == "line") return output::Order::line;
  if (text == "ordered") return output::Order::ordered;
  return fail("found \"" + std::string(text) + "\", expected group, line or ordered");
}

Result<jobs::Format> parse_format(std::string_view text) {
  if (text == "text") return jobs::Format::text;
  if (text == "jsonl") return jobs::Format::jsonl;
  return fail("found \"" + std::string(text) + "\", expected text or jsonl");
}

void add_input_options(CLI::App& app, jobs::InputOptions& input) {
  app.add_option("FILE", input.file, "Job file; - or nothing is standard input");
  add_parsed(app, "--format", input.format, parse_format,
             "text or jsonl; otherwise by the first line");
  app.add_option("-a,--arg-file", input.argument_files, "File with one argument a line")
      ->allow_extra_args(false);
  app.add_flag_callback(
      "-0,--null", [&] { input.separator = jobs::Separator::nul; },
      "Lines of input end with a NUL byte");
  app.add_option("--colsep", input.colsep,
                 "Regular expression that splits a line into {1} {2} ...");
  app.add_option("-n,--max-args", input.max_args, "Arguments for one command");
}

void add_schedule_options(CLI::App& app, BatchOptions& options) {
  add_parsed(app, "-j,--jobs", options.governor.jobs_max, parse_small_count,
             "Most jobs at once; how many really run is the governor's choice");
  add_governor_options(app, options.governor);
  app.add_flag("--standalone", options.standalone,
               "Use the whole line, whoever else shares it: the daemon and other runs");
  add_parsed(app, "--delay", options.delay, parse_duration, "Least time between two starts");
  app.add_option("--retries", options.input.defaults.retries,
                 "Further attempts of a job that failed");
  add_parsed(app, "--timeout", options.timeout, parse_timeout,
             "How long a job may take: 10m, or 300% of the median");
  add_parsed(app, "--kill-after", options.kill_after, parse_duration,
             "From a time-out's TERM to the kill (5s)");
  add_parsed(app, "--halt", options.halt, policy::parse_halt,
             "When to stop: now|soon,fail|success|done=N|N%");
}

void add_output_options(CLI::App& app, BatchOptions& options) {
  app.add_option_function<std::string>(
         "--output", [&](const std::string& text) { options.order = *parse_order(text); },
         "group: job by job as they end; line: as lines come; ordered: in order of input")
      ->check([](const std::string& text) {
        const auto order = parse_order(text);
        return order ? std::string() : order.error().message();
      });
  app.add_flag_callback(
      "-k,--keep-order", [&] { options.order = output::Order::ordered; }, "--output ordered");
  app.add_flag_callback(
      "--line-buffer", [&] { options.order = output::Order::line; }, "--output line");
  app.add_flag("--tag", options.tag, "Put each job's arguments before its lines");
  app.add_option("--results", options.results, "Directory for the output of each job as well");
  app.add_option("--report", options.report,
                 "File for the report: JSON lines, a job each and last the run; - is stdout");
  add_parsed(app, "--progress", options.progress, parse_progress, "auto, plain, json or none");
  add_parsed(app, "--heaviest", options.heaviest, parse_small_count,
             "At the end, tables of the N heaviest jobs (10 by memory)");
  app.add_flag("-q,--quiet", options.quiet,
               "No summary on standard error, and no progress unless asked for");
  app.add_flag("-v,--verbose", options.verbose,
               "At the end, also how good the estimates were and why figures are missing");
  app.add_flag("--dry-run", options.dry_run, "Print the commands and run none");
}

void add_log_options(CLI::App& app, BatchOptions& options) {
  app.add_option("--joblog", options.joblog, "Job log, in the columns of GNU parallel");
  const auto again = [&](const char* name, Again value, const char* help) {
    app.add_flag_callback(
           name, [&options, value] { options.again = value; }, help)
        ->needs("--joblog");
  };
  again("--resume", Again::unlogged, "Leave out the jobs that the job log has");
  again("--resume-failed", Again::failed_as_well, "The same, but run those again that failed");
  again("--retry-failed", Again::failed_alone, "Run those of the job log that failed, no others");
}

}  // namespace

std::optional<int> parse_batch_options(BatchOptions& options, int argc, char** argv) {
  CLI::App app("Runs many commands, each in a cgroup of its own.", "batch");
  app.footer(kFooter);
  add_input_options(app, options.input);
  add_schedule_options(app, options);
  add_output_options(app, options);
  add_log_options(app, options);
  app.add_option("--cgroup", options.cgroup_path,
                 "Group to work below, as a path from the root of each hierarchy; none: without "
                 "groups (process mode)")
      ->envname("PLIMSOLL_CGROUP");
  CLI::App& job = *app.add_option_group("Each job");
  add_job_options(job, options.input.defaults);

  SplitArguments split = split_at_dashes(argc, argv);
  options.input.words = std::move(split.command);
  return parse_or_exit_status(app, std::move(split.options));
}

}  // namespace plimsoll::cli

#include "cli/batch_options.h"

#include <algorithm>
#include <climits>

#include "base/text.h"
#include "cli/command/diagnostics.h"
#include "cli/command/exit_status.h"
#include "cli/command/jobs_at_once.h"
#include "cli/command/options.h"
#include "cli/parallel_options.h"
#include "jobfile/sources.h"

namespace plimsoll::cli {
namespace {

constexpr const char* kFooter =
    R"(A job file has one shell command per line, or one JSON object per line with
"id", "argv" or "shell", "cwd", "env", "needs", limits and more. After "--" come
a command and the values of its arguments, as for GNU parallel: the command
names them as {} {.} {/} {//} {#} {%} {1}; the values follow ::: (combined with
those of other sources) or :::+ (in step with the source before), or are the
lines of a file after :::: FILE. Without values, they are the lines of standard
input.

The jobs that are expected to take longest start first; with -j1, the order is
that of the input. Options of GNU parallel such as -P, -C (--colsep), -r, -u,
--lb, --group, --bar, --eta and --wd are accepted as well
(docs/formats/arguments.md).

In a job, "plimsoll exec -- COMMAND" has the run start the command when it fits:
the job waits, and the command takes no place of -j (docs/exec.md).

Examples:
  plimsoll batch jobs.txt
  find . -name '*.log' -print0 | plimsoll batch -0 -- gzip -k {}
  plimsoll batch -- convert {1} -resize {2} {1.}-{2}.png ::: *.jpg ::: 320 640
  plimsoll batch --disk /scratch=2G --joblog log --resume jobs.txt
  plimsoll batch --halt now,fail=1 --report run.jsonl --results out jobs.jsonl

Exit status: the number of jobs that did not succeed, 101 if more than 100; with
--halt, as GNU parallel's; 125 if Plimsoll itself failed. After Ctrl-C, TERM or
HUP, batch cleans up and then dies of that signal.
)";

Result<std::uint64_t> parse_small_count(std::string_view text) {
  const auto number = to_u64(text);
  constexpr std::uint64_t kCountMax = 1'000'000;
  if (!number || *number < 1 || *number > kCountMax) {
    return fail("found \"" + std::string(text) + "\", expected a number from 1 to 1000000");
  }
  return *number;
}

Result<policy::StartOrder> parse_start_order(std::string_view text) {
  if (text == "longest") return policy::StartOrder::longest;
  if (text == "input") return policy::StartOrder::input;
  return fail("found \"" + std::string(text) + "\", expected longest or input");
}

Result<std::string_view> parse_header(std::string_view text) {
  if (text == ":") return text;
  return fail("found \"" + std::string(text) + "\", expected \":\"");
}

// Nothing, of a run that is not to be halted.
Result<std::optional<policy::HaltPolicy>> parse_halt(std::string_view text) {
  if (text == "never" || text == "0") return std::optional<policy::HaltPolicy>();
  auto policy = policy::parse_halt(text);
  if (!policy) return pass(std::move(policy));
  return std::optional(*policy);
}

Result<std::uint64_t> parse_heaviest(std::string_view text) {
  if (text == "0") return std::uint64_t{0};
  return parse_small_count(text);
}

Result<policy::TimeoutPolicy> parse_timeout(std::string_view text) {
  if (text.ends_with('%')) {
    const auto percent = to_double(text.substr(0, text.size() - 1));
    if (percent && *percent > 0) return policy::TimeoutPolicy(policy::MedianPercent{*percent});
  } else if (const auto duration = parse_duration_above_zero(text)) {
    return policy::TimeoutPolicy(*duration);
  }
  return fail("found \"" + std::string(text) +
              "\", expected a duration above 0 such as 10s, or a share of the median such as 300%");
}

Result<output::Order> parse_order(std::string_view text) {
  if (text == "group") return output::Order::group;
  if (text == "line") return output::Order::line;
  if (text == "ordered") return output::Order::ordered;
  return fail("found \"" + std::string(text) + "\", expected group, line or ordered");
}

Result<jobfile::Format> parse_format(std::string_view text) {
  if (text == "text") return jobfile::Format::text;
  if (text == "jsonl") return jobfile::Format::jsonl;
  return fail("found \"" + std::string(text) + "\", expected text or jsonl");
}

Result<unsigned> parse_retries(std::string_view text) {
  auto number = parse_whole(text);
  if (!number) return pass(std::move(number));
  return static_cast<unsigned>(std::min<std::uint64_t>(*number, UINT_MAX));
}

void add_input_options(CLI::App& app, jobfile::InputOptions& input) {
  app.add_option("FILE", input.file, "Job file; standard input if FILE is - or is not given");
  add_parsed(app, "--format", input.format, parse_format,
             "Format of the job file (by default, its first line decides)")
      ->type_name("text|jsonl");
  app.add_option("-a,--arg-file", input.argument_files,
                 "File with one argument per line; may be given several times")
      ->type_name("FILE")
      ->allow_extra_args(false);
  app.add_flag_callback(
      "-0,--null", [&] { input.separator = jobfile::Separator::nul; },
      "Lines of the input end with a NUL byte");
  app.add_option("--colsep", input.colsep,
                 "Regular expression that separates the columns of a line: {1} {2} ...")
      ->type_name("REGEX");
  add_value(
      app, "--header", parse_header, [&](std::string_view) { input.header = true; },
      "The first line or value of each source names its columns: {NAME}")
      ->type_name(":");
  add_value(
      app, "-n,--max-args", parse_count, [&](std::uint64_t count) { input.max_args = count; },
      "Number of arguments for each command (default 1)")
      ->type_name("N");
  app.add_option("-I", input.replaced, "Replacement string to use in place of {}")
      ->type_name("TEXT");
}

void add_schedule_options(CLI::App& app, BatchOptions& options) {
  add_jobs_option(
      app, "-j,--jobs", options.governor.jobs_max,
      "Maximum number of jobs at once: a number, or relative to the number of cores: 50%, "
      "+1 or -3; 0 means no limit. The governor may run fewer")
      ->type_name("N");
  add_parsed(app, "--order", options.start_order, parse_start_order,
             "Which jobs start first: those that are expected to take longest (default), or those "
             "that come first in the input (default with -j1)")
      ->type_name("longest|input");
  add_governor_options(app, options.governor, "jobs");
  app.add_flag(
      "--standalone", options.standalone,
      "Use all of the line and the cores, without sharing them with the daemon and other runs");
  add_nice_option(app, options.nice);
  add_parsed(app, "--delay", options.delay, parse_duration, "Minimum time between two starts")
      ->type_name("DURATION");
  add_value(
      app, "--retries", parse_retries,
      [&](unsigned retries) { options.input.defaults.retries = retries; },
      "Number of further attempts for a job that failed")
      ->type_name("N");
  add_parsed(app, "--timeout", options.timeout, parse_timeout,
             "Maximum time of a job: 10m, or 300% of the median of the jobs so far")
      ->type_name("DURATION");
  add_parsed(app, "--kill-after", options.kill_after, parse_duration,
             "Time between TERM and KILL for a job that timed out (default 5s)")
      ->type_name("DURATION");
  add_value(
      app, "--halt,--halt-on-error", parse_halt,
      [&](const std::optional<policy::HaltPolicy>& halt) { options.halt = halt; },
      "When to stop: now|soon,fail|success|done=N|N%, or never")
      ->type_name("WHEN");
}

void add_output_options(CLI::App& app, BatchOptions& options) {
  add_value(
      app, "--output", parse_order, [&](output::Order order) { options.order = order; },
      "Order of the output: job by job as they end (group), line by line as it is written (line), "
      "or in the order of the input (ordered)")
      ->type_name("group|line|ordered");
  app.add_flag_callback(
      "-k,--keep-order", [&] { options.order = output::Order::ordered; },
      "The same as --output ordered");
  app.add_flag_callback(
      "--line-buffer", [&] { options.order = output::Order::line; }, "The same as --output line");
  app.add_flag("--tag", options.tag, "Begin each line of output with the arguments of its job");
  app.add_option("--results", options.results,
                 "Directory in which the output of each job is also kept")
      ->type_name("DIR");
  app.add_option(
         "--report", options.report,
         "File for the report as JSON lines: one for each job, and the last one for the "
         "batch; - is standard output, and what the jobs print there goes to standard error")
      ->type_name("FILE");
  add_parsed(app, "--progress", options.progress, parse_progress,
             "How progress is shown on standard error: auto, plain, failures, json or none")
      ->type_name("STYLE");
  add_parsed(app, "--heaviest", options.heaviest, parse_heaviest,
             "Number of jobs in each table of the heaviest jobs at the end; 0 prints no table (by "
             "default, one table of 10 jobs by memory)")
      ->type_name("N");
  app.add_flag("-q,--quiet", options.quiet,
               "Print no summary on standard error, and no progress unless --progress is given");
  app.add_flag("-t", options.trace, "Print each command on standard error as it starts");
  app.add_flag("-v,--verbose", options.verbose,
               "The same as -t; also print at the end how good the estimates were, and why figures "
               "are missing");
  app.add_flag("--dry-run", options.dry_run, "Print the commands and run none");
}

void add_log_options(CLI::App& app, BatchOptions& options) {
  app.add_option("--joblog", options.joblog, "Job log to write, in the format of GNU parallel")
      ->type_name("FILE");
  const auto again = [&](const char* name, Again value, const char* help) {
    app.add_flag_callback(
           name, [&options, value] { options.again = value; }, help)
        ->needs("--joblog");
  };
  again("--resume", Again::unlogged, "Skip the jobs that are in the job log");
  again("--resume-failed", Again::failed_as_well,
        "The same as --resume, but run the failed jobs again");
  again("--retry-failed", Again::failed_alone, "Run only the failed jobs of the job log");
  app.add_flag_callback(
      "--sync", [&options] { options.durability = Durability::synced; },
      "Force the job log, results and report to the disk: a job that was reported as ended is in "
      "them even after a power failure");
}

constexpr const char* kTemplateUsage =
    "plimsoll batch [OPTIONS] -- COMMAND [ARG...] [::: VALUE...]...";

// What to say if a command stands where a job file would, as after GNU parallel.
std::optional<std::string> forgotten_dashes(const CLI::App& app,
                                            const std::vector<std::string>& words) {
  const args::CommandLine line = args::read_command_line(app, words, parallel_hint);
  if (line.plain.empty()) return std::nullopt;
  const auto first = words.begin() + static_cast<std::ptrdiff_t>(line.plain.front());
  const bool has_source = std::any_of(
      first, words.end(), [](const std::string& word) { return jobfile::is_source_marker(word); });
  if (!has_source && line.plain.size() == 1) return std::nullopt;
  std::vector<std::string> meant = {"plimsoll", "batch"};
  meant.insert(meant.end(), words.begin(), first);
  meant.emplace_back("--");
  meant.insert(meant.end(), first, words.end());
  std::string found;
  if (!has_source) {
    found = "found \"" + words[line.plain[1]] + "\" after \"" + *first +
            "\", expected one job file; to run a command, ";
  }
  return found + "put `--` before the command: " + policy::command_line(meant);
}

}  // namespace

std::optional<int> parse_batch_options(BatchOptions& options, int argc, char** argv) {
  CLI::App app("Runs many commands, each in a cgroup of its own.", "batch");
  app.footer(kFooter);
  add_input_options(app, options.input);
  add_schedule_options(app, options);
  add_output_options(app, options);
  add_log_options(app, options);
  add_parallel_options(app, options);
  add_cgroup_option(app, options.cgroup_path);
  app.option_defaults()->group("Each job");
  add_job_options(app, options.input.defaults);

  SplitArguments split = split_at_dashes(argc, argv);
  if (!split.command) {
    if (const auto told = forgotten_dashes(app, split.options)) {
      complain("batch: " + *told);
      return kPlimsollFailed;
    }
  }
  const args::Wording wording{
      .called = {}, .further_usage = kTemplateUsage, .followed_by = split.next()};
  options.input.words = std::move(split.command);
  auto status = parse_or_exit_status(app, std::move(split.options), parallel_hint, wording);
  const bool has_files = options.joblog || options.results || options.report;
  if (!status && options.durability == Durability::synced && !has_files) {
    complain("batch: --sync needs --joblog, --results or --report");
    status = kPlimsollFailed;
  }
  return status;
}

}  // namespace plimsoll::cli

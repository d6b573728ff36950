#include "cli/batch_options.h"

#include <algorithm>
#include <climits>

#include "base/text.h"
#include "cli/diagnostics.h"
#include "cli/exit_status.h"
#include "cli/options.h"
#include "cli/parallel_options.h"
#include "jobfile/sources.h"

namespace plimsoll::cli {
namespace {

constexpr const char* kFooter =
    R"(Job files hold one shell command a line, or one JSON object a line with "id",
"argv" or "shell", "cwd", "env", "needs", limits and more. After "--" stand a
command and its arguments as for GNU parallel: {} {.} {/} {//} {#} {%} {1};
sources are ::: (all combinations), :::+ (in step) and :::: FILE.

Jobs start longest first, as far as that is known; with -j1 in order of input.
Of GNU parallel's options -P, -C, -r, -u, --lb, --group, --bar, --eta, --wd and
some more are taken as well (docs/formats/arguments.md).

Examples:
  plimsoll batch jobs.txt
  find . -name '*.log' -print0 | plimsoll batch -0 -- gzip -k {}
  plimsoll batch -- convert {1} -resize {2} {1.}-{2}.png ::: *.jpg ::: 320 640
  plimsoll batch --joblog log --resume jobs.txt
  plimsoll batch --halt now,fail=1 --report run.jsonl --results out jobs.jsonl

Exit status: how many jobs did not succeed, 101 for more than 100; with --halt
as GNU parallel's; 125 if Plimsoll itself failed. A batch that was interrupted
(Ctrl-C, TERM, HUP) dies of that signal when it has ended.
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
  app.add_option("FILE", input.file, "Job file; standard input if it is - or missing");
  add_parsed(app, "--format", input.format, parse_format,
             "Format of the job file (by default its first line decides)")
      ->type_name("text|jsonl");
  app.add_option("-a,--arg-file", input.argument_files, "File with one argument a line")
      ->type_name("FILE")
      ->allow_extra_args(false);
  app.add_flag_callback(
      "-0,--null", [&] { input.separator = jobfile::Separator::nul; },
      "Lines of input end with a NUL byte");
  app.add_option("--colsep", input.colsep, "Regular expression that splits a line into {1} {2} ...")
      ->type_name("REGEX");
  add_value(
      app, "--header", parse_header, [&](std::string_view) { input.header = true; },
      "The first line or value of each source names its columns: {NAME}")
      ->type_name(":");
  add_value(
      app, "-n,--max-args", parse_count, [&](std::uint64_t count) { input.max_args = count; },
      "Arguments for one command")
      ->type_name("N");
  app.add_option("-I", input.replaced, "What stands for the arguments in the command ({})")
      ->type_name("TEXT");
}

void add_schedule_options(CLI::App& app, BatchOptions& options) {
  add_parsed(
      app, "-j,--jobs", options.governor.jobs_max, parse_jobs_at_once,
      "Most jobs at once: a number, a share of the cores (50%), or more than there are (+1); "
      "the governor decides how many really run")
      ->type_name("N");
  add_parsed(app, "--order", options.start_order, parse_start_order,
             "Which jobs start first: those expected to take longest (default), or as they come in "
             "the input (default with -j1)")
      ->type_name("longest|input");
  add_governor_options(app, options.governor);
  app.add_flag("--standalone", options.standalone,
               "Use the whole line, without sharing it with the daemon and other batches");
  add_nice_option(app, options.nice);
  add_parsed(app, "--delay", options.delay, parse_duration, "Least time between two starts")
      ->type_name("DURATION");
  add_value(
      app, "--retries", parse_retries,
      [&](unsigned retries) { options.input.defaults.retries = retries; },
      "Further attempts of a job that failed")
      ->type_name("N");
  add_parsed(app, "--timeout", options.timeout, parse_timeout,
             "How long a job may take: 10m, or 300% of the median")
      ->type_name("DURATION");
  add_parsed(app, "--kill-after", options.kill_after, parse_duration,
             "Time from the TERM of a time-out until the job is killed (5s)")
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
      "Order of the output: job by job as they end (group), line by line as it comes (line), or in "
      "the order of the input (ordered)")
      ->type_name("group|line|ordered");
  app.add_flag_callback(
      "-k,--keep-order", [&] { options.order = output::Order::ordered; },
      "The same as --output ordered");
  app.add_flag_callback(
      "--line-buffer", [&] { options.order = output::Order::line; }, "The same as --output line");
  app.add_flag("--tag", options.tag, "Begin each line of output with the arguments of its job");
  app.add_option("--results", options.results,
                 "Directory in which the output of each job is kept, too")
      ->type_name("DIR");
  app.add_option(
         "--report", options.report,
         "File for the report as JSON lines: one for each job, the last for the batch; - is "
         "standard output")
      ->type_name("FILE");
  add_parsed(app, "--progress", options.progress, parse_progress,
             "How progress is shown: auto, plain, failures, json or none")
      ->type_name("STYLE");
  add_parsed(
      app, "--heaviest", options.heaviest, parse_heaviest,
      "Number of jobs in the tables of the heaviest jobs at the end (10, by memory alone); 0 "
      "prints none")
      ->type_name("N");
  app.add_flag("-q,--quiet", options.quiet,
               "Print no summary on standard error, and no progress without --progress");
  app.add_flag("-t", options.trace, "Print each command on standard error as it starts");
  app.add_flag(
      "-v,--verbose", options.verbose,
      "The same as -t; tell at the end how good the estimates were and why figures are missing");
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
  again("--resume", Again::unlogged, "Leave out the jobs that are in the job log");
  again("--resume-failed", Again::failed_as_well, "The same, but run the failed jobs again");
  again("--retry-failed", Again::failed_alone, "Run only the failed jobs of the job log");
  app.add_flag_callback(
      "--sync", [&options] { options.durability = Durability::synced; },
      "Force job log, results and report to the disk: what is told as ended survives a loss of "
      "power");
}

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
            "\", expected one job file; for a command, ";
  }
  return found + "`--` goes before the command: " + policy::command_line(meant);
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
  options.input.words = std::move(split.command);
  auto status = parse_or_exit_status(app, std::move(split.options), parallel_hint);
  const bool has_files = options.joblog || options.results || options.report;
  if (!status && options.durability == Durability::synced && !has_files) {
    complain("batch: --sync needs --joblog, --results or --report");
    status = kPlimsollFailed;
  }
  if (options.governor.jobs_max == 0) options.governor.jobs_max.reset();
  return status;
}

}  // namespace plimsoll::cli

#include "cli/govern/govern_options.h"

#include "cli/command/collecting.h"
#include "cli/command/diagnostics.h"
#include "cli/command/exit_status.h"
#include "cli/command/governor_options.h"
#include "cli/command/jobs_at_once.h"

namespace plimsoll::cli {
namespace {

constexpr const char* kGovernFooter =
    R"(A step is what the command or another driver (make, ninja, cargo, xargs, a test
runner, a shell that runs a script) starts. Each step runs in a cgroup of its
own, and waits before its first instruction until it is expected to fit in
memory; where no cgroup can be made, it is stopped by signals instead
(docs/process-mode.md). Where Plimsoll cannot hear when programs are executed,
it says so and finds steps by looking at processes, up to 50 ms late
(docs/govern.md). Give a high -j: it says how many steps may run at once; the
governor decides how many do. Without -j, make, cargo and others take their number of
jobs from a jobserver of the governor's (docs/jobserver.md). When the command
ends, all that it started is killed.

Examples:
  plimsoll govern -- ninja -j64
  plimsoll govern --line 8G -- cmake --build build -j 32
  plimsoll govern -- cargo build --release
  plimsoll govern --jobserver=off -- make check
  find . -name '*.png' | plimsoll govern -- xargs -P 100 -n 1 optipng
  plimsoll govern --driver mybuild --report steps.jsonl -- ./mybuild all

Exit status: that of the command; 128+n if signal n ended it, 125 if Plimsoll
itself failed, 126 and 127 as in a shell.
)";

constexpr const char* kSessionFooter =
    R"(The command is a shell, a coding agent or a CI runner. It is never held or
paused, and on cgroup v2 it gets memory and CPU time before the commands that it
starts. These are governed as under `plimsoll govern`, together with your other
sessions and runs and with the daemon. Commands known to be small start at once.
When the session ends, all that it started is killed, and what still ran is named.

Commands that a hook hands to `plimsoll exec` (docs/session.md) wait for --hold-max
at most; then they end with the exit status 75 and a line that says why.

Examples:
  plimsoll session -- bash
  plimsoll session -- claude
  plimsoll session --line 16G --hold-max 5m -- codex
  plimsoll session --report steps.jsonl -- ./ci.sh

Exit status: that of the command; 128+n if signal n ended it, 125 if Plimsoll
itself failed, 126 and 127 as in a shell.
)";

// A build that is started again more often does not end.
constexpr std::uint64_t kRerunsMax = 100;

Result<unsigned> parse_reruns(std::string_view text) {
  const auto number = parse_whole(text);
  if (!number || *number > kRerunsMax) {
    return fail("found \"" + std::string(text) + "\", expected a number from 0 to " +
                std::to_string(kRerunsMax));
  }
  return static_cast<unsigned>(*number);
}

Result<std::string> parse_driver(std::string_view text) {
  if (text.empty() || text.find('/') != std::string_view::npos) {
    return fail("found \"" + std::string(text) +
                "\", expected the name of a program without directories");
  }
  return std::string(text);
}

void add_rerun(CLI::App& app, GovernOptions& options) {
  add_value(
      app, "--rerun", parse_reruns, [&](unsigned reruns) { options.reruns = reruns; },
      "How often a build tool is started again when it has failed and a step was killed for want "
      "of memory (default 2)")
      ->type_name("N");
}

void add_hold_max(CLI::App& app, SessionTerms& session) {
  add_value(
      app, "--hold-max", parse_duration_above_zero,
      [&](Duration hold_max) { session.hold_max = hold_max; },
      "How long a command that a hook hands to `plimsoll exec` waits at most (10s, 5m; default "
      "100s); after that it is not started, and its exit status is 75")
      ->type_name("DURATION");
}

void add_options(CLI::App& app, GovernOptions& options) {
  add_governor_options(app, options.governor, "steps");
  app.remove_option(app.get_option("--no-evict"));  // no step is, as nobody could run it again
  add_jobs_option(
      app, "-j,--jobs", options.governor.jobs_max,
      "Maximum number of steps at once, not counting those that are known to be small: a "
      "number, or relative to the number of cores: 50%, +1 or -3; 0 means no limit. The "
      "governor may run fewer")
      ->type_name("N");
  add_each(
      app, "--driver", parse_driver,
      [&](std::string name) { options.drivers.push_back(std::move(name)); },
      "Name of a program that is a driver: never held or paused, and what it starts are steps; may "
      "be given several times")
      ->type_name("NAME");
  add_value(
      app, "--jobserver", parse_jobserver, [&](JobserverWish wish) { options.jobserver = wish; },
      "How make, cargo, ninja and gcc are offered a share of the cores: by a pipe, by a fifo, off, "
      "or auto (default): as the tools on PATH understand it, and only if the command has no -j")
      ->type_name("auto|pipe|fifo|off");
  app.add_flag(
      "--no-hold", options.no_hold,
      "Only measure the command, as a whole: no seccomp filter, and no step is held, paused "
      "or killed");
  app.add_flag("--progress", options.progress,
               "Show on the terminal how the steps do, in one line, if the command writes "
               "elsewhere (>log 2>&1)");
  app.add_flag(
      "--standalone", options.standalone,
      "Use all of the line and the cores, without sharing them with the daemon and other runs");
  auto* report =
      app.add_option("--report", options.report,
                     "File for the reports of the steps as JSON lines, and last the summary; - is "
                     "standard output, and what the command prints there goes to standard error")
          ->type_name("FILE");
  app.add_flag_callback(
         "--sync", [&] { options.durability = Durability::synced; },
         "Force the report to the disk, so that it survives a power failure")
      ->needs(report);
  add_nice_option(app, options.nice);
  add_cgroup_option(app, options.cgroup_path);
  app.add_flag_callback(
      "-q,--quiet", [&] { options.verbosity = Verbosity::quiet; },
      "Print no summary on standard error");
  app.add_flag_callback(
      "-v,--verbose", [&] { options.verbosity = Verbosity::verbose; },
      "Also print the limits, and why figures are missing");
}

}  // namespace

std::optional<int> parse_govern_options(GovernOptions& options, int argc, char** argv) {
  CLI::App app(
      options.session
          ? "Runs a shell, an agent or a CI runner, and governs the commands that it starts."
          : "Runs a command and governs the commands that it starts, without changing any.",
      options.name());
  app.footer(options.session ? kSessionFooter : kGovernFooter);
  app.prefix_command();
  add_options(app, options);
  if (options.session) {
    add_hold_max(app, *options.session);
  } else {
    add_rerun(app, options);
  }
  SplitArguments split = split_at_dashes(argc, argv);
  if (const auto status = parse_or_exit_status(app, std::move(split.options))) return status;
  options.command = app.remaining();
  if (split.command) {
    // After the command's first word, `--` is its own.
    if (!options.command.empty()) options.command.emplace_back("--");
    options.command.insert(options.command.end(), split.command->begin(), split.command->end());
  }
  if (!options.command.empty()) return std::nullopt;
  const std::string name = options.name();
  complain(name + ": no command was given; see `plimsoll " + name + " --help`");
  return kPlimsollFailed;
}

}  // namespace plimsoll::cli

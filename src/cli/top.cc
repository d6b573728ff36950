// plimsoll top: runs that go on, on a whole terminal.
#include <signal.h>

#include <exception>

#include "cli/command/diagnostics.h"
#include "cli/command/exit_status.h"
#include "cli/command/options.h"
#include "cli/commands.h"
#include "cli/link/run_link.h"
#include "cli/runs/recorded_runs.h"
#include "cli/top/screen.h"
#include "cli/top/session.h"
#include "cli/top/snapshot.h"

namespace plimsoll::cli {
namespace {

struct TopCommand {
  std::string run;  // empty: all there are
  top::TopOptions options;
  bool json = false;
  bool once = false;
};

constexpr const char* kTopFooter =
    R"(RUN is the id of a run that goes on, the beginning of one, `last` (the running run
that started last), `last-1` (the one before it), the path of a socket, or
`daemon`. Without RUN all runs of this user and the daemon are meant; of several
you choose one, or all. `?` shows the keys.

Where standard input or output is no terminal, the runs are printed once, as
text. --json prints a line of JSON for each run every INTERVAL until the last run
has ended (plimsoll.progress/1).

Examples:
  plimsoll top
  plimsoll top last --sort used
  plimsoll top --filter paused --once
  plimsoll top daemon --json | jq --unbuffered .status.used_bytes

Exit status: 0, or 125 if the command line is wrong or nothing is running.
)";

Result<Duration> parse_interval(std::string_view text) {
  auto interval = parse_duration_above_zero(text);
  if (!interval) return interval;
  if (*interval >= top::kIntervalMin && *interval <= top::kIntervalMax) return interval;
  return fail("found " + std::string(text) + ", expected " + format_duration(top::kIntervalMin) +
              " to " + format_duration(top::kIntervalMax));
}

std::optional<int> parse(TopCommand& command, int argc, char** argv) {
  CLI::App app("Shows runs while they go on: their memory, cores and jobs.", "top");
  app.footer(kTopFooter);
  app.add_option("RUN", command.run, "Run to show: an id, the beginning of one, last or daemon");
  top::TopOptions& options = command.options;
  add_value(
      app, "--sort", top::parse_sort_key,
      [&options](const top::SortKey& key) { options.choice.sort = key; },
      "Sort jobs by age, used, estimate, growth, cores, io, state or job")
      ->type_name("COLUMN");
  app.add_option("--filter", options.choice.filter,
                 "Show only jobs whose name, command or state contains WORD")
      ->type_name("WORD");
  add_value(
      app, "--interval", parse_interval,
      [&options](const Duration& interval) { options.interval = interval; },
      "Time between two looks, 100 ms to 10 s (1s)")
      ->type_name("INTERVAL");
  app.add_flag("--once", command.once, "Print once, also on a terminal");
  app.add_flag("--json", command.json, "Print JSON lines (plimsoll.progress/1)");
  std::vector<std::string> arguments(argv + 1, argv + argc);
  return parse_or_exit_status(app, std::move(arguments));
}

Result<std::vector<RunLink>> links_of(const std::string& run) {
  if (run.empty()) {
    auto links = connect_to_all();
    if (links && links->empty()) return fail("no run goes on, and there is no daemon");
    return links;
  }
  auto link = connect_to(run);
  if (!link) return pass(std::move(link));
  std::vector<RunLink> links;
  links.push_back(std::move(*link));
  return links;
}

int die_of(int signal) {
  ::signal(signal, SIG_DFL);
  ::raise(signal);
  constexpr int kBySignal = 128;
  return kBySignal + signal;
}

Result<int> run(TopCommand& command) {
  auto links = links_of(command.run);
  if (!links) return pass(std::move(links));
  if (command.json || command.once || !top::has_screen()) {
    const auto times = command.once ? top::JsonTimes::once : top::JsonTimes::until_the_end;
    auto printed = command.json ? top::print_json(std::move(*links), command.options, times)
                                : top::print_once(std::move(*links), command.options);
    if (!printed) return pass(std::move(printed));
    return kSuccess;
  }
  auto runs_dir = runs_directory();
  if (runs_dir) command.options.runs_dir = std::move(*runs_dir);
  auto shown = top::show(std::move(*links), command.options);
  if (!shown) return pass(std::move(shown));
  return *shown ? die_of(**shown) : kSuccess;
}

}  // namespace

int top_command(int argc, char** argv) {
  TopCommand command;
  if (const auto status = parse(command, argc, argv)) return *status;
  // What a library throws must not leave the terminal as a screen: caught, it unwinds the stack.
  try {
    return status_of("top", run(command));
  } catch (const std::exception& error) {
    complain(std::string("top: ") + error.what());
    return kPlimsollFailed;
  }
}

}  // namespace plimsoll::cli

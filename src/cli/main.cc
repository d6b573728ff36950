// The program `plimsoll`: finds the subcommand and hands over to its file.
#include <algorithm>
#include <cstdio>
#include <string>
#include <string_view>
#include <vector>

#include "cli/command/diagnostics.h"
#include "cli/command/exit_status.h"
#include "cli/commands.h"
#include "cli/exec/exec.h"
#include "cli/govern/govern.h"
#include "cli/runs/commands.h"

namespace plimsoll::cli {
namespace {

constexpr std::string_view kUsage =
    R"(usage: plimsoll COMMAND [OPTION...]

Runs commands in parallel, as many as fit in memory, each in its own cgroup:
measured by the kernel, limited, and ended with all its processes.

  run       Run one command:             plimsoll run --memory-max 2G -- make
  batch     Run many commands:           plimsoll batch jobs.txt
                                         plimsoll batch -- gzip -k {} ::: *.log
  govern    Govern what a command starts:
                                         plimsoll govern -- ninja -j64
  session   The same for a shell or agent:
                                         plimsoll session -- bash
  exec      Start one when it fits:      make CC='plimsoll exec -- gcc'
  serve     Run the daemon:              plimsoll serve
  submit    Give the daemon a command:   plimsoll submit -- make -j4
  list      List the jobs of the daemon: plimsoll list
  top       Watch runs on a screen:      plimsoll top
  ctl       Watch and steer a run:       plimsoll ctl status
  reap      Kill and remove cgroups:     plimsoll reap --stale
  runs      List recorded runs:          plimsoll runs
  explain   Explain what a run decided:  plimsoll explain last 17
  report    Print the report of a run:   plimsoll report last
                                         plimsoll report last --html FILE
                                         plimsoll report last --trace FILE
  history   Show what jobs have needed:  plimsoll history
  compare   Compare two runs:            plimsoll compare last-1 last
  advise    Tell what to ask for:        plimsoll advise --format slurm
  whatif    Try other cores and memory:  plimsoll whatif last --cores 8,16
  simulate  Try a run on other machines: plimsoll simulate last --cores 16
  doctor    Show what this host offers:  plimsoll doctor

`plimsoll help COMMAND` lists its options; plimsoll(1) is the manual.
)";

struct Command {
  std::string_view name;
  int (*main)(int argc, char** argv);
};

constexpr Command kCommands[] = {
    {"run", run_command},       {"batch", batch_command},       {"reap", reap_command},
    {"runs", runs_command},     {"explain", explain_command},   {"history", history_command},
    {"report", report_command}, {"simulate", simulate_command}, {"doctor", doctor_command},
    {"ctl", ctl_command},       {"serve", serve_command},       {"submit", submit_command},
    {"list", list_command},     {"advise", advise_command},     {"compare", compare_command},
    {"whatif", whatif_command}, {"govern", govern_command},     {"top", top_command},
    {"exec", exec_command},     {"session", session_command},
};

// Null if there is none.
const Command* find(std::string_view name) {
  const auto* const found = std::find_if(std::begin(kCommands), std::end(kCommands),
                                         [name](const Command& c) { return c.name == name; });
  return found == std::end(kCommands) ? nullptr : found;
}

int refuse(std::string_view name) {
  std::vector<std::string> known = {"--help", "--version"};
  for (const Command& command : kCommands) known.emplace_back(command.name);
  const std::string meant = did_you_mean(name, known);
  complain("there is no command \"" + std::string(name) + "\"" +
           (meant.empty() ? "; `plimsoll --help` lists them" : meant));
  return kPlimsollFailed;
}

// `plimsoll help COMMAND [SUBCOMMAND]`, whose words are in `argv` after "help".
int help(int argc, char** argv) {
  const Command* command = find(argv[0]);
  if (command == nullptr) return refuse(argv[0]);
  std::string option = "--help";
  std::vector<char*> words(argv, argv + argc);
  words.insert(words.begin() + 1, option.data());
  words.push_back(nullptr);
  return command->main(argc + 1, words.data());
}

// `plimsoll exec --` for tools that take a launcher without arguments (RUSTC_WRAPPER).
constexpr std::string_view kLauncher = "plimsoll-exec";

int launch(int argc, char** argv) {
  std::string name = "exec", dashes = "--";
  std::vector<char*> words = {name.data(), dashes.data()};
  words.insert(words.end(), argv + 1, argv + argc);
  words.push_back(nullptr);
  return exec_command(argc + 1, words.data());
}

int dispatch(int argc, char** argv) {
  const std::string_view called = argc > 0 ? argv[0] : "";
  if (called.substr(called.rfind('/') + 1) == kLauncher) return launch(argc, argv);
  const std::string_view name = argc > 1 ? argv[1] : "";
  if (name == "--version" || name == "-V" || name == "version") {
    std::puts("plimsoll " PLIMSOLL_VERSION);
    return kSuccess;
  }
  if (name == "help" && argc > 2) return help(argc - 2, argv + 2);
  if (name == "--help" || name == "-h" || name == "help") {
    std::fwrite(kUsage.data(), 1, kUsage.size(), stdout);
    return kSuccess;
  }
  if (const Command* command = find(name)) return command->main(argc - 1, argv + 1);
  if (!name.empty()) return refuse(name);
  std::fwrite(kUsage.data(), 1, kUsage.size(), stderr);
  return kPlimsollFailed;
}

}  // namespace
}  // namespace plimsoll::cli

int main(int argc, char** argv) { return plimsoll::cli::dispatch(argc, argv); }

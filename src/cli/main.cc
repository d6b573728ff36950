// The program `plimsoll`: finds the subcommand and hands over to its file.
#include <cstdio>
#include <string_view>

#include "cli/command.h"
#include "cli/exit_status.h"

namespace plimsoll::cli {
namespace {

constexpr std::string_view kUsage =
    R"(usage: plimsoll COMMAND [OPTION...]

Runs commands, each in its own cgroup: measured by the kernel, bounded, and gone without a trace.

  run       run one command:           plimsoll run --memory-max 2G -- make -j4
  batch     run many:                  plimsoll batch jobs.txt
                                       plimsoll batch -- gzip -k {} ::: *.log
  serve     for other programs:        plimsoll serve
  ctl       look at a run, steer it:   plimsoll ctl status
  reap      kill and remove groups:    plimsoll reap --stale
  runs      runs that were recorded:   plimsoll runs
  explain   why one went as it did:    plimsoll explain last 17
  report    one for other programs:    plimsoll report last --provenance
  history   what classes of jobs need: plimsoll history
  simulate  on a simulated machine:    plimsoll simulate jobs.jsonl --cores 16 --line 64G
  doctor    what this host offers:     plimsoll doctor

`plimsoll COMMAND --help` tells the options of a command; plimsoll(1) is the manual.
)";

constexpr Command kCommands[] = {
    {"run", run_command},       {"batch", batch_command},       {"reap", reap_command},
    {"runs", runs_command},     {"explain", explain_command},   {"history", history_command},
    {"report", report_command}, {"simulate", simulate_command}, {"doctor", doctor_command},
    {"ctl", ctl_command},       {"serve", serve_command},
};

int dispatch(int argc, char** argv) {
  const std::string_view name = argc > 1 ? argv[1] : "";
  if (name == "--version" || name == "version") {
    std::puts("plimsoll " PLIMSOLL_VERSION);
    return kSuccess;
  }
  if (name == "--help" || name == "-h" || name == "help") {
    std::fwrite(kUsage.data(), 1, kUsage.size(), stdout);
    return kSuccess;
  }
  for (const Command& command : kCommands) {
    if (command.name == name) return command.main(argc - 1, argv + 1);
  }
  if (name.empty()) {
    std::fwrite(kUsage.data(), 1, kUsage.size(), stderr);
  } else {
    std::fprintf(stderr, "plimsoll: there is no command \"%.*s\"; `plimsoll --help` lists them\n",
                 static_cast<int>(name.size()), name.data());
  }
  return kPlimsollFailed;
}

}  // namespace
}  // namespace plimsoll::cli

int main(int argc, char** argv) { return plimsoll::cli::dispatch(argc, argv); }

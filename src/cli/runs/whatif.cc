// plimsoll whatif: a recorded run with other cores and another line.
#include "base/quantity.h"
#include "base/text.h"
#include "cli/command/diagnostics.h"
#include "cli/command/exit_status.h"
#include "cli/command/options.h"
#include "cli/progress/terminal.h"
#include "cli/runs/commands.h"
#include "cli/runs/recorded_runs.h"
#include "cli/runs/whatif_grid.h"
#include "cli/runs/whatif_run.h"

namespace plimsoll::cli {
namespace {

// A screen of answers; each is a few simulations.
constexpr std::size_t kAnswersMax = 100;
// As of `simulate`: no process runs in less, and no machine has more.
constexpr Bytes kWhatifLineMin{1 << 20};
constexpr double kWhatifLoadMax = 1e6;

struct WhatifOptions {
  std::string run;
  std::optional<std::vector<double>> cores;
  std::optional<std::vector<Bytes>> lines;
  std::optional<double> other_load;
  std::optional<Knowledge> knowledge;
  bool json = false;
};

constexpr const char* kWhatifFooter =
    R"(RUN is an id, the beginning of one, a path with a '/', `last`, or `last-1` for the one
before. With several numbers of cores or several lines there is an answer for each
combination; what is not given is as it was in the run.

The governor runs the recorded jobs on a simulated machine. Time in which a job was
paused or waited for a core is taken out first; where fewer cores are free than a job
asks for, its time stretches. What is not simulated: page cache, disks and networks,
and a job that starts more threads where it finds more cores. The first lines say by
how much a replay on the machine of the run differs from what was recorded. Expect
the answers to be off by at least as much.

Examples:
  plimsoll whatif last --cores 8
  plimsoll whatif last --cores 4,8,16 --line 16G,32G
  plimsoll whatif 20261121 --line 8G --json | jq '.answers[].makespan_s'
)";

template <class T>
Result<std::vector<T>> parse_list(std::string_view text, Result<T> (*parse)(std::string_view)) {
  std::vector<T> values;
  do {
    auto value = parse(trim(take_until(text, ',')));
    if (!value) return pass(std::move(value));
    values.push_back(*value);
  } while (!text.empty());
  return values;
}

Result<Bytes> parse_whatif_line(std::string_view text) {
  auto line = parse_bytes(text);
  if (line && *line < kWhatifLineMin) {
    return fail("found " + std::string(text) + ", expected 1M or more");
  }
  return line;
}

Result<std::vector<double>> parse_cores_list(std::string_view text) {
  return parse_list<double>(text, parse_cpus);
}

Result<std::vector<Bytes>> parse_lines_list(std::string_view text) {
  return parse_list<Bytes>(text, parse_whatif_line);
}

Result<double> parse_load(std::string_view text) {
  const auto cores = to_double(text);
  if (cores && *cores >= 0 && *cores <= kWhatifLoadMax) return *cores;
  return fail("found \"" + std::string(text) + "\", expected a number of cores such as 2 or 0.5");
}

Result<Knowledge> parse_knowledge(std::string_view text) {
  if (text == "nothing") return Knowledge::nothing;
  if (text == "all") return Knowledge::all;
  return fail("found \"" + std::string(text) + "\", expected nothing or all");
}

std::optional<int> parse(WhatifOptions& options, int argc, char** argv) {
  CLI::App app("Tells how long a recorded run would take with other cores and another line.",
               "whatif");
  app.footer(kWhatifFooter);
  app.add_option("RUN", options.run, "Run to replay: an id, the beginning of one, last, or a path")
      ->required();
  add_parsed(app, "--cores", options.cores, parse_cores_list,
             "Cores that the jobs may use (default: those of the run)")
      ->type_name("N,...");
  add_parsed(app, "--line", options.lines, parse_lines_list,
             "Memory that all jobs together may use (default: the line of the run)")
      ->type_name("SIZE,...");
  add_parsed(app, "--other-load", options.other_load, parse_load,
             "Cores that other programs take from the jobs all the time (default: as in the run)")
      ->type_name("N");
  add_parsed(app, "--knowledge", options.knowledge, parse_knowledge,
             "What the governor knows of the jobs before (default: what it knew then)")
      ->type_name("nothing|all");
  app.add_flag("--json", options.json, "Print JSON (plimsoll.whatif/1) instead of text");
  return parse_or_exit_status(app, std::vector<std::string>(argv + 1, argv + argc));
}

Result<WhatifRun> read_whatif_run(const WhatifOptions& options) {
  const auto recorded = read_run(options.run);
  if (!recorded) return tl::unexpected(recorded.error());
  auto run = whatif_run_of(*recorded);
  if (!run) return run;
  if (options.other_load) {
    run->other_load = *options.other_load;
    run->cores_of_machine.reset();  // it is said what they take from the jobs
  }
  run->knowledge = options.knowledge;
  return run;
}

Result<int> whatif(const WhatifOptions& options) {
  auto run = read_whatif_run(options);
  if (!run) return pass(std::move(run));
  const auto cores = options.cores.value_or(std::vector{run->machine.cores});
  const auto lines = options.lines.value_or(std::vector{run->machine.line});
  if (cores.size() * lines.size() > kAnswersMax) {
    return fail("found " + std::to_string(cores.size() * lines.size()) +
                " combinations of --cores and --line, expected " + std::to_string(kAnswersMax) +
                " or fewer");
  }
  std::vector<WhatifMachine> machines;
  for (const double count : cores) {
    for (const Bytes line : lines) machines.push_back({.cores = count, .line = line});
  }
  const Whatif answers = what_if(*run, machines);
  return print_text(options.json ? whatif_json(*run, answers)
                                 : whatif_text(*run, answers, list_style().width));
}

}  // namespace

int whatif_command(int argc, char** argv) {
  WhatifOptions options;
  if (const auto status = parse(options, argc, argv)) return *status;
  return status_of("whatif", whatif(options));
}

}  // namespace plimsoll::cli

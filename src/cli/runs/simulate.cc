// plimsoll simulate: a policy on a simulated machine, with jobs from a file of curves or from a
// recorded run.
#include <unistd.h>

#include <cstdint>
#include <memory>

#include "base/loop/loop.h"
#include "base/quantity.h"
#include "base/text.h"
#include "cli/command/diagnostics.h"
#include "cli/command/exit_status.h"
#include "cli/command/options.h"
#include "cli/progress/terminal.h"
#include "cli/runs/commands.h"
#include "cli/runs/simulated_jobs.h"
#include "report/plain.h"
#include "report/table.h"
#include "report/writer.h"
#include "sim/curves.h"
#include "sim/outcome.h"
#include "sim/policies.h"
#include "sim/quantities.h"
#include "sim/simulated_scheduler.h"
#include "store/history/store.h"
#include "supervisor/wall_clock.h"

namespace plimsoll::cli {
namespace {

// Less is a slip of the unit: no process runs in it.
constexpr Bytes kSimulatedLineMin{1 << 20};
// Beyond any machine.
constexpr double kOtherLoadMax = 1e6;
constexpr const char* kNoHistory = "none";
// A history within its bounds takes a quarter of a second.
constexpr Duration kReadMax = std::chrono::seconds(30);

struct SimulateOptions {
  std::string trace;
  std::optional<double> cores;
  std::optional<Bytes> line;
  std::string policy = "plimsoll";
  std::optional<sim::Order> order;
  std::optional<std::uint64_t> seed;
  std::string history = kNoHistory;
  std::optional<std::string> learn;
  std::optional<Bytes> swap;
  std::optional<double> other_load;
  bool json = false;
};

constexpr const char* kSimulateFooter = R"(Policies:
  plimsoll      the governor, as `batch` has it
  fixed:N       N jobs at a time; past the line the kernel kills the largest,
                which starts again
  memfree:SIZE  GNU parallel's --memfree: starts while SIZE is free, kills the
                youngest when less than half of it is; SIZE may be a share of
                the line
  fit:RULE      knows the peak and the mean cores of each job, and of those that
                fit starts the one that leaves least (best), the first (first),
                or the one whose needs are most like what is free (dot)
  clairvoyant   knows the curves, and admits where their sum never passes the
                line, the longest first; clairvoyant:class goes by how long a
                class takes on average instead

Examples:
  plimsoll simulate last
  plimsoll simulate last --policy fixed:4
  plimsoll simulate last --policy plimsoll,fixed:2,fixed:4,memfree:25%
  plimsoll simulate 20261121 --cores 16 --line 64G --json
  plimsoll simulate jobs.jsonl.xz --cores 16 --line 64G
  plimsoll simulate jobs.jsonl --cores 16 --line 64G --policy fixed:8
  plimsoll simulate b.jsonl --cores 128 --line 64G --learn a.jsonl --json

A file of curves has a JSON object a line: class, name, and the lists t, mem_mb and cpu_pct. A
recorded run gives the curves of its jobs, its cores and its line, which --cores and --line replace;
`plimsoll runs` lists the runs. --line is the line itself: the machine has that and a reserve beside
it.

Exit status: 0 if the simulation reached its end, whether or not every job finished; 125 if the
command line or the input is wrong.
)";

Result<sim::Order> parse_job_order(std::string_view text) {
  if (text == "file") return sim::Order::file;
  if (text == "shuffle") return sim::Order::shuffle;
  if (text == "longest") return sim::Order::longest;
  return fail("found \"" + std::string(text) + "\", expected file, shuffle or longest");
}

Result<Bytes> parse_line(std::string_view text) {
  auto line = parse_bytes(text);
  if (line && *line < kSimulatedLineMin)
    return fail("found " + std::string(text) + ", expected 1M or more");
  return line;
}

Result<double> parse_other_load(std::string_view text) {
  const auto cores = to_double(text);
  if (!cores || *cores < 0 || *cores > kOtherLoadMax) {
    return fail("found \"" + std::string(text) + "\", expected a number of cores such as 2 or 0.5");
  }
  return *cores;
}

std::optional<int> parse(SimulateOptions& options, int argc, char** argv) {
  CLI::App app("Runs the jobs of a recorded run, or of a file of curves, on a simulated machine.",
               "simulate");
  app.footer(kSimulateFooter);
  app.add_option(
         "RUN|FILE", options.trace,
         "A recorded run (an id, the beginning of one, `last`, its directory), a file of job "
         "reports, or a file of curves, packed with xz or not")
      ->required();
  add_parsed(app, "--cores", options.cores, parse_cpus,
             "Cores of the machine (default: those of the run)")
      ->type_name("N");
  add_parsed(app, "--line", options.line, parse_line,
             "Memory that all jobs together may use (default: the line of the run)")
      ->type_name("SIZE");
  app.add_option("--policy", options.policy,
                 "Policy: plimsoll (default), fixed:N, memfree:SIZE, fit:RULE, clairvoyant or "
                 "clairvoyant:class; several, separated by commas, are compared in a table")
      ->type_name("POLICY[,...]");
  add_parsed(app, "--order", options.order, parse_job_order, "Order of the jobs in the input")
      ->type_name("file|shuffle|longest");
  add_parsed(app, "--seed", options.seed, parse_whole,
             "Seed of the random numbers: for what differs from run to run on a real machine, and "
             "for the shuffle (default 1)")
      ->type_name("N");
  add_parsed(app, "--other-load", options.other_load, parse_other_load,
             "Cores that other programs use all the time (default 0)")
      ->type_name("N");
  app.add_option("--history", options.history,
                 "History that the governor has learnt from: none (default), or a FILE")
      ->type_name("FILE");
  app.add_option("--learn", options.learn, "Trace whose jobs the governor has learnt from")
      ->type_name("TRACE");
  add_parsed(app, "--swap", options.swap, parse_bytes, "Swap of the machine (default: none)")
      ->type_name("SIZE");
  app.add_flag("--json", options.json, "Print JSON instead of text");
  return parse_or_exit_status(app, std::vector<std::string>(argv + 1, argv + argc));
}

// What the governor has seen before: a history, then the jobs of another trace.
Result<std::vector<policy::AttemptSummary>> past_of(const SimulateOptions& options) {
  std::vector<policy::AttemptSummary> past;
  if (options.history != kNoHistory) {
    auto opened =
        history::Store::open(options.history, supervisor::wall_now(), history::WhenMissing::leave);
    if (!opened) return pass(std::move(opened), "--history");
    auto loaded = opened->store.load(loop::now() + kReadMax, &loop::now);
    if (!loaded) return pass(std::move(loaded), "--history");
    for (history::Entry& entry : loaded->entries) past.push_back(std::move(entry.attempt_summary));
  }
  if (options.learn) {
    auto read = sim::read_curves(*options.learn);
    if (!read) return pass(std::move(read));
    for (const sim::SimJob& job : *read) past.push_back(sim::attempt_summary_of(job));
  }
  return past;
}

// What is simulated, whoever decides.
struct Scene {
  const SimulateOptions& options;
  std::vector<sim::SimJob> jobs;
  double cores;
  Bytes line;
};

// One of --policy, by the name that was given.
struct NamedPolicy {
  std::string name;
  sim::Policy policy;
};

Result<std::vector<NamedPolicy>> policies_of(std::string_view names, Bytes line) {
  std::vector<NamedPolicy> policies;
  while (!names.empty() || policies.empty()) {
    const std::string name(take_until(names, ','));
    auto policy = sim::parse_policy(name, line);
    if (!policy) return pass(std::move(policy), "--policy");
    policies.push_back({name, *policy});
  }
  return policies;
}

// Whoever decides in this simulation. Jobs and executor must outlive it.
Result<std::unique_ptr<policy::ExecutorObserver>> make_driver(const Scene& scene,
                                                              const sim::Policy& policy,
                                                              const sim::MachineConfig& machine,
                                                              sim::SimulatedExecutor& executor) {
  if (!std::holds_alternative<sim::GovernorPolicy>(policy)) {
    return sim::make_baseline(policy, executor, scene.jobs, machine);
  }
  auto learnt = past_of(scene.options);
  if (!learnt) return pass(std::move(learnt));
  return std::make_unique<sim::SimulatedScheduler>(
      sim::SimulatedRun{.machine = machine, .learnt = *learnt}, scene.jobs, executor);
}

Result<sim::Outcome> outcome_under(const NamedPolicy& named, const Scene& scene) {
  const SimulateOptions& options = scene.options;
  const sim::MachineConfig machine =
      sim::machine_for(named.policy, {.cores = scene.cores,
                                      .line = scene.line,
                                      .swap = options.swap.value_or(Bytes{}),
                                      .other_load = options.other_load.value_or(0),
                                      .noise = sim::Noise::seeded,
                                      .seed = options.seed.value_or(1)});
  sim::SimulatedExecutor executor(machine, scene.jobs);
  auto driver = make_driver(scene, named.policy, machine, executor);
  if (!driver) return pass(std::move(driver));
  executor.run(**driver);
  return sim::outcome_of(named.name, executor, scene.jobs, machine);
}

// Beside each other, a line for each.
std::string table_of(const std::vector<sim::Outcome>& outcomes) {
  std::vector<std::string> policies, makespans, kills, evictions, pauses, lost, unfinished;
  for (const sim::Outcome& outcome : outcomes) {
    policies.push_back(report::printable(outcome.policy));
    makespans.push_back(format_duration(sim::to_duration(outcome.makespan_s)));
    kills.push_back(std::to_string(outcome.oom_kills));
    evictions.push_back(std::to_string(outcome.evictions));
    pauses.push_back(std::to_string(outcome.pauses));
    lost.push_back(outcome.lost_s > 0 ? format_duration(sim::to_duration(outcome.lost_s)) : "0");
    unfinished.push_back(std::to_string(outcome.unfinished_count));
  }
  using report::Align;
  return report::table_text({{"MAKESPAN", Align::right, std::move(makespans)},
                             {"KERNEL KILLS", Align::right, std::move(kills)},
                             {"EVICTIONS", Align::right, std::move(evictions)},
                             {"PAUSES", Align::right, std::move(pauses)},
                             {"CPU TIME LOST", Align::right, std::move(lost)},
                             {"UNFINISHED", Align::right, std::move(unfinished)},
                             {"POLICY", Align::left, std::move(policies)}},
                            list_style().width);
}

Result<void> print(const SimulateOptions& options, const std::vector<sim::Outcome>& outcomes) {
  std::string text;
  if (!options.json) text = outcomes.size() == 1 ? sim::to_text(outcomes[0]) : table_of(outcomes);
  for (const sim::Outcome& outcome : outcomes) {
    if (options.json) text += sim::to_json(outcome);
  }
  auto out = report::OutputFile::onto(UniqueFd(::dup(STDOUT_FILENO)), "standard output");
  return out.append(text);
}

Result<int> simulate(const SimulateOptions& options) {
  auto read = read_simulated_jobs(options.trace);
  if (!read) return pass(std::move(read));
  const std::optional<double> cores = options.cores ? options.cores : read->cores;
  const std::optional<Bytes> line = options.line ? options.line : read->line;
  if (!cores || !line) {
    return fail(std::string(cores ? "--line" : "--cores") + " is needed, because " + options.trace +
                " does not say it");
  }
  auto policies = policies_of(options.policy, *line);
  if (!policies) return pass(std::move(policies));
  const Scene scene{
      .options = options,
      .jobs = sim::in_order(std::move(read->jobs), options.order.value_or(sim::Order::file),
                            options.seed.value_or(1)),
      .cores = *cores,
      .line = *line};
  std::vector<sim::Outcome> outcomes;
  for (const NamedPolicy& policy : *policies) {
    auto outcome = outcome_under(policy, scene);
    if (!outcome) return pass(std::move(outcome));
    outcomes.push_back(std::move(*outcome));
  }
  if (auto printed = print(options, outcomes); !printed) return pass(std::move(printed));
  return kSuccess;
}

}  // namespace

int simulate_command(int argc, char** argv) {
  SimulateOptions options;
  if (const auto status = parse(options, argc, argv)) return *status;
  auto status = simulate(options);
  if (status) return *status;
  complain("simulate: " + status.error().message());
  return kPlimsollFailed;
}

}  // namespace plimsoll::cli

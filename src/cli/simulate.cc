// plimsoll simulate: a policy on a simulated machine, with jobs from a file of curves.
#include <unistd.h>

#include <cstdint>
#include <map>
#include <memory>
#include <span>

#include "base/quantity.h"
#include "base/text.h"
#include "cli/command.h"
#include "cli/diagnostics.h"
#include "cli/exit_status.h"
#include "cli/options.h"
#include "engine/simulated.h"
#include "record/writer.h"
#include "sim/order.h"
#include "sim/outcome.h"
#include "sim/policies.h"

namespace plimsoll::cli {
namespace {

constexpr int kNotFinished = 1;
constexpr const char* kNoHistory = "none";

struct SimulateOptions {
  std::string trace;
  std::optional<double> cores;
  std::optional<Bytes> line;
  std::string policy = "plimsoll";
  sim::Order order = sim::Order::file;
  std::uint64_t seed = 1;
  std::string history = kNoHistory;
  std::optional<std::string> learn;
  std::optional<Bytes> swap;
  bool json = false;
};

constexpr const char* kFooter = R"(Policies:
  plimsoll      the governor, as `batch` has it
  fixed:N       N jobs at a time; past the line the kernel kills the largest, which starts again
  memfree:SIZE  GNU parallel's --memfree: starts while SIZE is free, kills the youngest when less
                than half of it is; SIZE may be a share of the line
  clairvoyant   knows the curves, and admits where their sum never passes the line

Examples:
  plimsoll simulate jobs.jsonl.xz --cores 16 --line 64G
  plimsoll simulate jobs.jsonl --cores 16 --line 64G --policy fixed:8 --order shuffle --seed 3
  plimsoll simulate half-b.jsonl --cores 128 --line 64G --learn half-a.jsonl --json

The file has a JSON object a line: class, name, and the lists t, mem_mb and cpu_pct. --line is the
line itself: the machine has that and a reserve beside it. The exit status is 0 if every job
finished, 1 if not, 125 for a mistake.
)";

std::optional<int> parse(SimulateOptions& options, int argc, char** argv) {
  CLI::App app("Runs jobs from a file of curves on a simulated machine.", "simulate");
  app.footer(kFooter);
  const std::map<std::string, sim::Order> orders = {{"file", sim::Order::file},
                                                    {"shuffle", sim::Order::shuffle},
                                                    {"longest", sim::Order::longest}};
  app.add_option("TRACE", options.trace, "File of curves, packed with xz or not")->required();
  add_parsed(app, "--cores", options.cores, parse_cpus, "Cores of the machine")->required();
  add_parsed(app, "--line", options.line, parse_bytes, "Memory that the jobs may use together")
      ->required();
  app.add_option("--policy", options.policy,
                 "plimsoll (default), fixed:N, memfree:SIZE or clairvoyant");
  app.add_option("--order", options.order, "Order of the jobs: file (default), shuffle or longest")
      ->transform(CLI::Transformer(orders).description(""));
  app.add_option("--seed", options.seed, "Of the shuffle (1)");
  app.add_option("--history", options.history, "What the governor knows before: none, or a FILE");
  app.add_option("--learn", options.learn, "Trace whose jobs the governor has seen before");
  add_parsed(app, "--swap", options.swap, parse_bytes, "Swap of the machine (none)");
  app.add_flag("--json", options.json, "JSON instead of text");
  return parse_or_exit_status(app, std::vector<std::string>(argv + 1, argv + argc));
}

// Whoever decides in this simulation. Jobs and world must outlive it.
Result<std::unique_ptr<policy::WorldObserver>> make_driver(const SimulateOptions& options,
                                                           const sim::Policy& policy,
                                                           const sim::MachineConfig& machine,
                                                           std::span<const sim::SimJob> jobs,
                                                           sim::SimulatedWorld& world) {
  if (!std::holds_alternative<sim::GovernorPolicy>(policy)) {
    return sim::make_baseline(policy, world, jobs, machine);
  }
  std::vector<sim::SimJob> learnt;
  if (options.learn) {
    auto read = sim::read_curves(*options.learn);
    if (!read) return pass(std::move(read));
    learnt = std::move(*read);
  }
  return std::make_unique<engine::SimulatedConductor>(
      engine::SimulatedRun{.machine = machine, .learnt = learnt}, jobs, world);
}

Result<void> print(const SimulateOptions& options, const sim::Outcome& outcome) {
  auto out = record::OutputFile::onto(UniqueFd(::dup(STDOUT_FILENO)), "standard output");
  return out.append(options.json ? sim::to_json(outcome) : sim::to_text(outcome));
}

Result<int> simulate(const SimulateOptions& options) {
  if (options.line == Bytes{}) return fail("--line: found 0, expected a size above");
  auto policy = sim::parse_policy(options.policy, *options.line);
  if (!policy) return pass(std::move(policy), "--policy");
  auto read = sim::read_curves(options.trace);
  if (!read) return pass(std::move(read));
  const std::vector<sim::SimJob> jobs =
      sim::in_order(std::move(*read), options.order, options.seed);
  const sim::MachineConfig machine = sim::machine_for(
      *policy,
      {.cores = *options.cores, .line = *options.line, .swap = options.swap.value_or(Bytes{})});
  sim::SimulatedWorld world(machine, jobs);
  auto driver = make_driver(options, *policy, machine, jobs, world);
  if (!driver) return pass(std::move(driver));
  world.run(**driver);
  const sim::Outcome outcome = sim::outcome_of(options.policy, world, jobs, machine);
  if (auto printed = print(options, outcome); !printed) return pass(std::move(printed));
  return outcome.finished ? kSuccess : kNotFinished;
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

// plimsoll compare: two recorded runs beside each other.
#include "analysis/comparison.h"
#include "analysis/comparison_text.h"
#include "analysis/job_row.h"
#include "cli/command/diagnostics.h"
#include "cli/command/exit_status.h"
#include "cli/command/options.h"
#include "cli/progress/terminal.h"
#include "cli/runs/commands.h"
#include "cli/runs/recorded_runs.h"
#include "store/runs/event_log.h"

namespace plimsoll::cli {
namespace {

struct CompareOptions {
  std::string before, after;
  std::vector<std::string> fail_if;
  bool all = false;
  bool json = false;
};

// As of diff(1): they differ by what was asked for.
constexpr int kConditionHolds = 1;

constexpr const char* kCompareFooter =
    R"(A and B are ids, beginnings of ids, paths with a '/', `last`, or `last-1` for the
run before; `plimsoll runs` lists them. Changes are shown from A to B.

CONDITION is `[CLASS:] FIGURE > PERCENT%` or with `<`. FIGURE is peak, time (without
pauses) or cpu of jobs, which count only if their change is beyond noise, or makespan,
used (the peak of all memory) or lost (CPU time of lost attempts) of the run. It is
also `failed`, `pauses` or `evictions`, with > and a count of B.

Examples:
  plimsoll compare last-1 last
  plimsoll compare 20261121 last --all
  plimsoll compare ./base last --fail-if 'peak > +10%' --fail-if 'failed > 0'
  plimsoll compare last-1 last --json | jq '.classes[].peak.change_share'

Exit status: 0; 1 if a condition of --fail-if holds; 125 if a run can't be read.
)";

std::optional<int> parse(CompareOptions& options, int argc, char** argv) {
  CLI::App app(
      "Compares two recorded runs: what became slower or bigger, by how much, and whether that is "
      "more than noise.",
      "compare");
  app.footer(kCompareFooter);
  app.add_option("A", options.before, "Run to compare with")->required();
  app.add_option("B", options.after, "Run that is compared")->required();
  app.add_option("--fail-if", options.fail_if,
                 "Exit with status 1 if this holds; may be given several times")
      ->type_name("CONDITION")
      ->allow_extra_args(false)
      ->check([](const std::string& text) {
        const auto parsed = analysis::parse_condition(text);
        return parsed ? std::string() : parsed.error().message();
      });
  app.add_flag("--all", options.all, "List every figure of every class, not only changes");
  app.add_flag("--json", options.json, "Print JSON (plimsoll.comparison/1) instead of text");
  return parse_or_exit_status(app, std::vector<std::string>(argv + 1, argv + argc));
}

Result<analysis::ComparedRun> read_compared(const std::string& name) {
  const auto run = read_run(name);
  if (!run) return tl::unexpected(run.error());
  return compared_run(*run);
}

Result<int> compare(const CompareOptions& options) {
  auto before = read_compared(options.before);
  if (!before) return pass(std::move(before));
  auto after = read_compared(options.after);
  if (!after) return pass(std::move(after));
  const analysis::Comparison comparison = analysis::compare(*before, *after);
  std::vector<std::string> breaches;
  for (const std::string& text : options.fail_if) {
    const auto condition = analysis::parse_condition(text);
    if (!condition) return fail("--fail-if: " + condition.error().message());
    for (const std::string& breach : analysis::breaches_of(*condition, comparison)) {
      breaches.push_back(text + ": " + breach);
    }
  }
  const auto listed = options.all ? analysis::Listed::all : analysis::Listed::beyond_noise;
  auto printed =
      print_text(options.json ? analysis::comparison_json(comparison, breaches)
                              : analysis::comparison_text(
                                    comparison, {.listed = listed, .width = list_style().width}));
  if (!printed) return printed;
  for (const std::string& breach : breaches) complain("compare: " + breach);
  return breaches.empty() ? kSuccess : kConditionHolds;
}

}  // namespace

int compare_command(int argc, char** argv) {
  CompareOptions options;
  if (const auto status = parse(options, argc, argv)) return *status;
  return status_of("compare", compare(options));
}

}  // namespace plimsoll::cli

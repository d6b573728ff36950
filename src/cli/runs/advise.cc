// plimsoll advise: which resources to ask a scheduler for, by class.
#include <unistd.h>

#include "analysis/advice.h"
#include "analysis/advice_formats.h"
#include "analysis/job_row.h"
#include "base/loop/loop.h"
#include "base/text.h"
#include "cli/command/diagnostics.h"
#include "cli/command/exit_status.h"
#include "cli/command/options.h"
#include "cli/progress/terminal.h"
#include "cli/runs/commands.h"
#include "cli/runs/recorded_runs.h"
#include "report/plain.h"
#include "store/history/state_dir.h"
#include "store/history/store.h"
#include "supervisor/wall_clock.h"

namespace plimsoll::cli {
namespace {

struct AdviseOptions {
  std::string run;  // empty: the history
  bool history = false;
  std::string pattern = "*";
  std::optional<analysis::AdviceFormat> format;
  std::optional<double> quantile, confidence;
};

constexpr const char* kAdviseFooter =
    R"(RUN is an id, the beginning of one, a path with a '/', `last`, or `last-1` for the one
before. Without it, all that is in the history counts.

Formats:
  text        a table
  json        plimsoll.advice/1
  slurm       #SBATCH lines for the script that sbatch runs
  snakemake   set-resources and set-threads of a profile's config.yaml
  nextflow    withName selectors for nextflow.config
  kubernetes  `resources` of a container

The request is the lowest recorded peak that will cover the share --quantile of
future attempts, with the certainty --confidence. Where there are too few attempts
to say so, it is the largest peak plus 10 %.

Examples:
  plimsoll advise
  plimsoll advise last --quantile 0.9
  plimsoll advise --class 'align*' --format snakemake >> profile/config.yaml
  plimsoll advise --history --format json | jq '.classes[].memory_bytes'
)";

Result<analysis::AdviceFormat> parse_advice_format(std::string_view text) {
  if (const auto format = analysis::advice_format(text)) return *format;
  return fail("found \"" + std::string(text) +
              "\", expected text, json, slurm, snakemake, nextflow or kubernetes");
}

Result<double> parse_inner_share(std::string_view text) {
  const auto share = to_double(text);
  if (share && *share > 0 && *share < 1) return *share;
  return fail("found \"" + std::string(text) +
              "\", expected a number between 0 and 1, such as 0.9");
}

std::optional<int> parse(AdviseOptions& options, int argc, char** argv) {
  CLI::App app(
      "Advises which memory, cores and time to ask a scheduler for, for each class of jobs.",
      "advise");
  app.footer(kAdviseFooter);
  auto* run = app.add_option("RUN", options.run,
                             "Run to learn from: an id, the beginning of one, last, or a path");
  app.add_flag("--history", options.history, "Learn from the history, which is the default")
      ->excludes(run);
  app.add_option("--class", options.pattern,
                 "Only classes whose name matches this pattern, with * ? and [...] as in the shell")
      ->type_name("PATTERN");
  add_parsed(app, "--format", options.format, parse_advice_format, "Format (default: text)")
      ->type_name("FORMAT");
  add_parsed(app, "--quantile", options.quantile, parse_inner_share,
             "Share of future attempts that the request has to cover (default 0.95)")
      ->type_name("SHARE");
  add_parsed(app, "--confidence", options.confidence, parse_inner_share,
             "How certain that has to be (default 0.95)")
      ->type_name("SHARE");
  return parse_or_exit_status(app, std::vector<std::string>(argv + 1, argv + argc));
}

Result<std::vector<history::Entry>> read_history() {
  auto dir = history::state_dir(history::state_environment());
  if (!dir) return pass(std::move(dir));
  auto opened = history::Store::open(history::history_path(*dir), supervisor::wall_now(),
                                     history::WhenMissing::leave);
  if (!opened && opened.error().gone()) return std::vector<history::Entry>();
  if (!opened) return pass(std::move(opened));
  if (opened->notice) complain("advise: " + *opened->notice);
  auto loaded = opened->store.load(Instant::max(), &loop::now);
  if (!loaded) return pass(std::move(loaded));
  if (const auto notice = opened->store.take_notice()) complain("advise: " + *notice);
  return std::move(loaded->entries);
}

struct Seen {
  std::vector<analysis::SeenClass> classes;
  std::string source;
};

Result<Seen> seen_by(const AdviseOptions& options) {
  if (options.run.empty()) {
    auto entries = read_history();
    if (!entries) return pass(std::move(entries));
    return Seen{.classes = analysis::seen_classes(*entries, options.pattern),
                .source = "the history"};
  }
  const auto run = read_run(options.run);
  if (!run) return tl::unexpected(run.error());
  const auto jobs = job_rows_of(*run);
  if (!jobs) return tl::unexpected(jobs.error());
  return Seen{.classes = analysis::seen_classes(*jobs, options.pattern),
              .source = "run " + run->entry.id};
}

Result<int> advise(const AdviseOptions& options) {
  auto seen = seen_by(options);
  if (!seen) return pass(std::move(seen));
  if (seen->classes.empty() && options.pattern != "*") {
    return fail("no class of " + seen->source + " matches \"" + report::printable(options.pattern) +
                "\"");
  }
  analysis::Coverage coverage;
  coverage.quantile = options.quantile.value_or(coverage.quantile);
  coverage.confidence = options.confidence.value_or(coverage.confidence);
  return print_text(analysis::advice_text(analysis::advise(seen->classes, coverage),
                                          options.format.value_or(analysis::AdviceFormat::text),
                                          {.words = seen->source, .width = list_style().width}));
}

}  // namespace

int advise_command(int argc, char** argv) {
  AdviseOptions options;
  if (const auto status = parse(options, argc, argv)) return *status;
  return status_of("advise", advise(options));
}

}  // namespace plimsoll::cli

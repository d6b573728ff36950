#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "analysis/job_row.h"
#include "analysis/rank_statistics.h"
#include "base/result.h"
#include "store/runs/run_meta.h"

// Two runs beside each other: what became slower or bigger, and whether chance can have done it.
namespace plimsoll::analysis {

// What is compared of each job: bytes, seconds, seconds.
enum class Metric : std::uint8_t { peak, time, cpu };
inline constexpr Metric kMetrics[] = {Metric::peak, Metric::time, Metric::cpu};
[[nodiscard]] std::string_view name_of(Metric metric);

// Of a difference below, fewer than one in twenty such findings are expected to be chance.
inline constexpr double kNoise = 0.05;

// Whether the same jobs were measured twice, or others of the same class.
enum class Design : std::uint8_t { paired, unpaired };

struct MetricChange {
  Metric metric{};
  double before = 0, after = 0;  // medians of those compared
  Design design{};
  Change change{};
  double adjusted_p = 1;  // for all that was tested beside it

  [[nodiscard]] bool is_beyond_noise() const { return adjusted_p < kNoise; }
};

struct ClassComparison {
  std::string name;
  std::size_t jobs_before = 0, jobs_after = 0;  // that succeeded
  std::vector<MetricChange> changes;            // of metrics that are known
};

// A figure of the whole run, of which there is one each: whether it is chance can't be told.
struct RunFigure {
  std::string name;                         // as --fail-if has it
  std::optional<double> before{}, after{};  // seconds, bytes or a count
};

// One run, as it is compared.
struct ComparedRun {
  std::string id;
  std::vector<JobRow> jobs;
  std::optional<report::RunFigures> figures{};  // of a run that has ended
};

struct Comparison {
  std::string before, after;  // ids
  std::vector<RunFigure> run;
  ClassComparison all;  // jobs of both runs, whatever their class; no changes: there are none
  std::vector<ClassComparison> classes;  // of both runs, by name
  std::vector<std::string> only_before, only_after;
};

// Of the jobs that succeeded: what another has reached tells little.
//
// Jobs with the same command in both runs are pairs, in the order of input where a command stands
// several times; where more than half of a class are pairs, these alone are compared.
[[nodiscard]] Comparison compare(const ComparedRun& before, const ComparedRun& after);

// The figure of the run with this name, if it is one.
[[nodiscard]] const RunFigure* find_figure(const Comparison& comparison, std::string_view name);

// A condition under which a comparison fails, as `plimsoll compare --fail-if` takes it:
// "peak > +10%", "link: time > 1.5%", "makespan > 20%", "failed > 0".
struct Condition {
  std::string text;                        // as given
  std::optional<std::string> job_class{};  // absent: any, and all jobs together
  // A metric of jobs, or the name of a figure of the run.
  std::variant<Metric, std::string> subject{};
  enum class Sense : std::uint8_t { above, below } sense = Sense::above;
  // A change as a share of what was before, or a count of the second run.
  enum class Measure : std::uint8_t { change, count } measure = Measure::change;
  double bound = 0;
};

// Errors say what was found and what was expected.
[[nodiscard]] Result<Condition> parse_condition(std::string_view text);

// Each way in which one holds, as a sentence. A metric of jobs counts only beyond noise; a figure
// that one of the runs does not have holds for nothing.
[[nodiscard]] std::vector<std::string> breaches_of(const Condition& condition,
                                                   const Comparison& comparison);

}  // namespace plimsoll::analysis

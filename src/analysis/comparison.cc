#include "analysis/comparison.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>
#include <utility>

#include "analysis/words.h"
#include "base/text.h"
#include "report/plain.h"

namespace plimsoll::analysis {
namespace {

using Jobs = std::vector<const JobRow*>;

// Above 0, as ratios want it.
std::optional<double> value_of(const JobRow& job, Metric metric) {
  std::optional<double> value;
  switch (metric) {
    case Metric::peak:
      if (job.peak) value = to_double(*job.peak);
      break;
    case Metric::time:
      if (const auto ran = job.ran ? job.ran : job.wall) value = to_seconds(*ran);
      break;
    case Metric::cpu:
      if (job.cpu) value = to_seconds(*job.cpu);
      break;
  }
  return value && *value > 0 ? value : std::nullopt;
}

using Pairs = std::vector<std::pair<const JobRow*, const JobRow*>>;

std::map<std::string, Jobs> by_command(const Jobs& jobs) {
  std::map<std::string, Jobs> commands;
  for (const JobRow* job : jobs) commands[job->command].push_back(job);
  for (auto& [command, same] : commands) {
    // Rows of one record: those without a number stay in its order.
    std::sort(same.begin(), same.end(), [](const JobRow* a, const JobRow* b) {
      return std::tie(a->number, a) < std::tie(b->number, b);
    });
  }
  return commands;
}

// A command that stands in one run more often than in the other is no pair: nobody knows which.
Pairs pairs_of(const Jobs& before, const Jobs& after) {
  const auto earlier = by_command(before);
  const auto later = by_command(after);
  Pairs pairs;
  for (const auto& [command, jobs] : earlier) {
    const auto found = later.find(command);
    if (found == later.end() || found->second.size() != jobs.size()) continue;
    for (std::size_t i = 0; i < jobs.size(); ++i) pairs.emplace_back(jobs[i], found->second[i]);
  }
  return pairs;
}

double middle_of(std::vector<double> logs) {
  const auto middle = logs.begin() + static_cast<std::ptrdiff_t>(logs.size() / 2);
  std::nth_element(logs.begin(), middle, logs.end());
  return std::exp(*middle);
}

std::optional<MetricChange> change_of_pairs(const Pairs& pairs, Metric metric) {
  std::vector<double> before, after, differences;
  for (const auto& [earlier, later] : pairs) {
    const auto from = value_of(*earlier, metric), to = value_of(*later, metric);
    if (!from || !to) continue;
    before.push_back(std::log(*from));
    after.push_back(std::log(*to));
    differences.push_back(after.back() - before.back());
  }
  if (differences.empty()) return std::nullopt;
  return MetricChange{.metric = metric,
                      .before = middle_of(std::move(before)),
                      .after = middle_of(std::move(after)),
                      .design = Design::paired,
                      .change = paired_change(std::move(differences))};
}

std::vector<double> logs_of(const Jobs& jobs, Metric metric) {
  std::vector<double> logs;
  for (const JobRow* job : jobs) {
    if (const auto value = value_of(*job, metric)) logs.push_back(std::log(*value));
  }
  return logs;
}

std::optional<MetricChange> change_of_sets(const Jobs& before, const Jobs& after, Metric metric) {
  std::vector<double> earlier = logs_of(before, metric), later = logs_of(after, metric);
  if (earlier.empty() || later.empty()) return std::nullopt;
  return MetricChange{.metric = metric,
                      .before = middle_of(earlier),
                      .after = middle_of(later),
                      .design = Design::unpaired,
                      .change = unpaired_change(std::move(earlier), std::move(later))};
}

ClassComparison class_comparison(std::string name, const Jobs& before, const Jobs& after) {
  ClassComparison compared{.name = std::move(name),
                           .jobs_before = before.size(),
                           .jobs_after = after.size(),
                           .changes = {}};
  const Pairs pairs = pairs_of(before, after);
  const bool are_pairs = 2 * pairs.size() > std::max(before.size(), after.size());
  for (const Metric metric : kMetrics) {
    auto change =
        are_pairs ? change_of_pairs(pairs, metric) : change_of_sets(before, after, metric);
    if (change) compared.changes.push_back(std::move(*change));
  }
  return compared;
}

Jobs succeeded_of(const ComparedRun& run) {
  Jobs jobs;
  for (const JobRow& job : run.jobs) {
    if (succeeded(job)) jobs.push_back(&job);
  }
  return jobs;
}

std::map<std::string, Jobs> by_class(const Jobs& jobs) {
  std::map<std::string, Jobs> classes;
  for (const JobRow* job : jobs) classes[job->job_class].push_back(job);
  return classes;
}

std::optional<double> seconds_of(const std::optional<Duration>& time) {
  return time ? std::optional(to_seconds(*time)) : std::nullopt;
}

std::vector<RunFigure> figures_of(const ComparedRun& before, const ComparedRun& after) {
  std::vector<RunFigure> figures;
  const auto add = [&](const char* name, auto of) {
    const auto value = [&of](const ComparedRun& run) -> std::optional<double> {
      return run.figures ? of(*run.figures) : std::nullopt;
    };
    figures.push_back({.name = name, .before = value(before), .after = value(after)});
  };
  using Figures = report::RunFigures;
  using Value = std::optional<double>;
  add("makespan", [](const Figures& run) { return seconds_of(run.makespan); });
  add("used", [](const Figures& run) {
    return run.used_peak ? Value(to_double(*run.used_peak)) : std::nullopt;
  });
  add("lost", [](const Figures& run) { return seconds_of(run.lost_cpu); });
  add("failed", [](const Figures& run) -> Value {
    if (!run.succeeded) return std::nullopt;
    // Nothing bad is known of small steps.
    return static_cast<double>(run.jobs - std::min(*run.succeeded + run.small_steps, run.jobs));
  });
  add("pauses", [](const Figures& run) -> Value { return static_cast<double>(run.pauses); });
  add("evictions", [](const Figures& run) -> Value { return static_cast<double>(run.evictions); });
  return figures;
}

// Of all classes and of the run as a whole, at once.
void adjust(Comparison& comparison) {
  std::vector<MetricChange*> changes;
  for (MetricChange& change : comparison.all.changes) changes.push_back(&change);
  for (ClassComparison& one : comparison.classes) {
    for (MetricChange& change : one.changes) changes.push_back(&change);
  }
  std::vector<double> p;
  for (const MetricChange* change : changes) p.push_back(change->change.p);
  const std::vector<double> bounded = adjusted(p);
  for (std::size_t i = 0; i < changes.size(); ++i) changes[i]->adjusted_p = bounded[i];
}

// Pairs of both runs: sets of different jobs would differ for what they are.
ClassComparison compare_all(const Jobs& before, const Jobs& after) {
  ClassComparison all{
      .name = {}, .jobs_before = before.size(), .jobs_after = after.size(), .changes = {}};
  const Pairs pairs = pairs_of(before, after);
  for (const Metric metric : kMetrics) {
    if (auto change = change_of_pairs(pairs, metric)) all.changes.push_back(std::move(*change));
  }
  return all;
}

constexpr std::string_view kCounts[] = {"failed", "pauses", "evictions"};
constexpr std::string_view kFigures[] = {"makespan", "used", "lost"};

constexpr const char* kExpected =
    "expected a condition such as \"peak > +10%\", \"CLASS: time > 20%\", \"makespan > 5%\" or "
    "\"failed > 0\"";

template <std::size_t N>
bool is_among(const std::string_view (&names)[N], std::string_view name) {
  return std::find(std::begin(names), std::end(names), name) != std::end(names);
}

std::optional<Metric> metric_named(std::string_view name) {
  for (const Metric metric : kMetrics) {
    if (name_of(metric) == name) return metric;
  }
  return std::nullopt;
}

// "+10%", "10 %", "-5%" as a share; nothing for other texts.
std::optional<double> parse_change(std::string_view text) {
  if (!text.ends_with('%')) return std::nullopt;
  text = trim(text.substr(0, text.size() - 1));
  const bool is_less = text.starts_with('-');
  if (is_less || text.starts_with('+')) text.remove_prefix(1);
  const auto percent = to_double(text);
  if (!percent || *percent < 0) return std::nullopt;
  return (is_less ? -*percent : *percent) / kPercent;
}

tl::unexpected<Error> refuse(std::string_view text, const std::string& why) {
  return fail("found \"" + std::string(text) + "\"" + why + ", " + kExpected);
}

bool holds(const Condition& condition, double value) {
  return condition.sense == Condition::Sense::above ? value > condition.bound
                                                    : value < condition.bound;
}

void find_in(const ClassComparison& compared, const std::string& whose, const Condition& condition,
             std::vector<std::string>& breaches) {
  for (const MetricChange& change : compared.changes) {
    if (change.metric != std::get<Metric>(condition.subject) || !change.is_beyond_noise()) continue;
    const double share = share_of_change(change.change.log_ratio);
    if (!holds(condition, share)) continue;
    std::string text = whose + ": " + std::string(name_of(change.metric)) + " has changed by " +
                       change_text(share);
    if (change.change.range) {
      text += " (95 %: " + change_text(share_of_change(change.change.range->first)) + " to " +
              change_text(share_of_change(change.change.range->second)) + ")";
    }
    breaches.push_back(std::move(text));
  }
}

std::optional<std::string> breach_of_run(const Condition& condition, const RunFigure& figure) {
  if (!figure.after) return std::nullopt;
  if (condition.measure == Condition::Measure::count) {
    if (!holds(condition, *figure.after)) return std::nullopt;
    return fmt::format("the run: {} is {:g}", figure.name, *figure.after);
  }
  if (!figure.before || *figure.before <= 0) return std::nullopt;
  const double share = *figure.after / *figure.before - 1;
  if (!holds(condition, share)) return std::nullopt;
  return "the run: " + figure.name + " has changed by " + change_text(share);
}

}  // namespace

std::string_view name_of(Metric metric) {
  switch (metric) {
    case Metric::peak: return "peak";
    case Metric::time: return "time";
    case Metric::cpu: return "cpu";
  }
  return {};
}

Comparison compare(const ComparedRun& before, const ComparedRun& after) {
  const Jobs earlier = succeeded_of(before), later = succeeded_of(after);
  Comparison comparison{.before = before.id,
                        .after = after.id,
                        .run = figures_of(before, after),
                        .all = compare_all(earlier, later),
                        .classes = {},
                        .only_before = {},
                        .only_after = {}};
  const auto old_classes = by_class(earlier), new_classes = by_class(later);
  for (const auto& [name, jobs] : old_classes) {
    const auto found = new_classes.find(name);
    if (found == new_classes.end()) {
      comparison.only_before.push_back(name);
    } else {
      comparison.classes.push_back(class_comparison(name, jobs, found->second));
    }
  }
  for (const auto& [name, jobs] : new_classes) {
    if (!old_classes.contains(name)) comparison.only_after.push_back(name);
  }
  adjust(comparison);
  return comparison;
}

const RunFigure* find_figure(const Comparison& comparison, std::string_view name) {
  for (const RunFigure& figure : comparison.run) {
    if (figure.name == name) return &figure;
  }
  return nullptr;
}

Result<Condition> parse_condition(std::string_view text) {
  const std::size_t sign = text.find_last_of("<>");
  if (sign == std::string_view::npos) return refuse(text, " without < or >");
  Condition condition{.text = std::string(text)};
  if (text[sign] == '<') condition.sense = Condition::Sense::below;
  std::string_view subject = trim(text.substr(0, sign));
  const std::string_view bound = trim(text.substr(sign + 1));
  if (const std::size_t colon = subject.rfind(':'); colon != std::string_view::npos) {
    condition.job_class = std::string(trim(subject.substr(0, colon)));
    subject = trim(subject.substr(colon + 1));
  }
  if (const auto metric = metric_named(subject)) {
    condition.subject = *metric;
  } else if (condition.job_class) {
    return refuse(text, ", in which \"" + std::string(subject) + "\" is not peak, time or cpu");
  } else if (is_among(kFigures, subject)) {
    condition.subject = std::string(subject);
  } else if (is_among(kCounts, subject)) {
    condition.subject = std::string(subject);
    condition.measure = Condition::Measure::count;
  } else {
    return refuse(text, ", in which \"" + std::string(subject) +
                            "\" is not peak, time, cpu, makespan, used, lost, failed, pauses or "
                            "evictions");
  }
  const auto value =
      condition.measure == Condition::Measure::count ? to_double(bound) : parse_change(bound);
  if (!value) {
    return refuse(text,
                  ", in which \"" + std::string(bound) + "\" is not a " +
                      (condition.measure == Condition::Measure::count ? "number" : "percentage"));
  }
  condition.bound = *value;
  return condition;
}

std::vector<std::string> breaches_of(const Condition& condition, const Comparison& comparison) {
  std::vector<std::string> breaches;
  if (const auto* const name = std::get_if<std::string>(&condition.subject)) {
    const RunFigure* figure = find_figure(comparison, *name);
    if (figure == nullptr) return breaches;
    if (auto breach = breach_of_run(condition, *figure)) breaches.push_back(std::move(*breach));
    return breaches;
  }
  if (!condition.job_class) find_in(comparison.all, "all jobs", condition, breaches);
  for (const ClassComparison& compared : comparison.classes) {
    if (condition.job_class && compared.name != *condition.job_class) continue;
    find_in(compared, "class " + report::printable(compared.name), condition, breaches);
  }
  return breaches;
}

}  // namespace plimsoll::analysis

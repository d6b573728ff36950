#include "analysis/fail_if.h"

#include <fmt/format.h>

#include <algorithm>

#include "analysis/words.h"
#include "base/text.h"
#include "report/plain.h"

namespace plimsoll::analysis {
namespace {

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

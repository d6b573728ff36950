#include "page/stack.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <string>

namespace plimsoll::page {
namespace {

double used_at(const CurvePoint& point) { return to_double(point.used.value_or(Bytes{})); }

// At `t` since the attempt's start; `place` is the first point that is not before it.
double between(const std::vector<CurvePoint>& curve, std::size_t place, double t) {
  const double before = place > 0 ? used_at(curve[place - 1]) : 0;
  if (place == curve.size()) return before;
  const double after = used_at(curve[place]);
  if (place == 0) return after;
  const double from = to_seconds(curve[place - 1].t), width = to_seconds(curve[place].t) - from;
  return width > 0 ? before + (after - before) * (t - from) / width : after;
}

void add_curve(std::vector<double>& sums, const DrawnAttempt& attempt,
               const std::vector<CurvePoint>& curve, double step) {
  const double start = to_seconds(attempt.start);
  const auto first = static_cast<std::size_t>(std::max(0.0, std::ceil(start / step)));
  const double last =
      std::min(std::floor(to_seconds(attempt.end) / step), static_cast<double>(sums.size() - 1));
  std::size_t place = 0;
  for (std::size_t i = first; static_cast<double>(i) <= last; ++i) {
    const double t = static_cast<double>(i) * step - start;
    while (place < curve.size() && to_seconds(curve[place].t) < t) ++place;
    double most = between(curve, place, t);
    for (std::size_t near = place; near > 0; --near) {
      if (to_seconds(curve[near - 1].t) <= t - step / 2) break;
      most = std::max(most, used_at(curve[near - 1]));
    }
    for (std::size_t near = place; near < curve.size(); ++near) {
      if (to_seconds(curve[near].t) >= t + step / 2) break;
      most = std::max(most, used_at(curve[near]));
    }
    sums[i] += most;
  }
}

}  // namespace

Levels levels_of(const Record& record, std::string_view number) {
  Levels levels;
  for (const report::RecordedEvent& event : record.events) {
    for (const auto& [name, value] : event.numbers) {
      if (name != number || (!levels.empty() && levels.back().second == value)) continue;
      levels.emplace_back(event.t, value);
    }
  }
  if (number != "line_bytes") return levels;
  const auto& entry = record.entry;
  const auto line = entry.figures && entry.figures->line ? entry.figures->line : entry.meta.line;
  if (levels.empty() && line) levels.emplace_back(Duration{}, to_double(*line));
  if (!levels.empty()) levels.front().first = Duration{};
  return levels;
}

std::vector<std::vector<double>> stacked_memory(const Record& record, const Drawing& drawing,
                                                const StackSize& size) {
  std::vector<std::vector<double>> sums(size.groups, std::vector<double>(size.points));
  const double step = to_seconds(drawing.end) / static_cast<double>(size.points - 1);
  if (step <= 0) return sums;
  std::map<std::string_view, std::size_t> groups;
  for (std::size_t i = 0; i < drawing.classes.size(); ++i) {
    groups.emplace(drawing.classes[i], std::min(i, size.groups - 1));
  }
  for (const DrawnAttempt& attempt : drawing.attempts) {
    const Job& job = record.jobs[attempt.job];
    if (attempt.index + 1 != job.attempts.size() || job.curve.empty()) continue;
    add_curve(sums[groups.at(job.job_class)], attempt, job.curve, step);
  }
  for (std::size_t group = size.groups; group-- > 1;) {
    for (std::size_t i = 0; i < size.points; ++i) sums[group - 1][i] += sums[group][i];
  }
  return sums;
}

}  // namespace plimsoll::page

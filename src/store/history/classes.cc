#include "store/history/classes.h"

#include <fnmatch.h>

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

namespace plimsoll::history {
namespace {

template <class T>
Quantiles<T> quantiles(std::vector<T> values) {
  std::sort(values.begin(), values.end());
  const auto rank = [&values](std::size_t percent) {
    return values[(values.size() * percent + 99) / 100 - 1];
  };
  return {.p50 = rank(50), .p90 = rank(90), .max = values.back()};
}

template <class T>
std::optional<Quantiles<T>> quantiles_if_known(std::vector<T> values) {
  if (values.empty()) return std::nullopt;
  return quantiles(std::move(values));
}

ClassSummary summary_of(const policy::Key& key, const std::vector<const Entry*>& entries) {
  ClassSummary summary{.key = key, .count = entries.size(), .peak = {}, .ran = {}};
  std::vector<Bytes> peaks, written, io;
  std::vector<Duration> times;
  std::vector<double> cores;
  for (const Entry* entry : entries) {
    const policy::AttemptSummary& seen = entry->attempt_summary;
    if (seen.peak_seen == policy::Seen::at_least) ++summary.at_least;
    peaks.push_back(seen.peak);
    times.push_back(seen.ran);
    if (seen.cores) cores.push_back(*seen.cores);
    if (seen.written) written.push_back(*seen.written);
    if (seen.io) io.push_back(*seen.io);
    summary.last = std::max(summary.last, entry->recorded);
  }
  summary.peak = quantiles(std::move(peaks));
  summary.ran = quantiles(std::move(times));
  summary.cores = quantiles_if_known(std::move(cores));
  summary.written = quantiles_if_known(std::move(written));
  summary.io = quantiles_if_known(std::move(io));
  return summary;
}

}  // namespace

std::vector<ClassSummary> summarise(const std::vector<Entry>& entries, const std::string& pattern) {
  using Name = std::tuple<std::optional<std::uint32_t>, std::string, std::string>;
  std::map<Name, std::vector<const Entry*>> classes;
  for (const Entry& entry : entries) {
    const policy::Key& key = entry.attempt_summary.key;
    classes[{key.owner, key.exact, key.tool}].push_back(&entry);
  }
  std::vector<ClassSummary> summaries;
  for (const auto& [name, of_class] : classes) {
    const auto& [owner, exact, tool] = name;
    if (::fnmatch(pattern.c_str(), exact.c_str(), 0) != 0) continue;
    summaries.push_back(summary_of({.exact = exact, .tool = tool, .owner = owner}, of_class));
  }
  std::sort(summaries.begin(), summaries.end(), [](const ClassSummary& a, const ClassSummary& b) {
    if (a.peak.p90 != b.peak.p90) return a.peak.p90 > b.peak.p90;
    return std::tie(a.key.exact, a.key.tool, a.key.owner) <
           std::tie(b.key.exact, b.key.tool, b.key.owner);
  });
  return summaries;
}

}  // namespace plimsoll::history

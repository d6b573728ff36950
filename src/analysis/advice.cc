#include "analysis/advice.h"

#include <fnmatch.h>

#include <algorithm>
#include <bit>
#include <chrono>
#include <cmath>
#include <map>
#include <tuple>

namespace plimsoll::analysis {
namespace {

using policy::Seen;

std::vector<SeenClass> matching(std::map<std::string, std::vector<SeenAttempt>> classes,
                                const std::string& pattern) {
  std::vector<SeenClass> seen;
  for (auto& [name, attempts] : classes) {
    if (::fnmatch(pattern.c_str(), name.c_str(), 0) != 0) continue;
    seen.push_back({.name = name, .attempts = std::move(attempts)});
  }
  return seen;
}

// Up to four binary digits: by an eighth at most, and the same request for what is nearly the same.
Bytes rounded_up(double bytes) {
  constexpr int kDigits = 4;
  const std::uint64_t count = std::max(to_bytes(std::ceil(bytes)), kRequestMin).count;
  const int over = std::max(static_cast<int>(std::bit_width(count)) - kDigits, 0);
  const std::uint64_t step = std::uint64_t{1} << over;
  return Bytes{(count / step + (count % step == 0 ? 0 : 1)) * step};
}

struct Bound {
  double value = 0;
  Basis basis{};
  double confidence = 0;
};

// A bound for values in ascending order; nothing where there are none.
std::optional<Bound> bound_of(const std::vector<double>& values, const Coverage& coverage) {
  if (values.empty()) return std::nullopt;
  if (const auto rank = covering_rank(values.size(), coverage)) {
    return Bound{.value = values[*rank - 1],
                 .basis = Basis::bound,
                 .confidence = confidence_of_rank(*rank, values.size(), coverage.quantile)};
  }
  return Bound{.value = values.back() * (1 + kRoomAboveMost),
               .basis = Basis::most_seen,
               .confidence = confidence_of_rank(values.size(), values.size(), coverage.quantile)};
}

// Values of attempts that were cut short are no ranks among the others, but what they had reached
// is needed too.
Bound raised(std::optional<Bound> bound, double cut_most) {
  if (bound && bound->value >= cut_most) return *bound;
  return {.value = cut_most * (1 + kRoomAboveMost), .basis = Basis::cut_short};
}

double nearest_rank(const std::vector<double>& sorted, double share) {
  const auto rank = static_cast<std::size_t>(std::ceil(share * static_cast<double>(sorted.size())));
  return sorted[std::max<std::size_t>(rank, 1) - 1];
}

unsigned whole_cores(double cores) {
  return static_cast<unsigned>(std::max(1.0, std::ceil(cores - kCoreTolerance)));
}

Duration time_limit_of(const std::vector<SeenAttempt>& attempts, const Coverage& coverage) {
  std::vector<double> whole;
  double cut_most = 0;
  for (const SeenAttempt& attempt : attempts) {
    const double seconds = to_seconds(attempt.ran);
    if (attempt.ran_seen == Seen::whole) {
      whole.push_back(seconds);
    } else {
      cut_most = std::max(cut_most, seconds);
    }
  }
  std::sort(whole.begin(), whole.end());
  const double seconds = raised(bound_of(whole, coverage), cut_most).value * kTimeLimitFactor;
  constexpr double kMinute = 60;
  return std::chrono::minutes(
      std::max<std::int64_t>(1, static_cast<std::int64_t>(std::ceil(seconds / kMinute))));
}

std::optional<Saving> saving_of(const std::vector<SeenAttempt>& attempts, Bytes request) {
  Saving saving;
  for (const SeenAttempt& attempt : attempts) {
    if (!attempt.asked) continue;
    ++saving.attempts;
    saving.asked_most = std::max(saving.asked_most, *attempt.asked);
    const double asked = to_double(*attempt.asked);
    saving.asked_byte_seconds += asked * to_seconds(attempt.ran);
    saving.saved_byte_seconds += (asked - to_double(request)) * to_seconds(attempt.ran);
  }
  if (saving.attempts == 0) return std::nullopt;
  return saving;
}

ClassAdvice advice_for(const SeenClass& seen, const Coverage& coverage) {
  std::vector<double> peaks, whole, cores;
  double cut_most = 0, seconds = 0;
  ClassAdvice advice{.name = seen.name, .count = seen.attempts.size()};
  for (const SeenAttempt& attempt : seen.attempts) {
    const double peak = to_double(attempt.peak);
    peaks.push_back(peak);
    seconds += to_seconds(attempt.ran);
    if (attempt.cores) cores.push_back(*attempt.cores);
    if (attempt.peak_seen == Seen::whole) {
      whole.push_back(peak);
    } else {
      ++advice.at_least;
      cut_most = std::max(cut_most, peak);
    }
  }
  for (auto* values : {&peaks, &whole, &cores}) std::sort(values->begin(), values->end());
  const Bound bound = raised(bound_of(whole, coverage), cut_most);
  advice.memory = rounded_up(bound.value);
  advice.basis = bound.basis;
  advice.confidence = bound.confidence;
  advice.over =
      static_cast<std::size_t>(std::count_if(peaks.begin(), peaks.end(), [&advice](double peak) {
        return peak > to_double(advice.memory);
      }));
  constexpr double kMedian = 0.5;
  advice.median = to_bytes(nearest_rank(peaks, kMedian));
  advice.most = to_bytes(peaks.back());
  if (!cores.empty()) advice.cores_used = nearest_rank(cores, coverage.quantile);
  advice.cores = whole_cores(advice.cores_used.value_or(1));
  advice.time_limit = time_limit_of(seen.attempts, coverage);
  advice.byte_seconds = to_double(advice.memory) * seconds;
  advice.saving = saving_of(seen.attempts, advice.memory);
  return advice;
}

double one_for_all(const std::vector<ClassAdvice>& classes) {
  if (classes.empty()) return 1;
  double reserved = 0, alike = 0;
  for (const ClassAdvice& one : classes) {
    reserved += one.byte_seconds;
    alike += one.byte_seconds * (to_double(classes.front().memory) / to_double(one.memory));
  }
  return reserved > 0 ? alike / reserved : 1;
}

}  // namespace

std::string_view name_of(Basis basis) {
  switch (basis) {
    case Basis::bound: return "bound";
    case Basis::most_seen: return "most_seen";
    case Basis::cut_short: return "cut_short";
  }
  return {};
}

std::vector<SeenClass> seen_classes(const std::vector<JobRow>& jobs, const std::string& pattern) {
  std::map<std::string, std::vector<SeenAttempt>> classes;
  for (const JobRow& job : jobs) {
    const auto ran = job.ran ? job.ran : job.wall;
    if (!was_executed(job) || !job.peak || !ran) continue;
    const Seen seen = succeeded(job) ? Seen::whole : Seen::at_least;
    classes[job.job_class].push_back({.peak = *job.peak,
                                      .peak_seen = seen,
                                      .ran = *ran,
                                      .ran_seen = seen,
                                      .cores = cores(job),
                                      .asked = job.limit});
  }
  return matching(std::move(classes), pattern);
}

std::vector<SeenClass> seen_classes(const std::vector<history::Entry>& entries,
                                    const std::string& pattern) {
  std::map<std::string, std::vector<SeenAttempt>> classes;
  for (const history::Entry& entry : entries) {
    const policy::AttemptSummary& seen = entry.attempt_summary;
    classes[seen.key.exact].push_back({.peak = seen.peak,
                                       .peak_seen = seen.peak_seen,
                                       .ran = seen.ran,
                                       .ran_seen = seen.ran_seen,
                                       .cores = seen.cores,
                                       .asked = seen.memory_hint});
  }
  return matching(std::move(classes), pattern);
}

Advice advise(const std::vector<SeenClass>& classes, const Coverage& coverage) {
  Advice advice{.coverage = coverage, .classes = {}};
  for (const SeenClass& seen : classes) advice.classes.push_back(advice_for(seen, coverage));
  std::sort(advice.classes.begin(), advice.classes.end(),
            [](const ClassAdvice& a, const ClassAdvice& b) {
              return std::tie(b.memory, a.name) < std::tie(a.memory, b.name);
            });
  advice.one_for_all = one_for_all(advice.classes);
  return advice;
}

}  // namespace plimsoll::analysis

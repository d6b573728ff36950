#include "policy/estimator.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "policy/forecast.h"
#include "policy/guess.h"
#include "policy/line_fit.h"
#include "policy/prior.h"
#include "policy/record.h"

namespace plimsoll::policy {
namespace {

// An input explains a figure from this correlation on, and from this many attempts.
constexpr double kCorrelationMin = 0.7;
constexpr std::size_t kFitRunsMin = 4;
// What a class without news of is worth beside its record: one attempt.
constexpr double kGuessRuns = 1;
// The likelihood of any track under a guess, beside forecast(): its bounds are ten times as wide
// in both of the figures that are compared.
constexpr double kGuessLikelihood = 0.01;
// What an evicted attempt had reached, it reaches again, and more. A guess.
constexpr double kBeyondReached = 1.25;
// How far a user's word is off, as a share, before there is any experience with it.
constexpr double kHintSpread = 0.5;

double number(Bytes bytes) { return static_cast<double>(bytes.count); }

struct Entry {
  Record record;
  std::uint64_t learned_at = 0;
  struct Summary {
    std::optional<LineFit> peak;
    std::optional<LineFit> seconds;
    Estimate unstarted;
  };
  std::optional<Summary> summary;
};

Belief blend(const Belief& a, double share, const Belief& b) {
  const double mean = share * a.mean + (1 - share) * b.mean;
  const double square = share * (a.spread * a.spread + a.mean * a.mean) +
                        (1 - share) * (b.spread * b.spread + b.mean * b.mean);
  return {mean, std::sqrt(std::max(0.0, square - mean * mean))};
}

// `share` of `a`, the rest of `b`; basis and count as of `a`.
Estimate blend(const Estimate& a, double share, const Estimate& b) {
  Estimate blended = a;
  blended.peak = blend(a.peak, share, b.peak);
  blended.cores = blend(a.cores, share, b.cores);
  blended.remaining = blend(a.remaining, share, b.remaining);
  for (std::size_t i = 0; i < kHorizons.size(); ++i) {
    blended.ahead[i] = blend(a.ahead[i], share, b.ahead[i]);
    blended.survival[i] = share * a.survival[i] + (1 - share) * b.survival[i];
  }
  return blended;
}

std::optional<LineFit> explains(const Record& record, double Run::* figure) {
  std::vector<FitPoint> points;
  for (std::size_t i = 0; i < record.runs().size(); ++i) {
    const Run& run = record.runs()[i];
    if (!run.input) continue;
    points.push_back({*run.input, run.*figure, record.weight(i)});
  }
  if (points.size() < kFitRunsMin) return std::nullopt;
  auto fit = fit_line(points);
  if (fit && std::abs(fit->correlation) < kCorrelationMin) return std::nullopt;
  return fit;
}

BySize by_size(const Entry::Summary& summary, const JobFacts& facts) {
  if (!facts.input) return {};
  return {.input = number(*facts.input),
          .peak = summary.peak ? &*summary.peak : nullptr,
          .seconds = summary.seconds ? &*summary.seconds : nullptr};
}

// An earlier attempt of the same job proves that it needs more than it had reached.
void raise(Estimate& estimate, const JobFacts& facts) {
  if (!facts.reached) return;
  const double least = number(*facts.reached) * kBeyondReached;
  if (estimate.peak.mean >= least) return;
  const double factor = estimate.peak.mean > 0 ? least / estimate.peak.mean : 1;
  estimate.peak = {least, std::max(estimate.peak.spread, least - number(*facts.reached))};
  for (Belief& belief : estimate.ahead) belief = {belief.mean * factor, belief.spread * factor};
}

}  // namespace

class Estimator::State {
 public:
  using Entries = std::unordered_map<std::string, Entry>;

  void learn(const Experience& experience) {
    ++learned_;
    learn(classes_, experience.key.exact, experience);
    if (!experience.key.tool.empty()) learn(tools_, experience.key.tool, experience);
  }

  // The narrowest entry that knows something of the key.
  Entry* find(const Key& key, Basis& basis) {
    basis = Basis::exact;
    if (const auto found = classes_.find(key.exact); found != classes_.end()) return &found->second;
    basis = Basis::tool;
    if (const auto found = tools_.find(key.tool); found != tools_.end()) return &found->second;
    basis = Basis::prior;
    return nullptr;
  }

  Prior prior(const Key& key, const JobFacts& facts) const {
    Prior prior = prior_of(key.tool);
    if (facts.memory_hint) {
      const double hint = number(*facts.memory_hint);
      prior.peak = {hint, hint * kHintSpread};
    }
    if (facts.cpu_hint) prior.cores = {*facts.cpu_hint, *facts.cpu_hint * kHintSpread};
    return prior;
  }

  static const Entry::Summary& summary(Entry& entry, const Prior& prior) {
    if (!entry.summary) {
      entry.summary.emplace();
      entry.summary->peak = explains(entry.record, &Run::peak);
      entry.summary->seconds = explains(entry.record, &Run::seconds);
      entry.summary->unstarted = forecast(entry.record, {}).estimate;
      if (entry.summary->unstarted.cores.mean <= 0) entry.summary->unstarted.cores = prior.cores;
    }
    return *entry.summary;
  }

  [[nodiscard]] std::size_t classes() const { return classes_.size(); }

 private:
  void learn(Entries& entries, const std::string& name, const Experience& experience) {
    if (entries.size() >= kClassesMax && !entries.contains(name)) {
      entries.erase(std::min_element(
          entries.begin(), entries.end(),
          [](const auto& a, const auto& b) { return a.second.learned_at < b.second.learned_at; }));
    }
    Entry& entry = entries[name];
    entry.record.learn(experience);
    entry.learned_at = learned_;
    entry.summary.reset();
  }

  Entries classes_;
  Entries tools_;
  std::uint64_t learned_ = 0;
};

Estimator::Estimator() : state_(std::make_unique<State>()) {}
Estimator::~Estimator() = default;
Estimator::Estimator(Estimator&&) noexcept = default;
Estimator& Estimator::operator=(Estimator&&) noexcept = default;

void Estimator::learn(const Experience& experience) { state_->learn(experience); }

Estimate Estimator::estimate(const Key& key, const JobFacts& facts) const {
  Basis basis{};
  Entry* entry = state_->find(key, basis);
  const Prior prior = state_->prior(key, facts);
  Estimate estimate;
  if (entry == nullptr) {
    estimate = guess(prior);
    estimate.basis = facts.memory_hint ? Basis::hint : Basis::prior;
  } else {
    const auto& summary = State::summary(*entry, prior);
    const BySize size = by_size(summary, facts);
    estimate = size.peak != nullptr || size.seconds != nullptr
                   ? forecast(entry->record, size).estimate
                   : summary.unstarted;
    estimate.basis = basis;
    estimate.attempts_known = entry->record.attempts();
  }
  raise(estimate, facts);
  return estimate;
}

Estimate Estimator::estimate(const Key& key, const JobFacts& facts, const Track& track) const {
  if (!track.has_samples()) return estimate(key, facts);
  Basis basis{};
  Entry* entry = state_->find(key, basis);
  Prior prior = state_->prior(key, facts);
  Estimate result;
  if (entry == nullptr) {
    result = guess(prior, track);
    result.basis = facts.memory_hint ? Basis::hint : Basis::prior;
  } else {
    const auto& summary = State::summary(*entry, prior);
    prior = {summary.unstarted.peak, summary.unstarted.cores, summary.unstarted.remaining};
    Forecast seen = forecast(entry->record, by_size(summary, facts), track);
    const auto runs = static_cast<double>(entry->record.runs().size());
    const double known = runs * seen.likelihood;
    const double share = known / (known + kGuessRuns * kGuessLikelihood);
    if (seen.estimate.cores.mean <= 0) seen.estimate.cores = prior.cores;
    result = blend(seen.estimate, share, guess(prior, track));
    result.basis = basis;
    result.attempts_known = entry->record.attempts();
  }
  if (facts.reached && track.peak() < *facts.reached) raise(result, facts);
  return result;
}

Bytes Estimator::reservation(const Key& key, const JobFacts& facts,
                             std::optional<Bytes> failed_at) const {
  const Estimate first = estimate(key, facts);
  const double wanted = first.peak.mean + 2 * first.peak.spread;
  const double least = failed_at ? number(*failed_at) * 2 : 0;
  return {static_cast<std::uint64_t>(std::max(wanted, least))};
}

std::size_t Estimator::classes_known() const { return state_->classes(); }

}  // namespace plimsoll::policy

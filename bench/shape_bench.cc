// How well the estimator knows the shape of attempts over time: shape_bench CURVES [SEED]. It
// learns from a random half of the attempts in the file and is asked about the others at several
// moments of each. One JSON object a line: "class", "t" (s), "mem_mb", "cpu_pct".
#include <array>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <random>
#include <string>
#include <vector>

#include "base/text.h"
#include "policy/estimator/estimator.h"

namespace plimsoll::bench {
namespace {

using policy::Estimate;
using policy::kHorizons;

struct Attempt {
  std::string job_class;
  std::vector<policy::JobSample> samples;
  [[nodiscard]] Duration ran() const { return samples.back().ran; }
};

constexpr double kMegabyte = 1e6;
Duration time(double seconds) {
  return std::chrono::duration_cast<Duration>(std::chrono::duration<double>(seconds));
}

Attempt attempt_of(const nlohmann::json& line) {
  Attempt attempt{.job_class = line.at("class"), .samples = {}};
  policy::JobSample sample;
  for (std::size_t i = 0; i < line.at("t").size(); ++i) {
    const Duration ran = time(line["t"][i].get<double>());
    const double cores = line.at("cpu_pct")[i].get<double>() / 100;
    sample.cpu += time(cores * to_seconds(ran - sample.ran));
    sample.ran = ran;
    const double used = line.at("mem_mb")[i].get<double>() * kMegabyte;
    sample.used = {static_cast<std::uint64_t>(used)};
    sample.peak = std::max(sample.peak, sample.used);
    attempt.samples.push_back(sample);
  }
  return attempt;
}

policy::AttemptSummary attempt_summary_of(const Attempt& attempt) {
  std::vector<policy::CurvePoint> course;
  for (const auto& sample : attempt.samples) course.push_back({sample.ran, sample.used});
  const auto& last = attempt.samples.back();
  return {.key = {attempt.job_class, {}},
          .peak = last.peak,
          .ran = last.ran,
          .cores = to_seconds(last.ran) > 0 ? to_seconds(last.cpu) / to_seconds(last.ran) : 1,
          .curve = policy::thin(std::move(course))};
}

double used_at(const Attempt& attempt, Duration at) {
  const auto after =
      std::upper_bound(attempt.samples.begin(), attempt.samples.end(), at,
                       [](Duration time, const auto& sample) { return time < sample.ran; });
  return to_double(std::prev(after)->used);
}

double most_from(const Attempt& attempt, Duration at) {
  double most = used_at(attempt, at);
  for (const auto& sample : attempt.samples) {
    if (sample.ran >= at) most = std::max(most, to_double(sample.used));
  }
  return most;
}

// Sums over moments, each weighted with the time that it stands for.
struct Errors {
  double weight = 0, squares = 0, bias = 0, holding = 0, normal = 0, above = 0;
  void add(double one_weight, const policy::Belief& belief, double actual, double now) {
    const double error = belief.mean - actual;
    weight += one_weight;
    squares += one_weight * error * error;
    bias += one_weight * error;
    holding += one_weight * (now - actual) * (now - actual);
    const double spread = std::max(belief.spread, kMegabyte);
    normal += one_weight * error * error / (spread * spread);
    above += one_weight * (actual > belief.mean + 2 * belief.spread ? 1 : 0);
  }
  void print(const std::string& name) const {
    std::printf(
        "%-16s error %6.0f MB, bias %+6.0f; if it held %6.0f MB; z %.2f, above +2 spreads %.1f %%",
        name.c_str(), std::sqrt(squares / weight) / kMegabyte, bias / weight / kMegabyte,
        std::sqrt(holding / weight) / kMegabyte, std::sqrt(normal / weight), above / weight * 100);
  }
};

struct Totals {
  std::array<Errors, kHorizons.size()> ahead;
  std::array<double, kHorizons.size()> survival_error{}, survival_weight{};
  Errors peak, remaining;
};

constexpr int kMoments = 24;

// Gives the time that the estimates took.
Duration ask(const policy::Estimator& estimator, const Attempt& attempt, Totals& totals) {
  Duration spent{};
  policy::LiveProfile live_profile;
  std::size_t next = 0;
  for (int moment = 0; moment < kMoments; ++moment) {
    const Duration at = time(to_seconds(attempt.ran()) * (moment + 0.5) / kMoments);
    while (next < attempt.samples.size() && attempt.samples[next].ran <= at) {
      live_profile.observe(attempt.samples[next++]);
    }
    const auto begin = std::chrono::steady_clock::now();
    const Estimate estimate = estimator.estimate({attempt.job_class, {}}, {}, live_profile);
    spent += std::chrono::steady_clock::now() - begin;
    const double weight = to_seconds(attempt.ran()) / kMoments;
    const double now = to_double(live_profile.used());
    const Duration ran = live_profile.ran();
    totals.peak.add(weight, estimate.peak, most_from(attempt, ran), now);
    for (std::size_t h = 0; h < kHorizons.size(); ++h) {
      const bool runs = ran + kHorizons[h] < attempt.ran();
      const double off = estimate.survival[h] - (runs ? 1 : 0);
      totals.survival_error[h] += weight * off * off;
      totals.survival_weight[h] += weight;
      if (!runs) continue;
      totals.ahead[h].add(weight, estimate.ahead[h], used_at(attempt, ran + kHorizons[h]), now);
    }
  }
  return spent;
}

// Before it starts, each attempt counting by its running time.
void ask_before(const policy::Estimator& estimator, const Attempt& attempt, Totals& totals) {
  const Estimate estimate = estimator.estimate({attempt.job_class, {}}, {});
  const double weight = to_seconds(attempt.ran());
  totals.peak.add(weight, estimate.peak, most_from(attempt, {}), 0);
  for (std::size_t h = 0; h < kHorizons.size(); ++h) {
    const bool runs = kHorizons[h] < attempt.ran();
    const double off = estimate.survival[h] - (runs ? 1 : 0);
    totals.survival_error[h] += weight * off * off;
    totals.survival_weight[h] += weight;
    if (runs) totals.ahead[h].add(weight, estimate.ahead[h], used_at(attempt, kHorizons[h]), 0);
  }
}

void print(const std::string& name, const Totals& totals) {
  std::printf("%s\n", name.c_str());
  totals.peak.print("  peak from now");
  std::printf("\n");
  for (std::size_t h = 0; h < kHorizons.size(); ++h) {
    if (totals.ahead[h].weight <= 0) continue;
    totals.ahead[h].print("  in " + std::to_string(std::lround(to_seconds(kHorizons[h]))) + " s");
    std::printf(", survival off %.2f\n",
                std::sqrt(totals.survival_error[h] / totals.survival_weight[h]));
  }
}

int run(const char* path, unsigned seed) {
  std::ifstream file(path);
  std::vector<Attempt> attempts;
  for (std::string line; std::getline(file, line);) {
    Attempt attempt = attempt_of(nlohmann::json::parse(line));
    if (attempt.samples.size() > 1) attempts.push_back(std::move(attempt));
  }
  std::mt19937 random(seed);
  std::shuffle(attempts.begin(), attempts.end(), random);
  policy::Estimator estimator;
  const std::size_t half = attempts.size() / 2;
  for (std::size_t i = 0; i < half; ++i) estimator.learn(attempt_summary_of(attempts[i]));
  std::map<std::string, Totals> by_class;
  Totals all;
  Duration spent{};
  for (std::size_t i = half; i < attempts.size(); ++i) {
    spent += ask(estimator, attempts[i], by_class[attempts[i].job_class]);
  }
  Totals before;
  for (std::size_t i = half; i < attempts.size(); ++i) {
    ask(estimator, attempts[i], all);
    ask_before(estimator, attempts[i], before);
  }
  for (const auto& [name, totals] : by_class) print(name, totals);
  print("all, by time", all);
  print("before the start, by time", before);
  std::printf("%.1f us an estimate\n",
              to_seconds(spent) / static_cast<double>(attempts.size() - half) / kMoments * 1e6);
  return attempts.empty() ? 1 : 0;
}

}  // namespace
}  // namespace plimsoll::bench

int main(int argc, char** argv) {
  if (argc < 2) {
    std::fprintf(stderr, "usage: shape_bench CURVES [SEED]\n");
    return 2;
  }
  const auto seed = argc > 2 ? plimsoll::to_u64(argv[2]).value_or(1) : 1;
  return plimsoll::bench::run(argv[1], static_cast<unsigned>(seed));
}

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "policy/estimator/estimator.h"

namespace plimsoll::policy {
namespace {

const Key kClass{"class", "tool"};

Bytes some_bytes() { return {*rc::gen::inRange<std::uint64_t>(0, 1ULL << 36)}; }
Duration some_time() { return std::chrono::milliseconds(*rc::gen::inRange(0, 10'000'000)); }

// Any values that the types allow, within the sizes of real machines.
AttemptSummary some_experience() {
  AttemptSummary one{.key = kClass, .peak = some_bytes(), .ran = some_time()};
  if (*rc::gen::arbitrary<bool>()) one.peak_seen = one.ran_seen = Seen::at_least;
  if (*rc::gen::arbitrary<bool>()) one.cores = *rc::gen::inRange(0, 64);
  if (*rc::gen::arbitrary<bool>()) one.input = some_bytes();
  if (*rc::gen::arbitrary<bool>()) one.memory_hint = some_bytes();
  const auto points = *rc::gen::inRange<std::size_t>(0, 100);
  std::vector<CurvePoint> course;
  for (std::size_t i = 0; i < points; ++i) {
    course.push_back(
        {one.ran * i / points, {*rc::gen::inRange<std::uint64_t>(0, one.peak.count + 1)}});
  }
  one.curve = thin(std::move(course));
  return one;
}

LiveProfile some_track() {
  LiveProfile live_profile;
  JobSample sample;
  const int samples = *rc::gen::inRange(0, 20);
  for (int i = 0; i < samples; ++i) {
    sample.ran += some_time() / 20;
    sample.cpu += some_time() / 20;
    sample.used = some_bytes();
    live_profile.observe(sample);
  }
  return live_profile;
}

JobFacts some_facts() {
  JobFacts facts;
  if (*rc::gen::arbitrary<bool>()) facts.memory_hint = some_bytes();
  if (*rc::gen::arbitrary<bool>()) facts.cpu_hint = *rc::gen::inRange(0, 64);
  if (*rc::gen::arbitrary<bool>()) facts.input = some_bytes();
  if (*rc::gen::arbitrary<bool>()) facts.reached = some_bytes();
  if (*rc::gen::arbitrary<bool>()) facts.memory_max = some_bytes() + Bytes{1};
  return facts;
}

void is_sound(const Belief& belief) {
  RC_ASSERT(std::isfinite(belief.mean) && belief.mean >= 0);
  RC_ASSERT(std::isfinite(belief.spread) && belief.spread >= 0);
}

void is_sound(const Estimate& estimate) {
  is_sound(estimate.peak);
  is_sound(estimate.cores);
  is_sound(estimate.remaining);
  for (const Belief& ahead : estimate.ahead) is_sound(ahead);
  double before = 1;
  for (const double survival : estimate.survival) {
    RC_ASSERT(survival >= 0 && survival <= before + 1e-9);
    before = survival;
  }
}

RC_GTEST_PROP(Estimator, IsSoundWhateverItLearns, ()) {
  Estimator estimator;
  const auto count = *rc::gen::inRange(0, 30);
  for (int i = 0; i < count; ++i) estimator.learn(some_experience());
  for (const Key& key : {kClass, Key{"other", "tool"}, Key{"other", ""}, Key{"", "xz"}}) {
    const JobFacts facts = some_facts();
    is_sound(estimator.estimate(key, facts));
    const LiveProfile track = some_track();
    const Estimate now = estimator.estimate(key, facts, track);
    is_sound(now);
    // What has been passed says nothing any more.
    if (now.told_most) RC_ASSERT(*now.told_most >= to_double(track.peak()));
    RC_ASSERT(now.told_most || !facts.memory_max);
  }
}

// Whole attempts of one class, none outlandish.
AttemptSummary plain(double peak) {
  return {.key = kClass,
          .peak = {static_cast<std::uint64_t>(peak)},
          .ran = std::chrono::seconds(10),
          .cores = 1};
}

RC_GTEST_PROP(Estimator, AnAttemptThatWasCutOffNeverLowersThePeak, ()) {
  Estimator estimator;
  const auto count = *rc::gen::inRange(1, 40);
  for (int i = 0; i < count; ++i) estimator.learn(plain(*rc::gen::inRange(1'000, 1'000'000)));
  const double before = estimator.estimate(kClass, {}).peak.mean;
  AttemptSummary cut = plain(*rc::gen::inRange(1'000, 2'000'000));
  cut.peak_seen = cut.ran_seen = Seen::at_least;
  estimator.learn(cut);
  RC_ASSERT(estimator.estimate(kClass, {}).peak.mean >= before * (1 - 1e-9));
}

RC_GTEST_PROP(Estimator, OneMoreAttemptAsExpectedNeverWidensTheSpread, ()) {
  Estimator estimator;
  const auto count = *rc::gen::inRange(1, 40);
  for (int i = 0; i < count; ++i) {
    estimator.learn(plain(*rc::gen::inRange(1'000'000'000, 1'100'000'000)));
  }
  const Belief before = estimator.estimate(kClass, {}).peak;
  estimator.learn(plain(before.mean));
  RC_ASSERT(estimator.estimate(kClass, {}).peak.spread <= before.spread * (1 + 1e-6));
}

RC_GTEST_PROP(Estimator, MoreReachedIsNeverLessExpected, ()) {
  Estimator estimator;
  const auto count = *rc::gen::inRange(0, 10);
  for (int i = 0; i < count; ++i) estimator.learn(some_experience());
  const Bytes less = some_bytes();
  const Bytes more = less + some_bytes();
  const Estimate a = estimator.estimate(kClass, {.reached = less});
  const Estimate b = estimator.estimate(kClass, {.reached = more});
  RC_ASSERT(b.peak.mean >= a.peak.mean);
  RC_ASSERT(a.peak.mean >= static_cast<double>(less.count));
}

RC_GTEST_PROP(Thinning, KeepsTheEndsAndThePeakInOrder, ()) {
  std::vector<CurvePoint> course;
  const auto points = *rc::gen::inRange<std::size_t>(1, 300);
  Duration at{};
  for (std::size_t i = 0; i < points; ++i) {
    at += std::chrono::milliseconds(*rc::gen::inRange(0, 5'000));
    course.push_back({at, some_bytes()});
  }
  const auto thinned = thin(course);
  const auto less = [](const CurvePoint& a, const CurvePoint& b) { return a.used < b.used; };
  RC_ASSERT(thinned.size() == std::min(points, kCurvePointsMax));
  RC_ASSERT(thinned.front() == course.front());
  RC_ASSERT(thinned.back() == course.back());
  RC_ASSERT(std::max_element(thinned.begin(), thinned.end(), less)->used ==
            std::max_element(course.begin(), course.end(), less)->used);
  RC_ASSERT(std::is_sorted(thinned.begin(), thinned.end(),
                           [](const CurvePoint& a, const CurvePoint& b) { return a.at < b.at; }));
}

TEST(Thinning, AWobbleIsLeftOutBeforeAStep) {
  std::vector<CurvePoint> course;
  for (std::uint64_t i = 0; i < 200; ++i) {
    course.push_back({std::chrono::seconds(i), {(i < 100 ? 1000U : 5000U) + i % 2 * 50}});
  }
  const auto thinned = thin(course, 5);
  ASSERT_EQ(thinned.size(), 5U);
  EXPECT_TRUE(std::any_of(thinned.begin(), thinned.end(), [](const CurvePoint& point) {
    return point.at >= std::chrono::seconds(95) && point.at <= std::chrono::seconds(105);
  }));
}

}  // namespace
}  // namespace plimsoll::policy

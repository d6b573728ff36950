#include "analysis/advice.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>

#include "analysis/advice_formats.h"

namespace plimsoll::analysis {
namespace {

using namespace plimsoll::literals;
using namespace std::chrono_literals;
using ::testing::HasSubstr;
using ::testing::Not;

SeenAttempt seen(Bytes peak, Duration ran = 10s) {
  return {.peak = peak, .ran = ran, .cores = 1.0};
}

// `count` attempts with peaks of 1, 2, 3 ... MiB times `scale`.
SeenClass rising(const std::string& name, std::size_t count, std::uint64_t scale = 1) {
  SeenClass rising{.name = name, .attempts = {}};
  for (std::size_t i = 1; i <= count; ++i) {
    rising.attempts.push_back(seen(Bytes{(i * scale) << 20}));
  }
  return rising;
}

ClassAdvice advice_of(const SeenClass& one, const Coverage& coverage = {}) {
  return advise({one}, coverage).classes.at(0);
}

TEST(Advice, ABoundByRankWhereThereAreEnough) {
  const ClassAdvice advice = advice_of(rising("a", 100));
  EXPECT_EQ(advice.basis, Basis::bound);
  // The 99th, rounded up to a multiple of 8 MiB: four binary digits.
  EXPECT_EQ(advice.memory, 104_MiB);
  EXPECT_GE(advice.confidence, 0.95);
  EXPECT_EQ(advice.count, 100U);
  EXPECT_EQ(advice.over, 0U);
  EXPECT_EQ(advice.median, 50_MiB);
  EXPECT_EQ(advice.most, 100_MiB);
}

TEST(Advice, ALowerQuantileAsksForLessAndSaysHowManyHadMore) {
  const ClassAdvice advice = advice_of(rising("a", 100), {.quantile = 0.5, .confidence = 0.5});
  EXPECT_EQ(advice.memory, 52_MiB);
  EXPECT_EQ(advice.over, 48U);
}

TEST(Advice, OfFewAttemptsTheMostWithRoom) {
  const ClassAdvice advice = advice_of(rising("a", 3, 100));
  EXPECT_EQ(advice.basis, Basis::most_seen);
  EXPECT_EQ(advice.memory, 352_MiB);  // 330 MiB, rounded up
  EXPECT_NEAR(advice.confidence, 1 - 0.95 * 0.95 * 0.95, 1e-9);
}

TEST(Advice, AnAttemptThatWasCutShortRaisesTheRequest) {
  SeenClass one = rising("a", 100);
  one.attempts.push_back({.peak = 500_MiB, .peak_seen = policy::Seen::at_least, .ran = 1s});
  const ClassAdvice advice = advice_of(one);
  EXPECT_EQ(advice.basis, Basis::cut_short);
  EXPECT_EQ(advice.memory, 576_MiB);  // 550 MiB, rounded up
  EXPECT_EQ(advice.at_least, 1U);
  EXPECT_EQ(advice.confidence, 0);
}

TEST(Advice, OneThatWasCutShortBelowTheBoundDoesNot) {
  SeenClass one = rising("a", 100);
  one.attempts.push_back({.peak = 5_MiB, .peak_seen = policy::Seen::at_least, .ran = 1s});
  EXPECT_EQ(advice_of(one).basis, Basis::bound);
}

TEST(Advice, CoresAreWholeAndTimeIsTwiceTheBoundInMinutes) {
  SeenClass one{.name = "a", .attempts = {{.peak = 1_GiB, .ran = 100s, .cores = 2.05}}};
  EXPECT_EQ(advice_of(one).cores, 2U);
  EXPECT_EQ(advice_of(one).time_limit, 4min);  // 100 s and a tenth, twice: 220 s
  one.attempts[0].cores = 2.5;
  EXPECT_EQ(advice_of(one).cores, 3U);
  one.attempts[0].cores.reset();
  EXPECT_EQ(advice_of(one).cores, 1U);
  EXPECT_FALSE(advice_of(one).cores_used);
}

TEST(Advice, WhatWouldHaveBeenSavedIsOfWhatWasAsked) {
  SeenClass one{.name = "a", .attempts = {seen(900_MiB), seen(900_MiB), seen(900_MiB)}};
  EXPECT_FALSE(advice_of(one).saving);
  one.attempts[0].asked = 4_GiB;
  const ClassAdvice advice = advice_of(one);
  ASSERT_TRUE(advice.saving);
  EXPECT_EQ(advice.memory, 1_GiB);
  EXPECT_EQ(advice.saving->attempts, 1U);
  EXPECT_EQ(advice.saving->asked_most, 4_GiB);
  EXPECT_DOUBLE_EQ(advice.saving->saved_byte_seconds, to_double(3_GiB) * 10);
  one.attempts[0].asked = 512_MiB;
  EXPECT_LT(advice_of(one).saving->saved_byte_seconds, 0);
}

TEST(Advice, OneRequestForAllIsComparedByBytesTimesSeconds) {
  const Advice advice = advise({{.name = "small", .attempts = {seen(225_MiB)}},
                                {.name = "large", .attempts = {seen(900_MiB)}}},
                               {});
  ASSERT_EQ(advice.classes.size(), 2U);
  EXPECT_EQ(advice.classes[0].name, "large");
  EXPECT_EQ(advice.classes[0].memory, 1_GiB);
  EXPECT_EQ(advice.classes[1].memory, 256_MiB);
  EXPECT_DOUBLE_EQ(advice.one_for_all, 2.0 / 1.25);
}

TEST(Advice, OfARunOnlyWhatWasExecutedCounts) {
  const JobRow good{.job_class = "a",
                    .outcome = "exited",
                    .exit_code = 0,
                    .attempts = 1,
                    .wall = 4s,
                    .ran = 2s,
                    .cpu = 3s,
                    .peak = 100_MiB,
                    .limit = 1_GiB};
  JobRow failed = good, missing = good, skipped = good, other = good;
  failed.exit_code = 1;
  missing.exit_code = 127;
  skipped.attempts = 0;
  other.job_class = "b";
  const auto classes = seen_classes({good, failed, missing, skipped, other}, "a*");
  ASSERT_EQ(classes.size(), 1U);
  ASSERT_EQ(classes[0].attempts.size(), 2U);
  EXPECT_EQ(classes[0].attempts[0].peak_seen, policy::Seen::whole);
  EXPECT_EQ(classes[0].attempts[1].peak_seen, policy::Seen::at_least);
  EXPECT_EQ(classes[0].attempts[0].ran, 2s);
  EXPECT_EQ(classes[0].attempts[0].cores, 1.5);
  EXPECT_EQ(classes[0].attempts[0].asked, 1_GiB);
}

std::string text_of(const std::string& name, AdviceFormat format) {
  return advice_text(advise({{.name = name, .attempts = {seen(900_MiB, 100s)}}}, {}), format,
                     {.words = "run 1"});
}

TEST(Advice, SlurmIsAskedInMebibytesAndMinutes) {
  EXPECT_THAT(text_of("link", AdviceFormat::slurm),
              HasSubstr("#SBATCH --mem=1024M\n#SBATCH --cpus-per-task=1\n#SBATCH --time=4\n"));
}

TEST(Advice, SnakemakeIsAskedInMegabytesByRules) {
  EXPECT_THAT(text_of("link", AdviceFormat::snakemake),
              HasSubstr("  \"link\": {mem_mb: 1074, runtime: 4}\nset-threads:\n  \"link\": 1\n"));
  // No rule can be named so, and a ':' or '=' would be read as another setting.
  const std::string text = text_of("cc -c:x=1", AdviceFormat::snakemake);
  EXPECT_THAT(text, Not(HasSubstr("set-resources")));
  EXPECT_THAT(text, HasSubstr("# No rule has the name \"cc -c:x=1\": mem_mb: 1074"));
}

TEST(Advice, NextflowGetsAPatternOfTheNameAlone) {
  EXPECT_THAT(text_of("QC:FASTQC", AdviceFormat::nextflow),
              HasSubstr("  withName: 'QC:FASTQC' {\n    memory = '1024 MB'\n    cpus = 1\n"
                        "    time = '4 min'\n  }\n"));
  EXPECT_THAT(text_of("a.b*'$\\", AdviceFormat::nextflow),
              HasSubstr(R"(withName: 'a\\.b\\*\\\'\\$\\\\' {)"));
}

TEST(Advice, KubernetesGetsADocumentForEachClass) {
  EXPECT_THAT(text_of("link", AdviceFormat::kubernetes),
              HasSubstr("resources:\n  requests:\n    memory: 1024Mi\n    cpu: 1000m\n  limits:\n"
                        "    memory: 1024Mi\n"));
}

TEST(Advice, ANameEndsNoCommentInAnyFormat) {
  for (const AdviceFormat format :
       {AdviceFormat::text, AdviceFormat::slurm, AdviceFormat::snakemake, AdviceFormat::nextflow,
        AdviceFormat::kubernetes}) {
    EXPECT_THAT(text_of("a\nrm -rf\r\x1b[2J", format), Not(HasSubstr("\nrm"))) << int(format);
    EXPECT_THAT(text_of("a\nrm -rf\r\x1b[2J", format), Not(HasSubstr("\x1b"))) << int(format);
  }
}

TEST(Advice, NothingIsSaidToBeNothing) {
  const std::string text = "Nothing is known from run 1.\n";
  const auto none = [](AdviceFormat format) { return advice_text({}, format, {.words = "run 1"}); };
  EXPECT_EQ(none(AdviceFormat::text), text);
  EXPECT_EQ(none(AdviceFormat::slurm), "# " + text);
  EXPECT_EQ(none(AdviceFormat::snakemake), "# " + text);
  EXPECT_EQ(none(AdviceFormat::nextflow), "// " + text + "process {\n}\n");
  EXPECT_EQ(none(AdviceFormat::kubernetes), "# " + text);
}

TEST(Advice, EveryFormatHasItsName) {
  EXPECT_EQ(advice_format("slurm"), AdviceFormat::slurm);
  EXPECT_EQ(advice_format("Slurm"), std::nullopt);
  EXPECT_EQ(advice_format(""), std::nullopt);
}

}  // namespace
}  // namespace plimsoll::analysis

#include "sim/curves.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "base/text.h"
#include "sim/unpack.h"

namespace plimsoll::sim {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::vector<SimJob> parsed(std::string_view text) {
  auto jobs = parse_curves(text, "trace");
  EXPECT_TRUE(jobs) << jobs.error().message();
  return jobs ? std::move(*jobs) : std::vector<SimJob>{};
}

std::string error_of(std::string_view text) {
  const auto jobs = parse_curves(text, "trace");
  return jobs ? "no error" : jobs.error().message();
}

TEST(Curves, AJobIsReadWhole) {
  const auto jobs = parsed(
      R"({"class":"sort","name":"sort a","id":7,"priority":2,"needs":["x"],"workflow":"skipped",)"
      R"("t":[0,10.5,20],"mem_mb":[0,100,50.5],"cpu_pct":[100,150,0]})"
      "\n\n"
      R"({"class":"sort","name":"x","t":[3,5],"mem_mb":[0,1],"cpu_pct":[0,0]})");
  ASSERT_EQ(jobs.size(), 2U);
  EXPECT_EQ(jobs[0].spec.id, JobId{1});
  EXPECT_EQ(jobs[0].spec.name, "7");
  EXPECT_EQ(jobs[0].spec.job_class, "sort");
  EXPECT_EQ(policy::command_line(jobs[0].spec.command), "sort a");
  EXPECT_EQ(jobs[0].spec.priority, 2);
  EXPECT_THAT(jobs[0].spec.needs, ElementsAre(JobId{2}));
  const Curve& curve = jobs[0].curve;
  EXPECT_DOUBLE_EQ(curve.seconds(), 20);
  EXPECT_DOUBLE_EQ(curve.peak_mib(), 100);
  EXPECT_DOUBLE_EQ(curve.cpu_seconds(), 10.5 * 1 + 9.5 * 1.5);
  EXPECT_DOUBLE_EQ(curve.mib_seconds(), 10.5 * 50 + 9.5 * 75.25);
  EXPECT_DOUBLE_EQ(jobs[1].curve.seconds(), 2) << "times are counted from the first";
}

TEST(Curves, WhatIsThereAtFirstIsAllocatedFirst) {
  const Curve curve({{0, 1024, 1}, {10, 1024, 1}});
  ASSERT_EQ(curve.points().size(), 3U);
  EXPECT_EQ(curve.points()[0].mib, 0);
  EXPECT_DOUBLE_EQ(curve.points()[1].seconds, 0.5);
  EXPECT_DOUBLE_EQ(curve.seconds(), 10);
}

TEST(Curves, OddTimesMakeACurveAllTheSame) {
  EXPECT_DOUBLE_EQ(Curve({{5, 10, 1}}).seconds(), kSinglePointHeld);
  const Curve twice({{0, 0, 1}, {1, 1, 1}, {1, 500, 1}, {2, 500, 1}});
  for (std::size_t i = 1; i < twice.points().size(); ++i) {
    EXPECT_GT(twice.points()[i].seconds, twice.points()[i - 1].seconds);
  }
}

TEST(Curves, ErrorsNameFileLineFoundAndExpected) {
  const std::string good = R"({"class":"a","name":"a","t":[0,1],"mem_mb":[1,1],"cpu_pct":[1,1]})";
  struct Case {
    std::string text, error;
  };
  const std::vector<Case> cases = {
      {"", "trace: found no job, expected at least one"},
      {good + "\n{", "trace:2: found broken JSON, expected one JSON object"},
      {good + "\n[1]", "trace:2: found a list, expected one JSON object"},
      {R"({"name":"a"})", "trace:1: found no \"class\", expected text"},
      {R"({"class":"","name":"a"})", "trace:1: found \"\" as \"class\""},
      {R"({"class":"a","name":"a"})", "found no \"t\", expected a list of numbers"},
      {R"({"class":"a","name":"a","t":[]})", "found an empty list as \"t\""},
      {R"({"class":"a","name":"a","t":3})", "found 3 as \"t\""},
      {R"({"class":"a","name":"a","t":[0,-1]})", "found -1 in \"t\", expected numbers from 0"},
      {R"({"class":"a","name":"a","t":[0,"x"]})", "found \"x\" in \"t\""},
      {R"({"class":"a","name":"a","t":[0,2,1],"mem_mb":[1,1,1],"cpu_pct":[1,1,1]})",
       "found 1 after 2 in \"t\", expected increasing times"},
      {R"({"class":"a","name":"a","t":[0,1],"mem_mb":[1],"cpu_pct":[1,1]})",
       "found 1 numbers in \"mem_mb\", expected 2 as in \"t\""},
      {R"({"class":"a","name":"a","t":[0,1],"mem_mb":[1,1e300],"cpu_pct":[1,1]})",
       "in \"mem_mb\", expected numbers from 0 to"},
      {R"({"class":"a","name":"a","priority":1.5,"t":[0],"mem_mb":[1],"cpu_pct":[1]})",
       "found 1.5 as \"priority\""},
      {R"({"class":"a","name":"a","needs":["b"],"t":[0],"mem_mb":[1],"cpu_pct":[1]})",
       "trace:1: found \"b\" in \"needs\", expected the id of a job of this file"},
      {R"({"class":"a","name":"a","needs":["a"],"t":[0],"mem_mb":[1],"cpu_pct":[1]})",
       "found a cycle of jobs that need each other"},
      {R"({"class":"a","name":"a","id":"i","t":[0],"mem_mb":[1],"cpu_pct":[1]})"
       "\n"
       R"({"class":"a","name":"b","id":"i","t":[0],"mem_mb":[1],"cpu_pct":[1]})",
       "trace:2: found the id \"i\" twice, expected a different id for each job; line 1 has the "
       "same id"},
  };
  for (const Case& one : cases) EXPECT_THAT(error_of(one.text), HasSubstr(one.error)) << one.text;
}

TEST(Curves, AnotherOrderRenamesIdsAndNeeds) {
  std::vector<SimJob> jobs;
  for (std::size_t i = 1; i <= 50; ++i) {
    SimJob job{.spec = {}, .curve = Curve({{0, 0, 1}, {static_cast<double>(i), 0, 1}})};
    job.spec.id = JobId{i};
    job.spec.name = std::to_string(i);
    if (i > 1) job.spec.needs = {JobId{i - 1}};
    jobs.push_back(std::move(job));
  }
  for (const Order order : {Order::file, Order::shuffle, Order::longest}) {
    const auto ordered = in_order(jobs, order, 3);
    for (std::size_t i = 0; i < ordered.size(); ++i) {
      EXPECT_EQ(ordered[i].spec.id, JobId{i + 1});
      for (const JobId need : ordered[i].spec.needs) {
        const SimJob& needed = ordered[static_cast<std::size_t>(need) - 1];
        EXPECT_EQ(to_u64(needed.spec.name).value() + 1, to_u64(ordered[i].spec.name));
      }
    }
  }
  EXPECT_EQ(in_order(jobs, Order::longest, 0).front().spec.name, "50");
  const auto names = [&jobs](std::uint64_t seed) {
    std::string all;
    for (const SimJob& job : in_order(jobs, Order::shuffle, seed)) all += job.spec.name + " ";
    return all;
  };
  EXPECT_EQ(names(1), names(1));
  EXPECT_NE(names(1), names(2));
}

// "hello\n", by xz 5.4.
constexpr std::string_view kHello(
    "\375\067\172\130\132\000\000\004\346\326\264\106\002\000\041\001\026\000\000\000"
    "\164\057\345\243\001\000\005\150\145\154\154\157\012\000\000\000\245\140\227\361"
    "\224\366\375\340\000\001\036\006\301\057\244\035\037\266\363\175\001\000\000\000"
    "\000\004\131\132",
    64);

TEST(Unpack, WholeFilesOnly) {
  EXPECT_TRUE(is_xz(kHello));
  EXPECT_FALSE(is_xz("{\"class\":"));
  const auto text = unpack_xz(kHello, 100);
  ASSERT_TRUE(text) << text.error().message();
  EXPECT_EQ(*text, "hello\n");
  const std::string two = std::string(kHello) + std::string(kHello);
  EXPECT_EQ(unpack_xz(two, 100).value(), "hello\nhello\n");
  const auto cut = unpack_xz(kHello.substr(0, kHello.size() - 5), 100);
  ASSERT_FALSE(cut);
  EXPECT_THAT(cut.error().message(), HasSubstr("truncated"));
  std::string damaged(kHello);
  damaged[damaged.size() / 2] = static_cast<char>(damaged[damaged.size() / 2] ^ 1);
  EXPECT_FALSE(unpack_xz(damaged, 100));
  EXPECT_FALSE(unpack_xz(kHello, 3));
}

}  // namespace
}  // namespace plimsoll::sim

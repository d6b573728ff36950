#include "sim/fit_jobs.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "sim/quantities.h"
#include "stage.h"

namespace plimsoll::sim {
namespace {

using namespace plimsoll::literals;
using std::vector;
using testing::ElementsAre;
using Rule = FitJobs::Rule;

// Notes when jobs end.
class NotesEnds final : public policy::ExecutorObserver {
 public:
  NotesEnds(policy::ExecutorObserver& driver, SimulatedExecutor& executor)
      : driver_(driver), executor_(executor) {}

  void on_job(JobId job, const policy::JobSample& sample) override { driver_.on_job(job, sample); }
  void on_machine(const policy::MachineSample& sample) override { driver_.on_machine(sample); }
  void on_over(JobId job, const policy::AttemptEnd& end) override {
    jobs.push_back(static_cast<int>(index_of(job)) + 1);
    seconds = to_seconds(executor_.now().time_since_epoch());
    driver_.on_over(job, end);
  }
  void on_wake() override { driver_.on_wake(); }

  vector<int> jobs;    // in the order of their ends
  double seconds = 0;  // of the last
  std::uint64_t kills = 0;

 private:
  policy::ExecutorObserver& driver_;
  SimulatedExecutor& executor_;
};

// On a machine of ten cores and 1,000 MiB.
NotesEnds ends_under(Rule rule, const vector<SimJob>& jobs) {
  const MachineConfig machine{
      .cores = 10, .line = from_mib(1000), .wall = Wall::kill, .sampling = Sampling::none};
  SimulatedExecutor executor(machine, jobs);
  FitJobs driver(executor, jobs, machine.line, machine.cores, rule);
  NotesEnds ends(driver, executor);
  executor.run(ends);
  ends.kills = executor.tally().oom_kills;
  return ends;
}

SimJob box(std::size_t number, float mib, float cores, double seconds) {
  return job(number, {{0, mib, cores}, {seconds, mib, cores}});
}

TEST(FitJobs, EachRulePicksAnother) {
  // Beside the first, which leaves 900 MiB and three cores, one of the others runs at a time.
  const vector<SimJob> jobs{box(1, 100, 7, 1000), box(2, 350, 1, 10), box(3, 400, 3, 10),
                            box(4, 600, 0, 10)};
  EXPECT_THAT(ends_under(Rule::first, jobs).jobs, ElementsAre(2, 3, 4, 1));
  // Shares of 0.45, 0.7 and 0.6 of the machine, memory and cores added.
  EXPECT_THAT(ends_under(Rule::best, jobs).jobs, ElementsAre(3, 4, 2, 1));
  // 0.9 and 0.3 are free: products of 0.345, 0.45 and 0.54.
  EXPECT_THAT(ends_under(Rule::dot, jobs).jobs, ElementsAre(4, 3, 2, 1));
}

TEST(FitJobs, AllCoresMayBeTaken) {
  // Ten tenths, which don't add up to one exactly.
  vector<SimJob> jobs;
  for (std::size_t i = 1; i <= 10; ++i) jobs.push_back(box(i, 10, 1, 10));
  for (const Rule rule : {Rule::first, Rule::best, Rule::dot}) {
    EXPECT_NEAR(ends_under(rule, jobs).seconds, 10, 0.1);
  }
}

TEST(FitJobs, NothingIsKilledAtTheLine) {
  // Ten would fill the line to the last byte, and what is read of them is not exact.
  vector<SimJob> jobs;
  for (std::size_t i = 1; i <= 20; ++i) jobs.push_back(box(i, 100, 0.1F, 10));
  for (const Rule rule : {Rule::first, Rule::best, Rule::dot}) {
    EXPECT_EQ(ends_under(rule, jobs).kills, 0U);
  }
}

TEST(FitJobs, PeaksAndMeanCoresAreReserved) {
  // 600 MiB only at the end of each, and eight cores in the first half alone.
  const vector<CurvePoint> peaks_late{{0, 10, 1}, {9, 10, 1}, {10, 600, 1}};
  const vector<SimJob> high{job(1, peaks_late), job(2, peaks_late)};
  EXPECT_NEAR(ends_under(Rule::first, high).seconds, 20, 0.1);
  const vector<CurvePoint> busy_first{{0, 10, 8}, {5, 10, 0}, {10, 10, 0}};
  const vector<SimJob> busy{job(1, busy_first), job(2, busy_first), job(3, busy_first)};
  // Two of them fit by their means, and share the cores for eight seconds.
  EXPECT_NEAR(ends_under(Rule::first, busy).seconds, 23, 0.1);
}

TEST(FitJobs, WhoWantsMoreCoresThanThereAreRunsAlone) {
  const vector<SimJob> jobs{box(1, 10, 20, 10), box(2, 10, 1, 10)};
  EXPECT_NEAR(ends_under(Rule::first, jobs).seconds, 30, 0.1);
}

TEST(FitJobs, AHigherPriorityComesBeforeABetterFit) {
  vector<SimJob> jobs{box(1, 900, 9, 10), box(2, 200, 1, 10)};
  jobs[1].spec.priority = 1;
  for (const Rule rule : {Rule::first, Rule::best, Rule::dot}) {
    EXPECT_THAT(ends_under(rule, jobs).jobs, ElementsAre(2, 1));
  }
}

}  // namespace
}  // namespace plimsoll::sim

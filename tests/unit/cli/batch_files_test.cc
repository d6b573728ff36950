// What a batch writes, on disks that fail and machines that lose their power.
#include "cli/batch_files.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <set>

#include "base/file.h"
#include "base/text.h"
#include "support/faulty_disk.h"

namespace plimsoll::cli {
namespace {

namespace fs = std::filesystem;
using faults::Data;
using faults::Fault;
using faults::FaultyDisk;
using faults::kFaults;
using faults::kSurvivals;
using faults::Names;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr std::uint64_t kJobs = 4;

using Numbers = std::set<std::uint64_t>;

// A directory with a job log of an earlier run, in which every job has ended well.
struct Place {
  Place() {
    std::string name = (fs::temp_directory_path() / "plimsoll-batch-XXXXXX").string();
    dir = ::mkdtemp(name.data());
    options.joblog = dir / "log";
    options.report = dir / "report";
    options.durability = Durability::synced;
    options.quiet = true;
    std::ofstream log(dir / "log");
    log << "Seq\tHost\tStarttime\tJobRuntime\tSend\tReceive\tExitval\tSignal\tCommand\n";
    for (std::uint64_t i = 1; i <= kJobs; ++i) {
      log << i << "\t:\t1.000\t     1.000\t0\t0\t0\t0\techo " << i << "\n";
    }
  }
  Place(const Place&) = delete;
  Place& operator=(const Place&) = delete;
  ~Place() { fs::remove_all(dir); }

  [[nodiscard]] bool has_line(std::uint64_t job) const {
    const auto text = read_text_at(AT_FDCWD, *options.joblog);
    return text && text->find("\techo " + std::to_string(job) + "\n") != std::string::npos;
  }
  [[nodiscard]] std::size_t temporaries() const {
    std::size_t count = 0;
    for (const auto& entry : fs::directory_iterator(dir)) {
      if (entry.path().extension() == ".tmp") ++count;
    }
    return count;
  }

  fs::path dir;
  BatchOptions options;
};

std::vector<policy::JobSpec> all_jobs() {
  std::vector<policy::JobSpec> jobs;
  for (std::uint64_t i = 1; i <= kJobs; ++i) {
    policy::JobSpec job;
    job.id = JobId{i};
    job.command = "echo " + std::to_string(i);
    jobs.push_back(std::move(job));
  }
  return jobs;
}

// The jobs that --resume would run, if it runs at all.
Result<Numbers> left(BatchOptions options) {
  options.again = Again::unlogged;
  const auto jobs = jobs_to_run(options, all_jobs());
  if (!jobs) return tl::unexpected(jobs.error());
  Numbers numbers;
  for (const policy::JobSpec& job : *jobs) numbers.insert(static_cast<std::uint64_t>(job.id));
  return numbers;
}

// How far a batch came.
struct Came {
  bool begun = false;
  Numbers ended, forced;  // forced to the disk with their lines
  std::optional<std::string> told_at_end{};
};

Came run_batch(const Place& place, const FaultyDisk& disk) {
  Came came;
  auto jobs = all_jobs();
  auto files = BatchFiles::open(place.options, jobs, disk);
  if (!files) return came;
  came.begun = files->begin(place.options).has_value();
  if (!came.begun) return came;
  for (const policy::JobSpec& job : jobs) {
    const auto number = static_cast<std::uint64_t>(job.id);
    report::JobReport report;
    report.command = job.command;
    report.exit_code = 0;
    if (!disk.has_power()) return came;
    (void)files->job_ended(job, report, Bytes{});
    came.ended.insert(number);
    if (place.has_line(number) && files->forces_ends() && files->force()) {
      came.forced.insert(number);
    }
  }
  came.told_at_end = files->jobs_ended();
  (void)files->run_ended({});
  return came;
}

std::size_t calls_of_a_batch() {
  const Place place;
  const FaultyDisk disk(place.dir);
  EXPECT_THAT(run_batch(place, disk).forced, SizeIs(kJobs));
  return disk.calls();
}

TEST(BatchFiles, WhatIsForcedSurvivesAnyFaultAndAnyCrash) {
  const std::size_t calls = calls_of_a_batch();
  for (const Fault fault : kFaults) {
    for (const auto survival : kSurvivals) {
      for (std::size_t call = 0; call <= calls; ++call) {
        SCOPED_TRACE(::testing::Message() << "fault " << static_cast<int>(fault) << " at call "
                                          << call << ", names " << static_cast<int>(survival.names)
                                          << ", data " << static_cast<int>(survival.data));
        const Place place;
        FaultyDisk disk(place.dir);
        disk.fail_after(call, fault);
        const Came came = run_batch(place, disk);
        disk.crash(survival);
        const auto again = left(place.options);
        ASSERT_TRUE(again) << again.error().message();
        for (std::uint64_t job = 1; job <= kJobs; ++job) {
          ASSERT_FALSE(came.forced.contains(job) && again->contains(job)) << job;
          // The earlier run's word counts no more, once this one has begun.
          ASSERT_TRUE(!came.begun || came.ended.contains(job) || again->contains(job)) << job;
        }
      }
    }
  }
}

TEST(BatchFiles, AMistakeAtTheStartLosesNothingOfAnEarlierLog) {
  const std::size_t calls = calls_of_a_batch();
  for (std::size_t call = 0; call <= calls; ++call) {
    const Place place;
    FaultyDisk disk(place.dir);
    disk.fail_after(call, Fault::power_loss);
    {
      auto jobs = all_jobs();
      const auto files = BatchFiles::open(place.options, jobs, disk);
    }
    EXPECT_THAT(*left(place.options), IsEmpty());
  }
}

TEST(BatchFiles, WhatADiskDoesNotTakeIsToldAndRunsAgain) {
  const std::size_t calls = calls_of_a_batch();
  for (const Fault fault :
       {Fault::no_space, Fault::io_error, Fault::interrupted, Fault::short_write}) {
    for (std::size_t call = 0; call <= calls; ++call) {
      SCOPED_TRACE(::testing::Message()
                   << "fault " << static_cast<int>(fault) << " at call " << call);
      const Place place;
      FaultyDisk disk(place.dir);
      disk.fail_after(call, fault);
      const Came came = run_batch(place, disk);
      if (!came.begun) {
        ASSERT_EQ(place.temporaries(), 0U);
        continue;
      }
      const auto again = left(place.options);
      ASSERT_TRUE(again) << again.error().message();
      ASSERT_TRUE(again->empty() || fault == Fault::no_space);
      if (again->empty()) continue;
      ASSERT_TRUE(came.told_at_end);
      ASSERT_THAT(*came.told_at_end,
                  HasSubstr(counted(again->size(), "job is", "jobs are") + " missing"));
    }
  }
}

// Else the tests above would show nothing.
TEST(BatchFiles, WhatIsNotForcedIsLostWithThePower) {
  Place place;
  place.options.durability = Durability::written;
  FaultyDisk disk(place.dir);
  const Came came = run_batch(place, disk);
  EXPECT_THAT(came.ended, SizeIs(kJobs));
  EXPECT_THAT(*left(place.options), IsEmpty());
  disk.crash({Names::all, Data::half});
  EXPECT_THAT(*left(place.options), ::testing::Not(IsEmpty()));
}

TEST(BatchFiles, TellsHowManyJobsTheReportLacks) {
  const Place place;
  FaultyDisk disk(place.dir);
  auto jobs = all_jobs();
  auto files = BatchFiles::open(place.options, jobs, disk);
  ASSERT_TRUE(files && files->begin(place.options));
  const auto end = [&](std::size_t job) {
    report::JobReport report;
    report.command = jobs[job].command;
    return files->job_ended(jobs[job], report, Bytes{});
  };
  EXPECT_EQ(end(0), std::nullopt);
  disk.fail_after(0, Fault::no_space);
  EXPECT_THAT(end(1).value_or(""), HasSubstr("tries again with the next line"));
  EXPECT_EQ(end(2), std::nullopt);
  disk.recover();
  EXPECT_EQ(end(3), std::nullopt);
  EXPECT_EQ(files->jobs_ended(), std::nullopt);
  EXPECT_EQ(files->run_ended({}), "2 jobs are missing from the report");
  EXPECT_TRUE(fs::exists(*place.options.report));
}

// `jobs` have ended when the disk is full.
std::string told_by_a_full_disk(const Place& place, std::size_t jobs) {
  FaultyDisk disk(place.dir);
  auto all = all_jobs();
  auto files = BatchFiles::open(place.options, all, disk);
  if (!files || !files->begin(place.options)) return "no files";
  for (std::size_t job = 0; job < jobs; ++job) {
    (void)files->job_ended(all[job], report::JobReport(), Bytes{});
  }
  disk.fail_after(0, Fault::no_space);
  return files->run_ended({}).value_or("");
}

TEST(BatchFiles, AReportWithoutAnEndIsToldWithTheFileThatHasTheRest) {
  const Place place;
  const std::string told = told_by_a_full_disk(place, 2);
  const std::size_t at = told.find("; what was written is in ");
  ASSERT_NE(at, std::string::npos) << told;
  EXPECT_THAT(told, HasSubstr("the report has no summary"));
  const auto kept = read_text_at(AT_FDCWD, told.substr(told.find('/', at)));
  ASSERT_TRUE(kept) << told;
  EXPECT_EQ(std::count(kept->begin(), kept->end(), '\n'), 2);
  EXPECT_FALSE(fs::exists(*place.options.report));
}

TEST(BatchFiles, AReportWithNothingInItLeavesNoFile) {
  const Place place;
  EXPECT_THAT(told_by_a_full_disk(place, 0), ::testing::Not(HasSubstr("what was written")));
  EXPECT_EQ(place.temporaries(), 0U);
}

}  // namespace
}  // namespace plimsoll::cli

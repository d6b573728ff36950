// Reports and recorded runs, on disks that fail and machines that lose their power.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "base/file.h"
#include "report/writer.h"
#include "runs.h"
#include "store/runs/event_log.h"
#include "store/runs/run_dir.h"
#include "store/runs/run_files.h"
#include "support/faulty_disk.h"

namespace plimsoll::report {
namespace {

using namespace plimsoll::literals;
using namespace testing;
using faults::Data;
using faults::Fault;
using faults::FaultyDisk;
using faults::kFaults;
using faults::kSurvivals;
using faults::Names;
using faults::Survival;
using ::testing::AnyOf;
using ::testing::Lt;
using ::testing::SizeIs;

::testing::Message where(Fault fault, std::size_t call) {
  return ::testing::Message() << "fault " << static_cast<int>(fault) << " at call " << call;
}

::testing::Message what(Survival survival) {
  return ::testing::Message() << "names " << static_cast<int>(survival.names) << ", data "
                              << static_cast<int>(survival.data);
}

std::size_t temporaries_in(const fs::path& directory) {
  std::size_t count = 0;
  for (const auto& entry : fs::recursive_directory_iterator(directory)) {
    if (entry.path().extension() == ".tmp") ++count;
  }
  return count;
}

// A report in place of an older one.
struct ReportPlace : RunsPlace {
  ReportPlace() { make("report", "old"); }
  [[nodiscard]] std::string path() const { return runs() + "/report"; }
  [[nodiscard]] Result<void> write(const Disk& disk, Durability durability) const {
    return write_file(path(), "new text", durability, disk);
  }
};

std::size_t calls_of_a_report() {
  const ReportPlace place;
  const FaultyDisk disk(place.runs());
  EXPECT_TRUE(place.write(disk, Durability::synced));
  return disk.calls();
}

TEST(Faults, AReportIsTheOldOneOrTheNewOne) {
  const std::size_t calls = calls_of_a_report();
  for (const Fault fault : kFaults) {
    for (std::size_t call = 0; call <= calls; ++call) {
      for (const Survival survival : kSurvivals) {
        SCOPED_TRACE(where(fault, call) << ", " << what(survival));
        const ReportPlace place;
        FaultyDisk disk(place.runs());
        disk.fail_after(call, fault);
        const auto wrote = place.write(disk, Durability::synced);
        ASSERT_THAT(place.text("report"), AnyOf("old", "new text"));
        ASSERT_TRUE(fault == Fault::power_loss || temporaries_in(place.runs()) == 0);
        ASSERT_TRUE(wrote || (fault != Fault::interrupted && fault != Fault::short_write));
        disk.crash(survival);
        ASSERT_THAT(place.text("report"), AnyOf("old", "new text"));
        ASSERT_TRUE(!wrote || place.text("report") == "new text");
      }
    }
  }
}

// Else the test above would show nothing.
TEST(Faults, AReportThatIsNotForcedIsLostWithThePower) {
  const ReportPlace place;
  FaultyDisk disk(place.runs());
  ASSERT_TRUE(place.write(disk, Durability::written));
  EXPECT_EQ(place.text("report"), "new text");
  disk.crash({Names::all, Data::synced});
  EXPECT_EQ(place.text("report"), "");
}

constexpr std::size_t kEvents = 3;

// How far the recording of a run came.
struct Recorded {
  bool begun = false;
  bool finishing = false;
  bool finished = false;
};

Recorded record_run(const RunsPlace& place, const FaultyDisk& disk) {
  Recorded came;
  auto files = RunFiles::create(place.runs(), {.run = "run-1", .command_line = {"plimsoll"}}, disk);
  came.begun = files.has_value();
  for (std::size_t i = 0; files && i < kEvents; ++i) {
    const auto line = to_json(event(Duration(i), policy::EventKind::started, std::to_string(i)));
    const auto report =
        R"({"schema":"plimsoll.job/1","id":")" + std::to_string(i) + "\",\"outcome\":\"exited\"}\n";
    (void)files->append_events(line);  // a fault costs these lines, not those that follow
    (void)files->append_jobs(report);
  }
  if (!files) return came;
  (void)files->set_line(1_MiB);
  came.finishing = true;
  came.finished = files->finish(R"({"schema":"plimsoll.run/1","jobs":3})", {}).has_value();
  return came;
}

std::size_t calls_of_a_run() {
  const RunsPlace place;
  fs::create_directory(place.runs());
  fs::permissions(place.runs(), fs::perms::owner_all);
  const FaultyDisk disk(place.runs());
  EXPECT_TRUE(record_run(place, disk).finished);
  return disk.calls();
}

// Whatever is there of a record can be read, and is what was written, in its order.
void expect_readable(const RunsPlace& place, const Recorded& came) {
  const auto runs = list_runs(place.runs());
  ASSERT_TRUE(runs) << runs.error().message();
  ASSERT_THAT(*runs, SizeIs(Lt(2)));
  if (runs->empty()) return;
  const RunEntry& run = runs->front();
  ASSERT_EQ(run.id, "run-1");
  ASSERT_NE(run.state, RunState::running);
  ASSERT_TRUE(run.state != RunState::finished || came.finishing);
  const auto events =
      read_events(run.path + "/events.jsonl").value_or(std::vector<RecordedEvent>());
  ASSERT_TRUE(std::is_sorted(events.begin(), events.end(),
                             [](const auto& a, const auto& b) { return a.job < b.job; }));
  const auto reports = read_reports(run.path + "/jobs.jsonl").value_or(std::vector<std::string>());
  ASSERT_THAT(reports, SizeIs(Lt(kEvents + 1)));
  for (const std::string& report : reports) ASSERT_TRUE(parse_job_brief(report));
}

TEST(Faults, ARecordedRunSaysNothingThatIsNotSo) {
  const std::size_t calls = calls_of_a_run();
  for (const Fault fault : kFaults) {
    for (std::size_t call = 0; call <= calls; ++call) {
      for (const Survival survival : kSurvivals) {
        SCOPED_TRACE(where(fault, call) << ", " << what(survival));
        const RunsPlace place;
        fs::create_directory(place.runs());
        fs::permissions(place.runs(), fs::perms::owner_all);
        FaultyDisk disk(place.runs());
        disk.fail_after(call, fault);
        const Recorded came = record_run(place, disk);
        if (fault != Fault::power_loss) {
          ASSERT_EQ(temporaries_in(place.runs()), 0U);
          ASSERT_EQ(fs::exists(place.runs() + "/run-1"), came.begun);
        }
        ASSERT_NO_FATAL_FAILURE(expect_readable(place, came));
        disk.crash(survival);
        ASSERT_NO_FATAL_FAILURE(expect_readable(place, came));
      }
    }
  }
}

}  // namespace
}  // namespace plimsoll::report

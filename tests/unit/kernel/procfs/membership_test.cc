#include "kernel/procfs/membership.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace plimsoll::procfs {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr int kGuardian = 10;
constexpr int kSupervisor = 11;

// A machine whose processes come and go by the word of the test.
class RollTest : public ::testing::Test, public TagReader {
 protected:
  RollTest() : membership_(config()) {
    add(1, 0);
    add(kGuardian, 1);
    add(kSupervisor, kGuardian);
  }

  static Membership::Config config() {
    return {.guardian = {kGuardian, kGuardian},
            .supervisor = {kSupervisor, kSupervisor},
            .run = "run",
            .space = 1,
            .foreign = {}};
  }

  // Started at a tick that is its number, in the session of its parent.
  void add(int pid, int parent) {
    const auto above = table_.find(parent);
    const int session = above == table_.end() ? pid : above->second.session;
    Stat& stat = table_[pid];
    stat.id = {pid, static_cast<std::uint64_t>(pid)};
    stat.parent = parent;
    stat.session = session;
  }
  void add_leader(int pid, int parent) {
    add(pid, parent);
    table_[pid].session = pid;
  }
  // Its children go to `heir`.
  void remove(int pid, int heir = kGuardian) {
    table_.erase(pid);
    for (auto& [other, stat] : table_) {
      if (stat.parent == pid) stat.parent = heir;
    }
  }
  void mark(int pid, const std::string& job) {
    marks_[pid] = to_text({.run = "run",
                           .space = 1,
                           .guardian = membership_.config().guardian,
                           .supervisor = {11, 11},
                           .job = job});
  }
  FamilyId start(const std::string& job, int main) {
    const FamilyId family = membership_.begin(job);
    add_leader(main, kGuardian);
    membership_.born(family, main);
    return family;
  }
  std::vector<int> members(FamilyId family) {
    std::vector<int> pids;
    for (const auto& [pid, stat] : membership_.members(family)) pids.push_back(pid);
    return pids;
  }
  std::optional<std::string> tag_of(int pid) override {
    const auto found = marks_.find(pid);
    return found == marks_.end() ? std::nullopt : std::optional(found->second);
  }
  void take() { membership_.take(table_, *this); }

  Membership membership_;
  Table table_;
  std::map<int, std::string> marks_;
};

TEST_F(RollTest, WhoHasLeftNobodyIsEmptyWithoutALook) {
  const FamilyId one = start("job-1", 20);
  add(21, 20);
  take();
  membership_.main_ended(one);
  EXPECT_TRUE(membership_.is_populated(one));
  EXPECT_TRUE(membership_.left_nobody(one));
  EXPECT_FALSE(membership_.is_populated(one));
}

TEST_F(RollTest, WhoWasAdoptedOrGivenMayLiveOn) {
  const FamilyId one = start("job-1", 20);
  const FamilyId two = start("job-2", 30);
  add(40, 1);
  membership_.adopt(one, {table_[40]});
  membership_.main_ended(one);
  EXPECT_FALSE(membership_.left_nobody(one));
  EXPECT_TRUE(membership_.is_populated(one));
  membership_.give(one, two);
  membership_.main_ended(two);
  EXPECT_FALSE(membership_.left_nobody(two));
  EXPECT_TRUE(membership_.is_populated(two));
}

TEST_F(RollTest, DescentDecides) {
  const FamilyId one = start("job-1", 20);
  const FamilyId two = start("job-2", 30);
  add(21, 20);
  add(22, 21);
  add(31, 30);
  add(40, 1);
  add(50, kSupervisor);
  take();
  EXPECT_THAT(members(one), ElementsAre(20, 21, 22));
  EXPECT_THAT(members(two), ElementsAre(30, 31));
  EXPECT_THAT(members(kStrays), IsEmpty());
}

TEST_F(RollTest, AnOrphanIsKnownFromBefore) {
  const FamilyId one = start("job-1", 20);
  start("job-2", 30);
  add_leader(21, 20);
  take();
  remove(20);
  membership_.main_ended(one);
  take();
  EXPECT_THAT(members(one), ElementsAre(21));
  EXPECT_TRUE(membership_.is_populated(one));
  remove(21);
  take();
  EXPECT_FALSE(membership_.is_populated(one));
}

TEST_F(RollTest, AnOrphanIsKnownByItsSession) {
  const FamilyId one = start("job-1", 20);
  start("job-2", 30);
  take();
  add(21, 20);
  remove(20);
  membership_.main_ended(one);
  take();  // 21 was never seen with its parent
  EXPECT_THAT(members(one), ElementsAre(21));
}

TEST_F(RollTest, AnOrphanWithASessionOfItsOwnIsKnownByItsMark) {
  const FamilyId one = start("job-1", 20);
  const FamilyId two = start("job-2", 30);
  add_leader(21, kGuardian);
  mark(21, "job-2");
  add(22, 21);
  take();
  EXPECT_THAT(members(one), ElementsAre(20));
  EXPECT_THAT(members(two), ElementsAre(21, 22, 30));
}

TEST_F(RollTest, AnOrphanWithoutAnySignIsTheOnlyFamilys) {
  const FamilyId one = start("job-1", 20);
  add_leader(21, kGuardian);
  take();
  EXPECT_THAT(members(one), ElementsAre(20, 21));
}

TEST_F(RollTest, AnOrphanWithoutAnySignIsAStrayAmongSeveral) {
  const FamilyId one = start("job-1", 20);
  const FamilyId two = start("job-2", 30);
  add_leader(21, kGuardian);
  take();
  EXPECT_THAT(members(kStrays), ElementsAre(21));
  EXPECT_THAT(members(one), ElementsAre(20));
  EXPECT_THAT(members(two), ElementsAre(30));
  // And stays one, whoever is left.
  remove(30);
  membership_.main_ended(two);
  membership_.end(two);
  take();
  EXPECT_THAT(members(kStrays), ElementsAre(21));
}

TEST_F(RollTest, WhoIsBeingBornIsNotPutDownToAnother) {
  const FamilyId one = start("job-1", 20);
  const FamilyId two = membership_.begin("job-2");
  add_leader(30, kGuardian);
  take();
  EXPECT_THAT(members(one), ElementsAre(20));
  EXPECT_TRUE(membership_.is_populated(two));
  membership_.born(two, 30);
  take();
  EXPECT_THAT(members(two), ElementsAre(30));
}

TEST_F(RollTest, WhoIsNeverBornLeavesAnEmptyFamily) {
  const FamilyId one = membership_.begin("job-1");
  EXPECT_TRUE(membership_.is_populated(one));
  membership_.main_ended(one);
  take();
  EXPECT_FALSE(membership_.is_populated(one));
}

TEST_F(RollTest, ANumberThatIsUsedAgainIsAnother) {
  const FamilyId one = start("job-1", 20);
  add(21, 20);
  take();
  remove(21);
  add(21, 1);
  table_[21].id.start = 999;
  take();
  EXPECT_THAT(members(one), ElementsAre(20));
}

TEST_F(RollTest, WhoOutlivesItsFamilyIsAStray) {
  const FamilyId one = start("job-1", 20);
  add(21, 20);
  take();
  membership_.main_ended(one);
  membership_.end(one);
  remove(20);
  take();
  EXPECT_THAT(members(kStrays), ElementsAre(21));
}

TEST_F(RollTest, ChildrenThatTheGuardianHadBeforeAreLeftAlone) {
  Membership::Config with_foreign = config();
  with_foreign.foreign = {{12, 12}};
  membership_ = Membership(with_foreign);
  add_leader(12, kGuardian);
  add(13, 12);
  const FamilyId one = start("job-1", 20);
  add_leader(14, kGuardian);  // an orphan of 12, or of 20
  add_leader(15, kGuardian);
  mark(15, "job-1");
  take();
  EXPECT_THAT(members(one), ElementsAre(15, 20));
  EXPECT_THAT(members(kStrays), IsEmpty());
}

TEST_F(RollTest, WithoutTheGuardianOrphansAreFoundAmongAll) {
  const FamilyId one = start("job-1", 20);
  add_leader(21, 20);
  add(22, 20);
  take();
  add(23, 21);
  add_leader(24, 22);
  mark(24, "job-1");
  add_leader(40, 1);
  mark(40, "job-of-nobody");
  add(41, 1);
  remove(20);
  remove(22);
  remove(kGuardian, 1);
  for (auto& [pid, stat] : table_) {
    if (stat.parent == kGuardian) stat.parent = 1;
  }
  membership_.guardian_ended();
  take();
  EXPECT_THAT(members(one), ElementsAre(21, 23, 24));
  EXPECT_THAT(members(kStrays), ElementsAre(40));  // of this run, whatever the job
}

// As root's sweep of dead runs looks for them: by a mark that anybody may have made up.
TEST_F(RollTest, WhoBearsTheNameOfARunAndOtherProcessesIsNotOfIt) {
  add_leader(40, 1);
  marks_[40] = to_text(
      {.run = "run", .space = 1, .guardian = {990, 1}, .supervisor = {991, 1}, .job = "job-1"});
  membership_.guardian_ended();
  take();
  EXPECT_THAT(members(kStrays), IsEmpty());
}

TEST_F(RollTest, ATableThatGoesInCirclesIsTaken) {
  const FamilyId one = start("job-1", 20);
  add(50, 51);
  add(51, 52);
  add(52, 50);
  take();
  EXPECT_THAT(members(one), ElementsAre(20));
}

// Of a driver that lives in another family, and waits for it.
TEST_F(RollTest, WhoIsAdoptedBringsWhatItStarts) {
  const FamilyId drivers = start("drivers-1", 20);
  add(21, 20);
  add(22, 20);
  take();
  const FamilyId step = membership_.begin("step-1");
  membership_.adopt(step, {table_[21]});
  EXPECT_THAT(members(step), ElementsAre(21));
  EXPECT_THAT(members(drivers), ElementsAre(20, 22));
  EXPECT_EQ(membership_.family_of(table_[21].id), step);
  EXPECT_EQ(membership_.job_of(step), "step-1");
  add(23, 21);
  take();
  EXPECT_THAT(members(step), ElementsAre(21, 23));
  remove(21);
  take();
  EXPECT_THAT(members(step), ElementsAre(23));
  EXPECT_TRUE(membership_.is_populated(step));
  remove(23);
  take();
  EXPECT_FALSE(membership_.is_populated(step));
}

TEST_F(RollTest, OneThatWasNeverSeenIsAdopted) {
  start("drivers-1", 20);
  take();
  add(21, 20);
  const FamilyId step = membership_.begin("step-1");
  membership_.adopt(step, {table_[21]});
  remove(20);
  take();
  EXPECT_THAT(members(step), ElementsAre(21));
}

TEST_F(RollTest, AFamilyIsGivenToAnother) {
  const FamilyId drivers = start("drivers-1", 20);
  add_leader(21, 20);
  const FamilyId step = membership_.begin("step-1");
  membership_.adopt(step, {table_[21]});
  add(22, 21);
  take();
  membership_.give(step, drivers);
  EXPECT_THAT(members(step), IsEmpty());
  EXPECT_THAT(members(drivers), ElementsAre(20, 21, 22));
  add(23, 21);
  take();
  EXPECT_THAT(members(step), IsEmpty());
  EXPECT_THAT(members(drivers), ElementsAre(20, 21, 22, 23));
}

}  // namespace
}  // namespace plimsoll::procfs

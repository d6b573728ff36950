#include "kernel/procfs/parse.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "base/text.h"
#include "kernel/procfs/ipc.h"

namespace plimsoll::procfs {
namespace {

using namespace plimsoll::literals;
using ::testing::Optional;

constexpr std::string_view kStat =
    "4711 (cc1plus) S 4700 4690 4680 34816 4690 4194304 6000 120 1 0 250 31 17 4 20 0 3 0 "
    "90210 1048576000 5000 18446744073709551615 1 1 0 0 0 0 0 0 0 0 0 0 17 1 0 0 0 0 0\n";

TEST(ProcessStat, HasWhatIsUsedOfIt) {
  const auto stat = parse_stat(kStat);
  ASSERT_TRUE(stat);
  EXPECT_EQ(stat->id, (Id{.pid = 4711, .start = 90210}));
  EXPECT_EQ(stat->comm, "cc1plus");
  EXPECT_EQ(stat->state, 'S');
  EXPECT_EQ(stat->parent, 4700);
  EXPECT_EQ(stat->group, 4690);
  EXPECT_EQ(stat->session, 4680);
  EXPECT_FALSE(stat->is_copy);
  EXPECT_EQ(stat->user_ticks, 250U);
  EXPECT_EQ(stat->system_ticks, 31U);
  EXPECT_EQ(stat->waited_user_ticks, 17U);
  EXPECT_EQ(stat->waited_system_ticks, 4U);
  EXPECT_EQ(stat->threads, 3U);
  EXPECT_EQ(stat->stack, 0U);
}

TEST(ProcessStat, TellsWhereTheStackBeginsAndTheCodeEnds) {
  std::string text(kStat);
  text.replace(text.find(" 1 1 0 "), 7, " 1 94171230 140735226953328 ");
  EXPECT_EQ(parse_stat(text)->stack, 140735226953328U);
  EXPECT_EQ(parse_stat(text)->code_end, 94171230U);
  text.resize(text.find(" 1048576000"));
  ASSERT_TRUE(parse_stat(text)) << "an end that is not used";
  EXPECT_EQ(parse_stat(text)->stack, 0U);
}

TEST(ProcessStat, TakesANameThatLooksLikeTheRest) {
  for (const char* name : {") R 1 1 (\n", "a b", ":) Z 9 ", "", "new\nline"}) {
    std::string text(kStat);
    text.replace(text.find("cc1plus"), 7, name);
    const auto stat = parse_stat(text);
    ASSERT_TRUE(stat) << name;
    EXPECT_EQ(stat->comm, name);
    EXPECT_EQ(stat->state, 'S') << name;
    EXPECT_EQ(stat->parent, 4700) << name;
  }
}

TEST(ProcessStat, IsNothingOfBadText) {
  for (const std::string_view text :
       {"", "\n", "4711", "4711 (sh", "4711 sh) S 1", ") (", "4711 () S", "(sh) S 1 1 1 0",
        "-1 (sh) S 1 1 1 0 0 0 0 0 0 0 1 1 1 1 0 0 1 0 7", "x (sh) S 1 1 1",
        "4711 (sh) SS 1 1 1 0 0 0 0 0 0 0 1 1 1 1 0 0 1 0 7",
        "4711 (sh) S x 1 1 0 0 0 0 0 0 0 1 1 1 1 0 0 1 0 7",
        "4711 (sh) S 1 1 1 0 0 0 0 0 0 0 1 1 1 1 0 0 1 0 7x",
        "4711 (sh) S 1 1 1 0 0 0 0 0 0 0 1 1 1 1 0 0 1 0",
        "99999999999 (sh) S 1 1 1 0 0 0 0 0 0 0 1 1 1 1 0 0 1 0 7"}) {
    EXPECT_FALSE(parse_stat(text)) << text;
  }
}

// Kernels since 3.5 add eight fields; the last is the status as of wait(2).
std::string stat_that_ended(char state, std::string_view status) {
  std::string text(trim(kStat));
  text.replace(text.find(" S "), 3, {' ', state, ' '});
  text.replace(text.find(" 20 0 3 "), 8, " 20 0 1 ");
  return text + " 1 2 3 4 5 6 7 " + std::string(status) + "\n";
}

TEST(ProcessStat, TellsOneThatHasForkedAndNotExecuted) {
  std::string text(kStat);
  text.replace(text.find("4194304"), 7, "4194368");
  EXPECT_TRUE(parse_stat(text)->is_copy);
}

TEST(ProcessStat, HasTheStatusOfOneThatHasEnded) {
  EXPECT_THAT(parse_end_status(stat_that_ended('Z', "0")), Optional(0));
  EXPECT_THAT(parse_end_status(stat_that_ended('Z', "768")), Optional(3 << 8));
  EXPECT_THAT(parse_end_status(stat_that_ended('X', "139")), Optional(11 | 0x80));
  EXPECT_FALSE(parse_end_status(stat_that_ended('S', "768"))) << "it lives";
  for (const std::string_view bad : {"", "x", "-1", "65536", "99999999999999999999"}) {
    EXPECT_FALSE(parse_end_status(stat_that_ended('Z', bad))) << bad;
  }
  std::string shorter = stat_that_ended('Z', "768");
  shorter.erase(shorter.rfind(" 7 "));
  EXPECT_FALSE(parse_end_status(shorter)) << "an older kernel";
}

TEST(Pidfd, TellsItsProcessUntilThatIsWaitedFor) {
  EXPECT_THAT(parse_fdinfo_pid("pos:\t0\nflags:\t02000002\nPid:\t4711\nNSpid:\t4711\n"),
              Optional(4711));
  for (const std::string_view none : {"", "pos:\t0\n", "Pid:\t-1\n", "Pid:\n", "Pid:\tx\n"}) {
    EXPECT_FALSE(parse_fdinfo_pid(none)) << none;
  }
}

TEST(IpcTable, HasWhatIsUsedOfIt) {
  const std::string_view shm =
      "       key      shmid perms                  size  cpid  lpid nattch   uid   gid  cuid  cgid"
      "      atime      dtime      ctime                   rss                  swap\n"
      "         0      32769  1600                  8192  4711  4712      3  1000  1000  1001  1000"
      " 1795000000          0 1795000000                  4096                     0\n"
      "-559038737          2   600                    12     x     0      0     0     0     0     0"
      " 0 0 0 0 0\n"
      "         0          x   600                    12     1     0      0     0     0     0     "
      "0\n"
      "  too short\n";
  const IpcObject one{.kind = IpcKind::shared_memory,
                      .name = "32769",
                      .creator = 1001,
                      .size = 8_KiB,
                      .creator_pid = 4711,
                      .attached = 3};
  const IpcObject other{.kind = IpcKind::shared_memory,
                        .name = "2",
                        .creator = 0,
                        .size = Bytes{12},
                        .creator_pid = {},
                        .attached = 0};
  EXPECT_THAT(parse_ipc_table(IpcKind::shared_memory, shm), ::testing::ElementsAre(one, other));
  EXPECT_THAT(parse_ipc_table(IpcKind::semaphores, shm), ::testing::IsEmpty());
  EXPECT_THAT(parse_ipc_table(IpcKind::shared_memory, ""), ::testing::IsEmpty());
}

TEST(ProcessUids, AreRealEffectiveAndSaved) {
  const Uids passwd{.real = 1000, .effective = 0, .saved = 0};
  EXPECT_THAT(parse_uids("Name:\tx\nUid:\t1000\t0\t0\t0\nGid:\t1\t1\t1\t1\n"), Optional(passwd));
  for (const std::string_view text : {"", "Uid:", "Uid:\t1\t2", "Uid:\tx\t2\t3\t4",
                                      "Uid:\t4294967296\t2\t3\t4", "Gid:\t1\t2\t3\t4\n"}) {
    EXPECT_FALSE(parse_uids(text)) << text;
  }
}

TEST(ProcessUids, TellWhoMaySignal) {
  EXPECT_TRUE(may_signal(0, {.real = 5, .effective = 5, .saved = 5}));
  EXPECT_TRUE(may_signal(5, {.real = 5, .effective = 0, .saved = 0}));
  EXPECT_TRUE(may_signal(5, {.real = 6, .effective = 6, .saved = 5}));
  EXPECT_FALSE(may_signal(5, {.real = 0, .effective = 5, .saved = 0}));
  EXPECT_FALSE(may_signal(5, {.real = 0, .effective = 0, .saved = 0}));
}

TEST(ProcessStat, OfAnyCutIsNothingOrTheSameProcess) {
  for (std::size_t size = 0; size < kStat.size(); ++size) {
    const auto stat = parse_stat(kStat.substr(0, size));
    EXPECT_TRUE(!stat || stat->id.pid == 4711) << size;
  }
}

TEST(ProcessStat, IsDeadOnlyWithItsLastThread) {
  Stat stat;
  stat.state = 'Z';
  stat.threads = 1;
  EXPECT_TRUE(stat.is_dead());
  stat.threads = 2;  // the leader has ended, others go on
  EXPECT_FALSE(stat.is_dead());
  stat.state = 'D';
  EXPECT_FALSE(stat.is_dead());
}

TEST(Resident, IsByKind) {
  const auto resident = parse_resident(
      "Name:\tRssAnon: 1 kB\nVmRSS:\t    3000 kB\nRssAnon:\t    1024 kB\nRssFile:\t     900 kB\n"
      "RssShmem:\t       8 kB\nVmSwap:\t      16 kB\n");
  EXPECT_THAT(resident.anon, Optional(1_MiB));
  EXPECT_THAT(resident.file, Optional(900_KiB));
  EXPECT_THAT(resident.shmem, Optional(8_KiB));
  EXPECT_THAT(resident.swap, Optional(16_KiB));
}

TEST(Resident, IsAbsentOfWhatHasNone) {
  EXPECT_EQ(parse_resident("Name:\tkthreadd\nState:\tS (sleeping)\n"), Resident());
  for (const std::string_view text :
       {"RssAnon:\t12 MB", "RssAnon:\t-1 kB", "RssAnon:\tkB", "RssAnon: 12", "RssAnon",
        "RssAnon:\t18446744073709551615 kB"}) {
    EXPECT_FALSE(parse_resident(text).anon) << text;
  }
}

TEST(Proportional, IsWhatCannotBeDropped) {
  EXPECT_THAT(parse_proportional("00400000-7ff ---p 00000000 00:00 0    [rollup]\nRss:  900 kB\n"
                                 "Pss:   500 kB\nPss_Anon:   300 kB\nPss_File:  190 kB\n"
                                 "Pss_Shmem:   10 kB\n"),
              Optional(310_KiB));
}

TEST(Proportional, IsNothingWhereTheKernelDoesNotTellKindsApart) {
  EXPECT_FALSE(parse_proportional("Rss:  900 kB\nPss:   500 kB\n"));
  EXPECT_FALSE(parse_proportional("Pss_Anon:   300 kB\n"));
  EXPECT_FALSE(parse_proportional(""));
}

TEST(ProcessIo, IsWhatDevicesHaveSeen) {
  EXPECT_THAT(parse_io("rchar: 9\nwchar: 8\nsyscr: 7\nsyscw: 6\nread_bytes: 4096\n"
                       "write_bytes: 512\ncancelled_write_bytes: 0\n"),
              Optional(Traffic{.read = {4096}, .written = {512}}));
  EXPECT_FALSE(parse_io("read_bytes: 4096\n"));
  EXPECT_FALSE(parse_io("read_bytes: x\nwrite_bytes: 1\n"));
  EXPECT_FALSE(parse_io(""));
}

TEST(Variable, IsFoundByItsWholeName) {
  const std::string environ("XPLIMSOLL=1\0PLIMSOLL_X=2\0PLIMSOLL=3=4\0PLIMSOLL=5\0PLIMS", 54);
  EXPECT_THAT(find_variable(environ, "PLIMSOLL"), Optional(std::string_view("3=4")));
  EXPECT_FALSE(find_variable(environ, "PLIMS"));
  EXPECT_FALSE(find_variable("", "PLIMSOLL"));
  EXPECT_THAT(find_variable("A=", "A"), Optional(std::string_view()));
}

RC_GTEST_PROP(ProcessParsers, TakeAnyText, (const std::string& text)) {
  parse_stat(text);
  parse_resident(text);
  parse_proportional(text);
  parse_io(text);
  find_variable(text, "A");
}

}  // namespace
}  // namespace plimsoll::procfs

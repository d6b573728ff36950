#include "kernel/counters/parse_memory.h"

#include <gtest/gtest.h>

namespace plimsoll::counters {
namespace {

using namespace plimsoll::literals;

TEST(ParseMemoryStatV2, ReadsTheNamedKeysAndSkipsTheRest) {
  const MemoryStat stat = parse_memory_stat_v2(
      "anon 71303168\nfile 8388608\nkernel 3145728\nkernel_stack 65536\npagetables 262144\n"
      "sec_pagetables 0\npercpu 1536\nsock 4096\nvmalloc 8192\nshmem 1048576\nzswap 0\n"
      "file_mapped 2097152\nfile_dirty 12288\nfile_writeback 20480\nswapcached 0\n"
      "inactive_anon 5\ninactive_file 4194304\nslab_reclaimable 524288\n"
      "slab_unreclaimable 131072\nslab 655360\nworkingset_refault_file 11\npgscan 700\n"
      "pgsteal 650\npgfault 19822\npgmajfault 3\nthp_fault_alloc 12\n");
  EXPECT_EQ(stat.anon, 68_MiB);
  EXPECT_EQ(stat.file, 8_MiB);
  EXPECT_EQ(stat.kernel, 3_MiB);
  EXPECT_EQ(stat.kernel_stack, 64_KiB);
  EXPECT_EQ(stat.page_tables, 256_KiB);
  EXPECT_EQ(stat.sock, 4_KiB);
  EXPECT_EQ(stat.vmalloc, 8_KiB);
  EXPECT_EQ(stat.shmem, 1_MiB);
  EXPECT_EQ(stat.file_mapped, 2_MiB);
  EXPECT_EQ(stat.file_dirty, 12_KiB);
  EXPECT_EQ(stat.file_writeback, 20_KiB);
  EXPECT_EQ(stat.inactive_file, 4_MiB);
  EXPECT_EQ(stat.slab, 640_KiB);
  EXPECT_EQ(stat.slab_reclaimable, 512_KiB);
  EXPECT_EQ(stat.pgscan, 700u);
  EXPECT_EQ(stat.pgsteal, 650u);
  EXPECT_EQ(stat.pgfault, 19822u);
  EXPECT_EQ(stat.pgmajfault, 3u);
  EXPECT_EQ(used_of(stat), 68_MiB + 1_MiB + 3_MiB - 512_KiB + 32_KiB);
}

TEST(ParseMemoryStatV1, ReadsTheHierarchicalKeys) {
  const MemoryStatV1 read = parse_memory_stat_v1(
      "cache 999\nrss 999\nshmem 999\ndirty 999\nhierarchical_memory_limit 9223372036854771712\n"
      "total_cache 6291456\ntotal_rss 67108864\ntotal_rss_huge 0\ntotal_shmem 1048576\n"
      "total_mapped_file 8192\ntotal_dirty 4096\ntotal_writeback 0\ntotal_swap 2097152\n"
      "total_pgfault 16400\ntotal_pgmajfault 1\ntotal_inactive_file 3145728\n");
  EXPECT_EQ(read.stat.anon, 64_MiB);
  EXPECT_EQ(read.stat.file, 6_MiB);
  EXPECT_EQ(read.stat.shmem, 1_MiB);
  EXPECT_EQ(read.stat.file_mapped, 8_KiB);
  EXPECT_EQ(read.stat.file_dirty, 4_KiB);
  EXPECT_EQ(read.stat.file_writeback, 0_KiB);
  EXPECT_EQ(read.stat.inactive_file, 3_MiB);
  EXPECT_EQ(read.stat.pgfault, 16400u);
  EXPECT_EQ(read.stat.pgmajfault, 1u);
  EXPECT_EQ(read.swap, 2_MiB);
  EXPECT_FALSE(read.stat.kernel || read.stat.slab || read.stat.pgscan);
  EXPECT_EQ(used_of(read.stat), std::nullopt) << "the kernel's part is in another file";
  MemoryStat whole = read.stat;
  whole.kernel = 2_MiB;
  EXPECT_EQ(used_of(whole), 64_MiB + 1_MiB + 2_MiB + 4_KiB);
}

TEST(ParseMemoryStat, DamagedLinesAreAbsent) {
  for (const auto* text : {"", "\n\n", "anon", "anon \n", "anon x\n", "anon -1\n", "anon 1 2\n",
                           "anon 18446744073709551616\n", " anon 1\n", "ANON 1\n"}) {
    EXPECT_FALSE(parse_memory_stat_v2(text).anon) << text;
  }
}

TEST(UsedOf, OldKernelsWithoutAKernelKey) {
  MemoryStat stat{.anon = 10_MiB,
                  .kernel_stack = 1_MiB,
                  .page_tables = 2_MiB,
                  .shmem = 0_MiB,
                  .file_dirty = 0_MiB,
                  .file_writeback = 0_MiB,
                  .slab = 5_MiB,
                  .slab_reclaimable = 4_MiB};
  EXPECT_EQ(used_of(stat), 14_MiB);
  stat.slab.reset();
  EXPECT_EQ(used_of(stat), std::nullopt);
  EXPECT_EQ(used_of({}), std::nullopt);
}

TEST(ParseMemoryEvents, EachCountAlone) {
  EXPECT_EQ(parse_memory_events("low 1\nhigh 2\nmax 3\noom 4\noom_kill 5\noom_group_kill 6\n"),
            (MemoryEvents{1, 2, 3, 4, 5, 6}));
  EXPECT_EQ(parse_memory_events("low 0\nhigh 9\nmax\noom none\noom_kill 0\nsock_throttled 2\n"),
            (MemoryEvents{.low = 0, .high = 9, .oom_kill = 0}));
  EXPECT_EQ(parse_memory_events(""), MemoryEvents{});
}

TEST(ParseOomControl, ReadsStateAndCount) {
  const OomControl sleeping = parse_oom_control("oom_kill_disable 1\nunder_oom 1\noom_kill 7\n");
  EXPECT_TRUE(sleeping.kill_disabled);
  EXPECT_TRUE(sleeping.under_oom);
  EXPECT_EQ(sleeping.oom_kill, 7u);
  const OomControl old = parse_oom_control("oom_kill_disable 0\nunder_oom 0\n");
  EXPECT_FALSE(old.kill_disabled || old.under_oom || old.oom_kill);
}

TEST(ParseLimitV1, TheHighestPageCountMeansNone) {
  EXPECT_EQ(parse_limit_v1("67108864\n"), 64_MiB);
  EXPECT_EQ(parse_limit_v1("9223372036854771712\n"), std::nullopt);
  EXPECT_EQ(parse_limit_v1("9223372036854710272\n"), std::nullopt) << "pages of 64 KiB";
  EXPECT_EQ(parse_limit_v1("-1\n"), std::nullopt);
}

}  // namespace
}  // namespace plimsoll::counters

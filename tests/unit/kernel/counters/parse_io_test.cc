#include "kernel/counters/io_files.h"

#include <gtest/gtest.h>

namespace plimsoll::counters {
namespace {

using namespace plimsoll::literals;

TEST(ParseIoStat, SumsOverDevicesAndSkipsForeignKeys) {
  const IoUsage io = parse_io_stat(
      "254:0 rbytes=4096 wbytes=1048576 rios=1 wios=9 dbytes=512 dios=1 cost.vrate=100.00 "
      "cost.usage=14 cost.wait=0\n"
      "7:3 \n"
      "7:4\n"
      "8:16 rbytes=8192 wbytes=0 rios=2 wios=0 dbytes=0 dios=0 use_delay=0 delay_nsec=0\n");
  EXPECT_EQ(io.read, 12_KiB);
  EXPECT_EQ(io.written, 1_MiB);
  EXPECT_EQ(io.discarded, Bytes{512});
  EXPECT_EQ(io.read_ops, 3u);
  EXPECT_EQ(io.write_ops, 9u);
  EXPECT_EQ(io.discard_ops, 1u);
  EXPECT_FALSE(io.pressure);
}

TEST(ParseIoStat, AnEmptyFileMeansThatNoDeviceWasUsed) {
  for (const auto* text : {"", "\n"}) {
    const IoUsage io = parse_io_stat(text);
    EXPECT_EQ(io.read, Bytes{});
    EXPECT_EQ(io.discard_ops, 0u);
  }
}

TEST(ParseIoStat, DamagedPairsAreAbsent) {
  for (const auto* text : {"8:0 rbytes", "8:0 rbytes=", "8:0 rbytes=x", "8:0 rbytes=-4", "8:0 =4",
                           "rbytes=4", "8:0 RBYTES=4"}) {
    EXPECT_FALSE(parse_io_stat(text).read) << text;
  }
}

TEST(ParseBlkio, SumsOverDevicesWithoutTotals) {
  const BlkioCounts counts = parse_blkio(
      "8:0 Read 4096\n8:0 Write 24576\n8:0 Sync 28672\n8:0 Async 0\n8:0 Discard 0\n"
      "8:0 Total 28672\n254:0 Read 512\n254:0 Write 0\n254:0 Total 512\nTotal 29184\n");
  EXPECT_EQ(counts.read, 4608u);
  EXPECT_EQ(counts.write, 24576u);
  EXPECT_EQ(counts.discard, 0u);
}

TEST(ParseBlkio, TotalsAloneAreNoCounts) {
  for (const auto* text : {"Total 0\n", "", "8:0 Read\n", "8:0 Read x\n", "Read 5\n"}) {
    const BlkioCounts counts = parse_blkio(text);
    EXPECT_FALSE(counts.read || counts.write || counts.discard) << text;
  }
}

}  // namespace
}  // namespace plimsoll::counters

#include "store/history/writer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "entries.h"

namespace plimsoll::history {
namespace {

using namespace testing;
using ::testing::HasSubstr;
using ::testing::Optional;
using ::testing::SizeIs;

struct WriterTest : ::testing::Test {
  [[nodiscard]] Store open() const {
    auto opened = Store::open(place.database(), kNow);
    EXPECT_TRUE(opened) << opened.error().message();
    return std::move(opened->store);
  }
  Place place;
};

TEST_F(WriterTest, StoresWhatItWasGiven) {
  {
    Writer writer(open());
    for (std::uint64_t i = 0; i < 50; ++i) writer.add(entry("a", Bytes{i}).attempt_summary, kNow);
    writer.finish();
    EXPECT_EQ(writer.dropped(), 0U);
    EXPECT_EQ(writer.take_notice(), std::nullopt);
  }
  Store store = open();
  ASSERT_THAT(all(store), SizeIs(50));
  EXPECT_EQ(all(store).back().attempt_summary.peak, Bytes{49});
}

TEST_F(WriterTest, TheDestructorStoresToo) {
  {
    Writer(open()).add(entry("a", 1_MiB).attempt_summary, kNow);
  }
  Store store = open();
  EXPECT_THAT(all(store), SizeIs(1));
}

TEST_F(WriterTest, TrimsAsItGoes) {
  {
    Store store = open();
    ASSERT_TRUE(store.add({entry("old", 1_MiB, kNow - kAgeMax - 1s)}));
  }
  {
    Writer(open()).add(entry("new", 1_MiB).attempt_summary, kNow);
  }
  Store store = open();
  EXPECT_THAT(all(store), SizeIs(1));
}

TEST_F(WriterTest, TroubleIsToldOnceAndCounted) {
  Store store = open();
  ASSERT_TRUE(Database::open(place.database())->run("DROP TABLE experience"));
  Writer writer(std::move(store));
  writer.add(entry("a", 1_MiB).attempt_summary, kNow);
  writer.add(entry("b", 1_MiB).attempt_summary, kNow);
  writer.finish();
  EXPECT_EQ(writer.dropped(), 2U);
  EXPECT_THAT(writer.take_notice(), Optional(HasSubstr("the history can't be written")));
  EXPECT_EQ(writer.take_notice(), std::nullopt);
}

}  // namespace
}  // namespace plimsoll::history

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "stage.h"
#include "supervisor/output/collector.h"

namespace plimsoll::output {
namespace {

using ::testing::ElementsAre;
using ::testing::SizeIs;

// A terminal of somebody else's, who takes pieces when the test lets him.
struct FakeScreen {
  Screen screen(bool out = true, bool err = true) {
    return {.print =
                [this](std::string piece, std::function<void(Result<void>)> done) {
                  pieces.push_back(std::move(piece));
                  if (takes) return done({});
                  waiting.push_back(std::move(done));
                },
            .shows_out = out,
            .shows_err = err};
  }
  std::vector<std::string> pieces;
  std::vector<std::function<void(Result<void>)>> waiting;
  bool takes = true;
};

TEST(ScreenOutput, GetsWhatWouldBeWritten) {
  FakeScreen fake;
  Stage stage({.screen = fake.screen()});
  Job job = stage.open(1);
  job.says("out\n");
  job.complains("err\n");
  job.ends();
  stage.drain();
  EXPECT_THAT(fake.pieces, ElementsAre("out\n", "err\n", ""));
  EXPECT_EQ(stage.printed(), "");
}

TEST(ScreenOutput, OnlyTheSideThatLeadsThere) {
  FakeScreen fake;
  Stage stage({.screen = fake.screen(false, true)});
  Job job = stage.open(1);
  job.says("out\n");
  job.complains("err\n");
  job.ends();
  stage.drain();
  EXPECT_THAT(fake.pieces, ElementsAre("err\n", ""));
  EXPECT_EQ(stage.printed(), "out\n");
}

TEST(ScreenOutput, OnePieceAtATimeAndTheEndWhenAllIsTaken) {
  FakeScreen fake;
  fake.takes = false;
  Stage stage({.screen = fake.screen()});
  Job first = stage.open(1), second = stage.open(2);
  first.says("one\n");
  second.says("two\n");
  first.ends();
  stage.until([&] { return !fake.pieces.empty(); });
  second.ends();
  stage.collector->drain();
  for (std::size_t pieces = 1; pieces <= 3; ++pieces) {
    stage.until([&] { return fake.pieces.size() == pieces; });
    EXPECT_FALSE(stage.drained);
    ASSERT_THAT(fake.waiting, SizeIs(pieces));
    fake.waiting.back()({});
  }
  stage.until([&] { return stage.drained; });
  EXPECT_THAT(fake.pieces, ElementsAre("one\n", "two\n", ""));
}

TEST(ScreenOutput, ThatIsGoneIsToldOnce) {
  FakeScreen fake;
  fake.takes = false;
  Stage stage({.screen = fake.screen()});
  Job first = stage.open(1), second = stage.open(2);
  first.says("one\n");
  second.says("two\n");
  first.ends();
  second.ends();
  stage.until([&] { return !fake.waiting.empty(); });
  fake.takes = true;
  fake.waiting.back()(fail(std::errc::io_error, "write"));
  stage.drain();
  EXPECT_THAT(stage.losses, SizeIs(1));
  EXPECT_THAT(fake.pieces, ElementsAre("one\n", ""));
}

}  // namespace
}  // namespace plimsoll::output

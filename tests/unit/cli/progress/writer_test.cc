#include "cli/progress/writer.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>

#include "base/unique_fd.h"

namespace plimsoll::cli {
namespace {

using namespace std::chrono_literals;

struct WriterTest : ::testing::Test, WriterOwner {
  WriterTest() : loop(*loop::Loop::create()) {
    ::signal(SIGPIPE, SIG_IGN);  // as the supervisor does
    int ends[2];
    EXPECT_EQ(::pipe2(ends, O_CLOEXEC), 0);
    reader = UniqueFd(ends[0]);
    sink = UniqueFd(ends[1]);
    writer.emplace(loop, *output::NonblockingFd::onto(sink.get()), *this);
  }
  void on_drained() override { ++drained; }

  std::string read_some() {
    std::string text(1 << 20, '\0');
    const ssize_t got = ::read(reader.get(), text.data(), text.size());
    text.resize(got > 0 ? static_cast<std::size_t>(got) : 0);
    return text;
  }

  loop::Loop loop;
  UniqueFd reader, sink;
  int drained = 0;
  std::optional<Writer> writer;
};

TEST_F(WriterTest, WritesAtOnceWhatThereIsRoomFor) {
  writer->put("hello\n");
  EXPECT_EQ(writer->pending(), 0u);
  EXPECT_EQ(read_some(), "hello\n");
  EXPECT_EQ(drained, 0);
}

TEST_F(WriterTest, KeepsTheRestUntilThereIsRoom) {
  const std::string text(1 << 20, 'x');  // a pipe holds less
  writer->put(text);
  EXPECT_GT(writer->pending(), 0u);
  writer->put("end\n");
  std::string seen;
  while (writer->pending() > 0) {
    seen += read_some();
    ASSERT_TRUE(loop.run_once(1s));
  }
  EXPECT_EQ(drained, 1);
  seen += read_some();
  EXPECT_EQ(seen, text + "end\n");
}

TEST_F(WriterTest, ReaderThatIsGoneIsAnErrorAndTheRestIsThrownAway) {
  reader = UniqueFd();
  writer->put("nobody\n");
  EXPECT_FALSE(writer->state());
  EXPECT_EQ(writer->pending(), 0u);
  writer->put("hears\n");
  EXPECT_EQ(writer->pending(), 0u);
}

TEST_F(WriterTest, FlushEndsInTime) {
  writer->put(std::string(1 << 20, 'x'));
  writer->flush_until(loop::now() + 1ms);
  EXPECT_GT(writer->pending(), 0u);
}

}  // namespace
}  // namespace plimsoll::cli

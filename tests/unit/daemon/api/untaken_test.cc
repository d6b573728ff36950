#include "daemon/api/job_socket_client.h"

#include <gtest/gtest.h>
#include <sys/socket.h>

#include <array>
#include <string>

#include "base/unique_fd.h"

namespace plimsoll::daemon {
namespace {

struct Ends {
  Ends() {
    std::array<int, 2> both{};
    EXPECT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, both.data()), 0);
    ours = UniqueFd(both[0]);
    theirs = UniqueFd(both[1]);
  }
  // What there is to be read now.
  [[nodiscard]] std::string take() const {
    std::string all(4 << 20, '\0');
    const ssize_t got = ::recv(theirs.get(), all.data(), all.size(), MSG_DONTWAIT);
    all.resize(got > 0 ? static_cast<std::size_t>(got) : 0);
    return all;
  }
  UniqueFd ours, theirs;
};

TEST(Untaken, OfNewsThatNobodyTakesTheLastIsKept) {
  const Ends ends;
  Untaken untaken;
  for (int i = 0; i < 100'000; ++i) {
    untaken.add_news("state " + std::to_string(i) + "\n");
    ASSERT_TRUE(untaken.send(ends.ours.get()));
  }
  EXPECT_LT(untaken.size(), Untaken::kFull + 100);
  std::string all;
  while (!untaken.is_empty()) {
    all += ends.take();
    ASSERT_TRUE(untaken.send(ends.ours.get()));
  }
  all += ends.take();
  EXPECT_TRUE(all.starts_with("state 0\nstate 1\n"));
  EXPECT_TRUE(all.ends_with("\nstate 99999\n"));
}

TEST(Untaken, NewsComeBeforeWhatIsSaidAfterThem) {
  const Ends ends;
  Untaken untaken;
  untaken.add(std::string(Untaken::kFull, 'x'));
  untaken.add_news("old\n");
  untaken.add_news("new\n");
  untaken.add("end\n");
  ASSERT_TRUE(untaken.send(ends.ours.get()));
  EXPECT_TRUE(untaken.is_empty());
  EXPECT_EQ(ends.take(), std::string(Untaken::kFull, 'x') + "new\nend\n");
}

// Else all that he ever took would be kept.
TEST(Untaken, WhoAlwaysLeavesALittleIsNoTrouble) {
  const Ends ends;
  Untaken untaken;
  std::string seen, said;
  for (int i = 0; i < 100; ++i) {
    while (!untaken.is_full()) {
      const std::string piece(50'000, static_cast<char>('a' + said.size() % 23));
      untaken.add(piece);
      said += piece;
    }
    ASSERT_TRUE(untaken.send(ends.ours.get()));
    seen += ends.take();
  }
  while (!untaken.is_empty()) {
    ASSERT_TRUE(untaken.send(ends.ours.get()));
    seen += ends.take();
  }
  EXPECT_EQ(seen, said);
}

TEST(Untaken, WhoIsGoneIsAnError) {
  Ends ends;
  ends.theirs = UniqueFd();
  Untaken untaken;
  EXPECT_TRUE(untaken.send(ends.ours.get()));
  untaken.add("x");
  EXPECT_FALSE(untaken.send(ends.ours.get()));
}

}  // namespace
}  // namespace plimsoll::daemon

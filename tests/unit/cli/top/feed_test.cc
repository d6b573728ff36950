#include "cli/top/feed.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/epoll.h>
#include <sys/socket.h>

#include <array>

#include "base/unique_fd.h"

namespace plimsoll::cli::top {
namespace {

using ::testing::HasSubstr;

// A run at the other end.
struct Scene {
  static Scene connected() {
    std::array<int, 2> ends{};
    EXPECT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()), 0);
    return {UniqueFd(ends[1]), Feed({"r", UniqueFd(ends[0])})};
  }
  void answer(std::string_view text) const {
    EXPECT_EQ(::send(run.get(), text.data(), text.size(), MSG_NOSIGNAL),
              static_cast<ssize_t>(text.size()));
  }
  [[nodiscard]] std::string asked() const {
    std::array<char, 4096> text{};
    const ssize_t got = ::recv(run.get(), text.data(), text.size(), MSG_DONTWAIT);
    return {text.data(), got > 0 ? static_cast<std::size_t>(got) : 0};
  }
  UniqueFd run;
  Feed feed;
};

TEST(TopFeed, PairsAnswersWithRequests) {
  Scene scene = Scene::connected();
  EXPECT_EQ(scene.feed.events(), static_cast<std::uint32_t>(EPOLLIN));
  scene.feed.ask(supervisor::AskStatus{});
  scene.feed.ask(supervisor::PauseJob{"x"});
  EXPECT_EQ(scene.feed.events(), static_cast<std::uint32_t>(EPOLLIN | EPOLLOUT));
  EXPECT_TRUE(scene.feed.turn()->empty());
  EXPECT_EQ(scene.asked(), "{\"command\":\"status\"}\n{\"command\":\"pause\",\"job\":\"x\"}\n");
  EXPECT_EQ(scene.feed.open_requests(), 2U);
  scene.answer("{\"ok\":true,\"status\":{\"run\":\"r\"}}\n{\"ok\":fal");
  const auto first = scene.feed.turn();
  ASSERT_TRUE(first && first->size() == 1);
  EXPECT_EQ((*first)[0].answer.status->run, "r");
  scene.answer("se,\"error\":\"no\"}\n");
  const auto second = scene.feed.turn();
  ASSERT_TRUE(second && second->size() == 1);
  EXPECT_EQ((*second)[0].request, supervisor::ControlRequest(supervisor::PauseJob{"x"}));
  EXPECT_EQ((*second)[0].answer.error, "no");
  EXPECT_EQ(scene.feed.open_requests(), 0U);
}

TEST(TopFeed, TellsTheEndAfterWhatCameBeforeIt) {
  Scene scene = Scene::connected();
  scene.feed.ask(supervisor::AskStatus{});
  scene.answer("{\"ok\":true,\"status\":{\"run\":\"last\"}}\n");
  scene.run = UniqueFd();
  const auto last = scene.feed.turn();
  ASSERT_TRUE(last && last->size() == 1);
  scene.feed.ask(supervisor::AskStatus{});
  const auto end = scene.feed.turn();
  ASSERT_FALSE(end);
  EXPECT_TRUE(end.error().gone());
}

TEST(TopFeed, RefusesWhatIsNoAnswer) {
  Scene garbled = Scene::connected();
  garbled.feed.ask(supervisor::AskStatus{});
  garbled.answer("hello\n");
  EXPECT_THAT(garbled.feed.turn().error().message(), HasSubstr("expected a JSON object"));
  Scene unasked = Scene::connected();
  unasked.answer("{\"ok\":true}\n");
  EXPECT_THAT(unasked.feed.turn().error().message(), HasSubstr("nobody had asked"));
}

TEST(TopFeed, DoesNotWaitForARunThatDoesNotRead) {
  Scene scene = Scene::connected();
  for (int i = 0; i < 50; ++i) scene.feed.ask(supervisor::PauseJob{std::string(60'000, 'x')});
  EXPECT_TRUE(scene.feed.turn()->empty());
  EXPECT_EQ(scene.feed.events(), static_cast<std::uint32_t>(EPOLLIN | EPOLLOUT));
}

}  // namespace
}  // namespace plimsoll::cli::top

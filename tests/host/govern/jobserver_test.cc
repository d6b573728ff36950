// A jobserver in a real pipe and in a real fifo, and clients that are killed.
#include "govern/jobserver.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "base/text.h"

namespace plimsoll::govern {
namespace {

using namespace std::chrono_literals;
using ::testing::StartsWith;

// Whoever reads tokens: each end as MAKEFLAGS name it.
struct Client {
  int reading = -1;
  int writing = -1;
};
Client client_of(const std::string& auth) {
  constexpr std::string_view kFifo = "fifo:";
  if (auth.starts_with(kFifo)) {
    const std::string path = auth.substr(kFifo.size());
    return {::open(path.c_str(), O_RDONLY | O_CLOEXEC), ::open(path.c_str(), O_WRONLY | O_CLOEXEC)};
  }
  std::string_view ends = auth;
  const auto reading = to_u64(take_until(ends, ','));
  const auto writing = to_u64(ends);
  EXPECT_TRUE(reading && writing) << auth;
  return {static_cast<int>(reading.value_or(0)), static_cast<int>(writing.value_or(0))};
}

int tokens_in(int fd) {
  int bytes = -1;
  ::ioctl(fd, FIONREAD, &bytes);
  return bytes;
}

// Takes and puts back for ever.
[[noreturn]] void be_client(const Client& client) {
  for (;;) {
    char token = 0;
    if (::read(client.reading, &token, 1) != 1) ::_exit(1);
    ::usleep(static_cast<useconds_t>(::getpid() % 7) * 100);
    if (::write(client.writing, &token, 1) != 1) ::_exit(1);
  }
}

struct Machine : TokenBasis {
  [[nodiscard]] Slots slots() const override {
    ++looks;
    if (steals_from >= 0) empty(steals_from);
    return now;
  }
  static void empty(int fd) {
    std::array<char, 256> tokens{};
    while (tokens_in(fd) > 0 && ::read(fd, tokens.data(), tokens.size()) > 0) continue;
  }
  std::optional<std::size_t> token_holders() override { return clients.size() + others; }
  Slots now{.own = 8};
  std::size_t others = 0;
  std::vector<pid_t> clients;
  int steals_from = -1;  // a client that takes them while they are counted
  mutable int looks = 0;
};

struct JobserverTest : ::testing::TestWithParam<TokenStyle> {
  JobserverTest() {
    std::string name = "/tmp/plimsoll-jobserver-XXXXXX";
    directory = ::mkdtemp(name.data());
  }
  ~JobserverTest() override {
    while (!machine.clients.empty()) kill_client(0);
    std::filesystem::remove_all(directory);
  }
  TokenPipe pipe() {
    auto made = TokenPipe::create(GetParam(), directory);
    EXPECT_TRUE(made) << made.error().message();
    return std::move(*made);
  }
  void start_client(const Client& client) {
    const pid_t pid = ::fork();
    ASSERT_GE(pid, 0);
    if (pid == 0) be_client(client);
    machine.clients.push_back(pid);
  }
  void kill_client(std::size_t which) {
    const auto at = machine.clients.begin() + static_cast<std::ptrdiff_t>(which);
    ::kill(*at, SIGKILL);
    ::waitpid(*at, nullptr, 0);
    machine.clients.erase(at);
  }
  // Whether the pipe comes to hold so many.
  bool comes_to_hold(int fd, int tokens) {
    const Instant deadline = loop::now() + 60s;
    while (tokens_in(fd) != tokens && loop::now() < deadline) EXPECT_TRUE(loop.run_once(100ms));
    return tokens_in(fd) == tokens;
  }

  std::string directory;
  Machine machine;
  loop::Loop loop = std::move(*loop::Loop::create());
};

TEST_P(JobserverTest, TwoHundredKilledClientsLoseNoToken) {
  TokenPipe tokens = pipe();
  const Client client = client_of(tokens.auth());
  Jobserver jobserver(loop, std::move(tokens), machine);
  jobserver.begin();
  ASSERT_TRUE(comes_to_hold(client.reading, 7));
  std::minstd_rand random(GetParam() == TokenStyle::pipe ? 1 : 2);
  constexpr int kKilled = 200;
  for (int killed = 0; killed < kKilled; ++killed) {
    while (machine.clients.size() < 12) start_client(client);
    ASSERT_TRUE(loop.run_once(std::chrono::microseconds(random() % 3000)));
    kill_client(random() % machine.clients.size());
  }
  while (!machine.clients.empty()) kill_client(0);
  EXPECT_TRUE(comes_to_hold(client.reading, 7)) << tokens_in(client.reading);
  EXPECT_GT(jobserver.recovered(), 0u);
}

TEST_P(JobserverTest, ItNarrowsWhileClientsAreGreedyAndWidensAgain) {
  TokenPipe tokens = pipe();
  const Client client = client_of(tokens.auth());
  Jobserver jobserver(loop, std::move(tokens), machine);
  jobserver.begin();
  std::array<char, 16> held{};
  ASSERT_EQ(::read(client.reading, held.data(), 5), 5);
  machine.others = 5;
  machine.now = {.own = 2};
  ASSERT_TRUE(comes_to_hold(client.reading, 0));
  machine.now = {.own = 8};
  ASSERT_TRUE(comes_to_hold(client.reading, 2));
  // All come back: those too many are taken at once.
  machine.now = {.own = 4};
  ASSERT_TRUE(comes_to_hold(client.reading, 0));
  ASSERT_EQ(::write(client.writing, held.data(), 5), 5);
  EXPECT_TRUE(comes_to_hold(client.reading, 3));
}

TEST_P(JobserverTest, AtTheEndThePipeIsEmptyAndBeginsAnew) {
  TokenPipe tokens = pipe();
  const Client client = client_of(tokens.auth());
  Jobserver jobserver(loop, std::move(tokens), machine);
  jobserver.begin();
  char token = 0;
  ASSERT_EQ(::read(client.reading, &token, 1), 1);
  jobserver.end();
  EXPECT_EQ(tokens_in(client.reading), 0);
  jobserver.begin();
  EXPECT_EQ(tokens_in(client.reading), 7);
}

TEST_P(JobserverTest, WhoPutsAndTakesWithoutAPauseCostsSoManyLooks) {
  TokenPipe tokens = pipe();
  const Client client = client_of(tokens.auth());
  Jobserver jobserver(loop, std::move(tokens), machine);
  jobserver.begin();
  // So many seem to be with clients, for long.
  constexpr int kMade = 3000;
  machine.others = kMade;
  const std::string many(kMade, '+');
  ASSERT_EQ(::write(client.writing, many.data(), many.size()), kMade);
  machine.steals_from = client.reading;
  while (machine.looks < 2) ASSERT_TRUE(loop.run_once(100ms));
  machine.steals_from = -1;
  while (machine.looks < 3) ASSERT_TRUE(loop.run_once(100ms));
  const Instant begun = loop::now();
  machine.looks = 0;
  for (int i = 0; i < kMade / 2; ++i) {
    ASSERT_EQ(::write(client.writing, "+", 1), 1);
    ASSERT_TRUE(loop.run_once(0ms));
  }
  const auto by_the_timer = (loop::now() - begun) / Jobserver::kLook + 1;
  EXPECT_LE(machine.looks, (by_the_timer + 1) * (Jobserver::kComingMax + 1));
  EXPECT_TRUE(comes_to_hold(client.reading, 0));
}

INSTANTIATE_TEST_SUITE_P(Styles, JobserverTest,
                         ::testing::Values(TokenStyle::pipe, TokenStyle::fifo),
                         [](const auto& tested) {
                           return tested.param == TokenStyle::pipe ? "pipe" : "fifo";
                         });

TEST(TokenPipe, DescriptorsAreInheritedAndHigh) {
  const auto pipe = TokenPipe::create(TokenStyle::pipe, "");
  ASSERT_TRUE(pipe);
  const Client client = client_of(pipe->auth());
  EXPECT_GE(client.reading, TokenPipe::kFirstDescriptor);
  EXPECT_EQ(::fcntl(client.reading, F_GETFD) & FD_CLOEXEC, 0);
  EXPECT_EQ(::fcntl(client.writing, F_GETFD) & FD_CLOEXEC, 0);
  // Clients of old makes read without looking first.
  EXPECT_EQ(::fcntl(client.reading, F_GETFL) & O_NONBLOCK, 0);
}

TEST(TokenPipe, AFifoIsRemovedAtItsEndAndThatOfADeadRunByTheNext) {
  std::string name = "/tmp/plimsoll-jobserver-XXXXXX";
  const std::string directory = ::mkdtemp(name.data());
  const std::string dead = directory + "/jobserver-1", live = directory + "/jobserver-2";
  ASSERT_EQ(::mkfifo(dead.c_str(), 0600), 0);
  ASSERT_EQ(::mkfifo(live.c_str(), 0600), 0);
  const UniqueFd both(::open(live.c_str(), O_RDWR | O_CLOEXEC));
  {
    const auto pipe = TokenPipe::create(TokenStyle::fifo, directory);
    ASSERT_TRUE(pipe);
    EXPECT_THAT(pipe->auth(), StartsWith("fifo:" + directory + "/jobserver-"));
    EXPECT_TRUE(std::filesystem::is_fifo(pipe->auth().substr(5)));
    EXPECT_FALSE(std::filesystem::exists(dead));
    EXPECT_TRUE(std::filesystem::is_fifo(live));
  }
  ::unlink(live.c_str());
  EXPECT_TRUE(std::filesystem::is_empty(directory));
  std::filesystem::remove_all(directory);
}

// Two runs whose processes have the same number, in two namespaces of pids.
TEST(TokenPipe, EachHasAFifoOfItsOwn) {
  std::string name = "/tmp/plimsoll-jobserver-XXXXXX";
  const std::string directory = ::mkdtemp(name.data());
  {
    const auto one = TokenPipe::create(TokenStyle::fifo, directory);
    std::optional other = TokenPipe::create(TokenStyle::fifo, directory);
    ASSERT_TRUE(one && *other);
    EXPECT_NE(one->auth(), (*other)->auth());
    other.reset();
    EXPECT_TRUE(std::filesystem::is_fifo(one->auth().substr(5)));
  }
  std::filesystem::remove_all(directory);
}

TEST(TokenPipe, APathThatMakeReadsOtherwiseIsRefused) {
  for (const char* path : {"/tmp/a b", "/tmp/a\\b", "/tmp/$(X)", "/tmp/a'b", "/tmp/a#b"}) {
    const auto pipe = TokenPipe::create(TokenStyle::fifo, path);
    ASSERT_FALSE(pipe) << path;
    EXPECT_THAT(pipe.error().message(), ::testing::HasSubstr("cannot have blanks"));
  }
}

}  // namespace
}  // namespace plimsoll::govern

#include "supervisor/light/light_server.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>

#include "supervisor/light/light_protocol.h"
#include "supervisor/light/packet.h"
#include "unit/supervisor/external/external_jobs_scene.h"

namespace plimsoll::supervisor {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using namespace literals;
using namespace std::chrono_literals;

// A server at a socket, and launchers that are no processes of their own: each names this one.
struct LightServerTest : scene::GuestsTest {
  LightServerTest() : loop(*loop::Loop::create()), server(loop, external_jobs) {
    char name[] = "/tmp/light-XXXXXX";
    folder = ::mkdtemp(name);
    path = folder + "/s";
    EXPECT_TRUE(server.listen({.path = path}));
  }
  ~LightServerTest() override {
    server.let_go();
    std::filesystem::remove_all(folder);
  }
  LightServerTest(const LightServerTest&) = delete;
  LightServerTest& operator=(const LightServerTest&) = delete;

  UniqueFd connect() {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::memcpy(address.sun_path, path.c_str(), path.size() + 1);
    UniqueFd fd(::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    EXPECT_EQ(::connect(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
    turn();
    return fd;
  }
  // What is ready is served; nothing else is waited for.
  void turn() {
    for (int i = 0; i < 20; ++i) ASSERT_TRUE(loop.run_once(Duration{}));
  }
  void say(const UniqueFd& fd, const LightRequest& request, int process = -1) {
    ASSERT_TRUE(send_packet(fd.get(), to_frame(request), process));
    turn();
  }
  UniqueFd launch(const LightEnter& wanted = {.words = {"/usr/bin/cc", "-c", "a.c"}}) {
    UniqueFd fd = connect();
    say(fd, wanted, own.get());
    return fd;
  }
  // All that has been said, in words.
  static std::vector<std::string> hear(const UniqueFd& fd) {
    std::vector<std::string> heard;
    while (true) {
      const auto packet = receive_packet(fd.get(), kLightFrameMax);
      if (!packet) return heard;
      if (!*packet) {
        heard.emplace_back("closed");
        return heard;
      }
      const auto news = parse_light_news((*packet)->bytes);
      if (!news) {
        heard.emplace_back("rubbish");
      } else if (const auto* held = std::get_if<LightHeld>(&*news)) {
        heard.push_back("held for " + held->cause);
      } else if (const auto* admitted = std::get_if<LightAdmitted>(&*news)) {
        heard.push_back("admitted " + std::to_string(admitted->attempt));
      } else if (const auto* cancelled = std::get_if<LightCancelled>(&*news)) {
        heard.push_back("cancelled, " + cancelled->cause + (cancelled->again ? ", again" : ""));
      } else if (const auto* refused = std::get_if<LightRefused>(&*news)) {
        heard.push_back((refused->busy ? "busy: " : "refused: ") + refused->reason);
      }
    }
  }
  void start(JobId job, unsigned attempt = 1) {
    external_jobs.start({.job = job, .attempt = attempt, .slot = 1, .admitted_with = 1_MiB});
  }

  std::string folder, path;
  UniqueFd own{static_cast<int>(::syscall(SYS_pidfd_open, ::getpid(), 0))};
  loop::Loop loop;
  LightServer server;
};

TEST_F(LightServerTest, ACommandIsHeldAdmittedAndOver) {
  const UniqueFd launcher = launch({.job_class = "cc",
                                    .cwd = "/src",
                                    .words = {"/usr/bin/cc", "-c", "a.c"},
                                    .memory_hint = 5_MiB});
  ASSERT_EQ(entered.size(), 1u);
  const policy::JobSpec& job = entered.back();
  EXPECT_EQ(job.job_class, "cc");
  EXPECT_EQ(job.cwd, "/src");
  EXPECT_EQ(job.memory_hint, 5_MiB);
  EXPECT_EQ(policy::command_line(job.command), "/usr/bin/cc -c a.c");
  EXPECT_EQ(job.name, std::to_string(static_cast<std::uint64_t>(job.id)));
  external_jobs.on_event({.at = at,
                          .kind = policy::EventKind::held,
                          .job = job.id,
                          .reason = "no room",
                          .hold = policy::HoldCause::memory});
  EXPECT_THAT(hear(launcher), ElementsAre("held for memory"));
  start(job.id);
  EXPECT_THAT(hear(launcher), ElementsAre("admitted 1"));
  at += 2s;
  say(launcher, LightOver{.code = 3, .peak = 80_MiB, .cpu = 1s});
  EXPECT_THAT(hear(launcher), ElementsAre("closed"));
  EXPECT_EQ(ends.back().exit_code, 3);
  EXPECT_EQ(samples.back().peak, 80_MiB) << "short commands teach by what their launcher tells";
  EXPECT_EQ(samples.back().used, Bytes{});
  EXPECT_EQ(samples.back().cpu, 1s);
  EXPECT_EQ(external_jobs.size(), 0u);
  EXPECT_EQ(server.connections(), 0u);
}

TEST_F(LightServerTest, WhoIsKilledForMemoryIsToldAndMayComeAgain) {
  const UniqueFd launcher = launch({.words = {"cc"}, .restartable = true});
  const JobId job = entered.back().id;
  start(job);
  again.insert(job);
  external_jobs.kill(job, policy::Outcome::evicted, "8 MiB too much is in use");
  EXPECT_THAT(told, Contains("place killed"));
  EXPECT_THAT(hear(launcher), ElementsAre("admitted 1", "cancelled, evicted, again"));
  say(launcher, LightOver{.by_signal = true, .code = 9});
  EXPECT_EQ(ends.back().outcome, policy::Outcome::evicted);
  EXPECT_THAT(hear(launcher), IsEmpty());
  say(launcher, LightAgain{}, own.get());
  start(job, 2);
  EXPECT_THAT(hear(launcher), ElementsAre("admitted 2"));
  again.clear();
  say(launcher, LightOver{});
  EXPECT_THAT(hear(launcher), ElementsAre("closed"));
  EXPECT_EQ(external_jobs.size(), 0u);
}

TEST_F(LightServerTest, APromiseOfAnotherAttemptThatIsNotKeptIsTold) {
  const UniqueFd launcher = launch({.words = {"cc"}, .restartable = true});
  const JobId job = entered.back().id;
  start(job);
  external_jobs.kill(job, policy::Outcome::evicted, "8 MiB too much is in use");
  say(launcher, LightOver{.by_signal = true, .code = 9});
  EXPECT_THAT(hear(launcher), ElementsAre("admitted 1", "cancelled, evicted, again",
                                          "cancelled, evicted", "closed"));
}

TEST_F(LightServerTest, WhoseLauncherVanishesIsForgotten) {
  UniqueFd waits = launch(), runs = launch();
  start(entered.back().id);
  waits = UniqueFd();
  turn();
  EXPECT_THAT(asked, ElementsAre("withdraw: its client disconnected"));
  runs = UniqueFd();
  turn();
  EXPECT_EQ(external_jobs.size(), 0u);
  EXPECT_EQ(server.connections(), 0u);
  EXPECT_THAT(told, Not(Contains("place killed"))) << "it goes on by itself";
}

TEST_F(LightServerTest, WhoBreaksTheProtocolIsLetGo) {
  const auto saying = [this](const std::string& bytes, int fd) {
    const UniqueFd launcher = connect();
    EXPECT_TRUE(send_packet(launcher.get(), bytes, fd));
    turn();
    const auto heard = hear(launcher);
    EXPECT_EQ(heard.size(), 2u);
    EXPECT_EQ(heard.back(), "closed");
    return heard.front();
  };
  EXPECT_THAT(saying("rubbish", -1), HasSubstr("version"));
  EXPECT_THAT(saying(std::string(kLightFrameMax + 1, 'x'), -1), HasSubstr("8192 bytes"));
  const std::string entry = to_frame(LightRequest(LightEnter{.words = {"cc"}}));
  EXPECT_THAT(saying(entry, -1), HasSubstr("no pidfd"));
  EXPECT_THAT(saying(entry, 0), HasSubstr("not a pidfd"));
  EXPECT_THAT(saying(to_frame(LightRequest(LightOver{})), -1), HasSubstr("found no job"));
  EXPECT_THAT(saying(to_frame(LightRequest(LightAgain{})), own.get()), HasSubstr("no command"));
  const UniqueFd twice = launch();
  say(twice, LightEnter{.words = {"cc"}}, own.get());
  EXPECT_THAT(hear(twice), ElementsAre("refused: a connection is for one command", "closed"));
  EXPECT_EQ(external_jobs.size(), 0u);
  EXPECT_EQ(server.connections(), 0u);
}

TEST_F(LightServerTest, WhoWaitsIsSentAwayByADrainAndWhoRunsGoesOn) {
  const UniqueFd waits = launch(), runs = launch();
  start(entered.back().id);
  server.drain();
  external_jobs.drain();
  EXPECT_THAT(hear(waits).front(), HasSubstr("refused: the daemon is shutting down"));
  EXPECT_THAT(hear(runs), ElementsAre("admitted 1"));
  server.let_go();
  EXPECT_THAT(hear(runs), ElementsAre("closed"));
  EXPECT_THAT(told, Not(Contains("place killed")));
  EXPECT_EQ(external_jobs.size(), 0u);
}

TEST_F(LightServerTest, WhoFindsNoRoomIsToldToComeAgain) {
  std::vector<UniqueFd> launchers;
  while (server.connections() < LightServer::kClientsMax) {
    launchers.push_back(connect());
    ASSERT_EQ(server.connections(), launchers.size());
  }
  const UniqueFd late = connect();
  const auto heard = hear(late);
  ASSERT_EQ(heard.size(), 2u);
  EXPECT_THAT(heard.front(), HasSubstr("busy: "));
  EXPECT_EQ(server.connections(), launchers.size());
  launchers.pop_back();
  turn();
  const UniqueFd next = launch();
  EXPECT_EQ(external_jobs.size(), 1u);
}

// What holds is told to who reads it late, and no more of it is kept.
TEST_F(LightServerTest, WhoReadsSlowlyHoldsUpNobody) {
  const UniqueFd slow = launch();
  const JobId job = entered.back().id;
  for (int i = 0; i < 20'000; ++i) {
    external_jobs.on_event({.at = at,
                            .kind = policy::EventKind::held,
                            .job = job,
                            .reason = std::string(1000, 'r'),
                            .hold = policy::HoldCause::memory});
  }
  start(job);
  while (true) {
    const auto heard = hear(slow);
    ASSERT_FALSE(heard.empty());
    if (heard.back() == "admitted 1") break;
    EXPECT_THAT(heard, ::testing::Each("held for memory"));
    turn();
  }
}

}  // namespace
}  // namespace plimsoll::supervisor

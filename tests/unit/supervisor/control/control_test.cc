#include "supervisor/control/control.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <filesystem>

#include "supervisor/control/control_protocol.h"
#include "supervisor/sharing/runtime_dir.h"

namespace plimsoll::supervisor {
namespace {

using namespace plimsoll::literals;
using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

// A server of a run that notes what it is told, and its clients, on one thread.
class ControlTest : public ::testing::Test, protected ControlTarget {
 protected:
  ControlTest() : loop_(*loop::Loop::create()) {
    std::string name = "/tmp/plimsoll-control-XXXXXX";
    path_ = ::mkdtemp(name.data());
  }
  ~ControlTest() override { std::filesystem::remove_all(path_); }

  std::unique_ptr<Control> start(const std::string& run, Duration idle_max = 30s) {
    auto control =
        Control::start(loop_, {.run_id = run, .directory = path_, .idle_max = idle_max}, *this);
    EXPECT_TRUE(control) << control.error().message();
    return control ? std::move(*control) : nullptr;
  }

  RunStatus status() const override { return status_; }
  Result<JobId> find(std::string_view job) const override {
    if (job == "one") return JobId{1};
    return fail("there is no job \"" + std::string(job) + "\" in this run");
  }
  Result<void> pause(JobId job) override { return note("pause ", job); }
  Result<void> resume(JobId job) override { return note("resume ", job); }
  Result<void> kill(JobId job) override { return note("kill ", job); }
  Result<Bytes> set_line(std::string_view size) override {
    if (size == "2G") return 2_GiB;
    return fail("a line is a size");
  }
  Result<void> set_jobs_max(unsigned jobs) override {
    told_.push_back("jobs " + std::to_string(jobs));
    return {};
  }
  Result<void> note(const char* what, JobId job) {
    told_.push_back(what + std::to_string(static_cast<std::uint64_t>(job)));
    return {};
  }

  UniqueFd client(const std::string& run = "run") {
    const auto directory = open_runtime_dir(path_);
    EXPECT_TRUE(directory) << directory.error().message();
    auto connected = connect_to_run(directory->get(), run);
    EXPECT_TRUE(connected) << connected.error().message();
    turn();
    return connected ? std::move(*connected) : UniqueFd();
  }

  // Everything that is ready is done.
  void turn() {
    for (int i = 0; i < 50; ++i) (void)loop_.run_once(Duration{});
  }

  void say(const UniqueFd& fd, std::string_view text) {
    while (!text.empty()) {
      const ssize_t sent = ::send(fd.get(), text.data(), text.size(), MSG_NOSIGNAL);
      if (sent > 0) text.remove_prefix(static_cast<std::size_t>(sent));
      const bool is_closed = sent < 0 && errno != EAGAIN;
      turn();
      if (is_closed) return;
    }
    turn();
  }

  // What has come back; "(closed)" at the end if that is so.
  std::string hear(const UniqueFd& fd) {
    std::string text;
    char buffer[65536];
    for (;;) {
      const ssize_t got = ::recv(fd.get(), buffer, sizeof buffer, MSG_DONTWAIT);
      if (got > 0) {
        text.append(buffer, static_cast<std::size_t>(got));
        turn();
      } else {
        return got == 0 || errno != EAGAIN ? text + "(closed)" : text;
      }
    }
  }

  std::string path_;
  loop::Loop loop_;
  RunStatus status_{.run = "run"};
  std::vector<std::string> told_;
};

constexpr const char* kDone = "{\"schema\":\"plimsoll.control/1\",\"ok\":true}\n";

TEST_F(ControlTest, DoesWhatItIsTold) {
  const auto control = start("run");
  const UniqueFd fd = client();
  say(fd, R"({"command":"status"})"
          "\n");
  EXPECT_THAT(hear(fd), HasSubstr(R"("status":{"run":"run")"));
  say(fd, R"({"command":"pause","job":"one"})"
          "\n");
  EXPECT_EQ(hear(fd), kDone);
  say(fd, R"({"command":"resume","job":"one"})"
          "\n"
          R"({"command":"kill","job":"one"})"
          "\n\n"
          R"({"command":"jobs","jobs":3})"
          "\n");
  EXPECT_EQ(hear(fd), std::string(kDone) + kDone + kDone);
  EXPECT_THAT(told_, ElementsAre("pause 1", "resume 1", "kill 1", "jobs 3"));
  say(fd, R"({"command":"line","size":"2G"})"
          "\n");
  EXPECT_THAT(hear(fd), HasSubstr(R"("ok":true,"line_bytes":2147483648)"));
}

TEST_F(ControlTest, RefusalsComeBackInWords) {
  const auto control = start("run");
  const UniqueFd fd = client();
  say(fd, R"({"command":"kill","job":"two"})"
          "\n");
  EXPECT_THAT(hear(fd), HasSubstr(R"("ok":false,"error":"there is no job \"two\" in this run")"));
  say(fd, R"({"command":"line","size":"far"})"
          "\n");
  EXPECT_THAT(hear(fd), HasSubstr("a line is a size"));
  say(fd, "GET / HTTP/1.1\r\n");
  EXPECT_THAT(hear(fd), HasSubstr("expected a JSON object"));
  say(fd, R"({"command":"jobs","jobs":1})"
          "\n");
  EXPECT_EQ(hear(fd), kDone);
}

TEST_F(ControlTest, IsForItsOwnerAlone) {
  const auto control = start("run");
  struct stat about{};
  ASSERT_EQ(::stat((path_ + "/run.sock").c_str(), &about), 0);
  EXPECT_EQ(about.st_mode & 07777u, 0600u);
  if (::geteuid() != 0) GTEST_SKIP() << "only root can be somebody else";
  // Even if somebody has opened the way to it.
  ASSERT_EQ(::chmod(path_.c_str(), 0755), 0);
  ASSERT_EQ(::chmod((path_ + "/run.sock").c_str(), 0666), 0);
  const UniqueFd directory(::open(path_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  constexpr uid_t kNobody = 65534;
  ASSERT_EQ(::seteuid(kNobody), 0);
  const auto stranger = connect_to_run(directory.get(), "run");
  ASSERT_EQ(::seteuid(0), 0);
  ASSERT_TRUE(stranger) << stranger.error().message();
  turn();
  say(*stranger, R"({"command":"jobs","jobs":1})"
                 "\n");
  EXPECT_EQ(hear(*stranger), "(closed)");
  EXPECT_THAT(told_, IsEmpty());
}

TEST_F(ControlTest, HalfAWordCostsNobodyAnything) {
  const auto control = start("run");
  const UniqueFd half = client(), other = client();
  say(half, R"({"command":"jo)");
  say(other, R"({"command":"jobs","jobs":2})"
             "\n");
  EXPECT_EQ(hear(other), kDone);
  say(half, R"(bs","jobs":7})"
            "\n");
  EXPECT_EQ(hear(half), kDone);
  EXPECT_THAT(told_, ElementsAre("jobs 2", "jobs 7"));
}

TEST_F(ControlTest, AnsweredEvenIfTheClientHasShutItsSide) {
  const auto control = start("run");
  const UniqueFd fd = client();
  ASSERT_GT(::send(fd.get(), "{\"command\":\"status\"}\n", 21, 0), 0);
  ::shutdown(fd.get(), SHUT_WR);
  turn();
  const std::string heard = hear(fd);
  EXPECT_THAT(heard, HasSubstr("\"ok\":true"));
  EXPECT_TRUE(heard.ends_with("(closed)"));
}

TEST_F(ControlTest, EndlessRequestsEndTheConnection) {
  const auto control = start("run");
  const UniqueFd fd = client();
  say(fd, std::string(kRequestBytesMax + 5000, 'x'));
  EXPECT_THAT(hear(fd), ::testing::AllOf(HasSubstr("at most 65536 bytes"), HasSubstr("(closed)")));
  const UniqueFd other = client();
  say(other, R"({"command":"jobs","jobs":2})"
             "\n");
  EXPECT_EQ(hear(other), kDone);
}

TEST_F(ControlTest, WhoDoesNotReadIsNotReadFrom) {
  status_.running.resize(1000);
  for (RunningJob& job : status_.running) job.command.assign(kCommandShownMax, 'x');
  const auto control = start("run");
  const UniqueFd glutton = client(), other = client();
  std::string many;
  for (int i = 0; i < 1000; ++i) many += "{\"command\":\"status\"}\n";
  const ssize_t sent = ::send(glutton.get(), many.data(), many.size(), MSG_DONTWAIT);
  ASSERT_GT(sent, 0);
  turn();
  say(other, R"({"command":"jobs","jobs":2})"
             "\n");
  EXPECT_EQ(hear(other), kDone);
}

TEST_F(ControlTest, TheIdlestMakesRoom) {
  const auto control = start("run");
  std::vector<UniqueFd> clients;
  for (std::size_t i = 0; i < kControlClientsMax; ++i) clients.push_back(client());
  say(clients[0], R"({"command":"jobs","jobs":2})"
                  "\n");
  EXPECT_EQ(hear(clients[0]), kDone);
  const UniqueFd late = client();
  say(late, R"({"command":"jobs","jobs":3})"
            "\n");
  EXPECT_EQ(hear(late), kDone);
  EXPECT_EQ(hear(clients[0]), "");
  EXPECT_EQ(hear(clients[1]), "(closed)");
  EXPECT_EQ(hear(clients[2]), "");
}

TEST_F(ControlTest, TheIdleAreLetGo) {
  const auto control = start("run", 20ms);
  const UniqueFd fd = client();
  say(fd, "{");
  const Instant end = loop::now() + 60s;
  while (hear(fd) != "(closed)" && loop::now() < end) (void)loop_.run_once(5ms);
  EXPECT_EQ(hear(fd), "(closed)");
}

TEST_F(ControlTest, RandomBytesDoNoHarm) {
  const auto control = start("run");
  std::uint32_t state = 1;
  for (int round = 0; round < 200; ++round) {
    const UniqueFd fd = client();
    std::string bytes;
    for (int i = 0; i < 300; ++i)
      bytes += static_cast<char>((state = state * 1664525 + 1013904223) >> 24);
    say(fd, bytes);
  }
  const UniqueFd fd = client();
  say(fd, R"({"command":"jobs","jobs":2})"
          "\n");
  EXPECT_EQ(hear(fd), kDone);
}

// A socket at this path; nobody listens there once it is closed.
UniqueFd bound(const std::string& path, int type) {
  UniqueFd socket(::socket(AF_UNIX, type | SOCK_CLOEXEC, 0));
  sockaddr_un address{.sun_family = AF_UNIX, .sun_path = {}};
  path.copy(address.sun_path, sizeof address.sun_path - 1);
  EXPECT_EQ(::bind(socket.get(), reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
  return socket;
}

TEST_F(ControlTest, DeadSocketsAreTakenAwayAndLiveOnesAreNot) {
  const auto first = start("first");
  bound(path_ + "/dead.sock", SOCK_STREAM);
  const auto directory = open_runtime_dir(path_);
  ASSERT_TRUE(std::filesystem::exists(path_ + "/dead.sock"));
  EXPECT_TRUE(connect_to_run(directory->get(), "dead").error().gone());
  EXPECT_TRUE(connect_to_run(directory->get(), "none").error().gone());
  auto second = start("second");
  EXPECT_FALSE(std::filesystem::exists(path_ + "/dead.sock"));
  EXPECT_THAT(*live_runs(directory->get()), ElementsAre("first", "second"));
  second.reset();
  EXPECT_THAT(*live_runs(directory->get()), ElementsAre("first"));
}

// Of a run that was killed when it had taken the first of its two away.
TEST_F(ControlTest, ALightSocketThatIsLeftAloneIsTakenAway) {
  bound(path_ + "/dead.light", SOCK_SEQPACKET);
  const UniqueFd live = bound(path_ + "/live.light", SOCK_SEQPACKET);
  ASSERT_EQ(::listen(live.get(), 1), 0);
  const auto first = start("first");
  EXPECT_FALSE(std::filesystem::exists(path_ + "/dead.light"));
  EXPECT_TRUE(std::filesystem::exists(path_ + "/live.light"));
}

TEST_F(ControlTest, ADirectoryThatIsOpenToOthersIsRefused) {
  ASSERT_EQ(::chmod(path_.c_str(), 0755), 0);
  const auto control = Control::start(loop_, {.run_id = "run", .directory = path_}, *this);
  ASSERT_FALSE(control);
  EXPECT_THAT(control.error().message(), HasSubstr("expected mode 700"));
}

TEST(FindJob, NamesGoBeforeNumbers) {
  std::vector<policy::JobSpec> jobs(3);
  jobs[0].id = JobId{1};
  jobs[0].name = "2";
  jobs[1].id = JobId{2};
  jobs[1].name = "b";
  jobs[2].id = JobId{3};
  jobs[2].name = "3";
  EXPECT_EQ(*find_job(jobs, "2"), JobId{1});
  EXPECT_EQ(*find_job(jobs, "b"), JobId{2});
  EXPECT_EQ(*find_job(jobs, "1"), JobId{1});
  EXPECT_THAT(find_job(jobs, "4").error().message(), HasSubstr("no job \"4\""));
}

}  // namespace
}  // namespace plimsoll::supervisor

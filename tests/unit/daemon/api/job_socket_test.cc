// People at a shell, over connections that the test hands over.
#include "daemon/api/job_socket.h"

#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <functional>
#include <memory>

#include "support/lingering.h"
#include "unit/daemon/api/job_service_scene.h"

namespace plimsoll::daemon {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

// What people see and change, and who they were, in order.
struct FakeControls : Controls {
  [[nodiscard]] supervisor::RunStatus status(const supervisor::Peer& peer) const override {
    asked.push_back(peer.uid);
    const Duration begun = loop::cpu_time();
    while (loop::cpu_time() - begun < takes) continue;
    if (meanwhile) meanwhile();
    return {};
  }
  Result<Bytes> set_line(std::string_view size) override {
    line = size;
    return Bytes{42};
  }
  Result<void> set_jobs_max(unsigned jobs) override {
    jobs_max = jobs;
    return {};
  }
  mutable std::vector<std::uint32_t> asked;
  Duration takes{};  // CPU time, to tell the status
  std::function<void()> meanwhile{};
  std::string line;
  unsigned jobs_max = 0;
};

struct JobSocketTest : JobServiceScene {
  // The client's end; what it says and hears.
  struct Client {
    void say(const std::string& text) const {
      EXPECT_EQ(::send(fd.get(), text.data(), text.size(), MSG_NOSIGNAL),
                static_cast<ssize_t>(text.size()));
    }
    // All that there is by now. False: the daemon has closed the connection.
    bool listen() {
      std::array<char, 65536> buffer;
      for (;;) {
        const ssize_t got = ::recv(fd.get(), buffer.data(), buffer.size(), MSG_DONTWAIT);
        if (got <= 0) return got < 0;
        heard.append(buffer.data(), static_cast<std::size_t>(got));
      }
    }
    UniqueFd fd;
    std::string heard;
  };

  std::unique_ptr<Client> connect(const supervisor::Peer& peer) {
    std::array<int, 2> ends{};
    EXPECT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, ends.data()), 0);
    socket.take(UniqueFd(ends[1]), peer);
    auto client = std::make_unique<Client>();
    client->fd = UniqueFd(ends[0]);
    return client;
  }
  void await(Client& client, const std::string& text) {
    turn_until([&] {
      client.listen();
      return client.heard.find(text) != std::string::npos;
    });
    EXPECT_THAT(client.heard, HasSubstr(text));
  }
  void await_close(Client& client) {
    turn_until([&] { return !client.listen(); });
  }

  static supervisor::SubmitJob asked(const std::string& word = "/bin/true") {
    supervisor::SubmitJob job;
    job.job.command = std::vector<std::string>{word};
    job.job.cwd = "/";
    return job;
  }
  static std::string submission(const std::string& name) {
    supervisor::SubmitJob job = asked();
    job.job.name = name;
    return supervisor::to_message(job);
  }

  FakeControls controls;
  Gate gate{loop};
  JobSocket socket{{.loop = loop, .jobs = service, .controls = controls, .gate = gate}};
};

TEST_F(JobSocketTest, AJobFromItsSubmissionToItsEnd) {
  const auto client = connect(me);
  client->say(submission("build"));
  await(*client, "running");
  const JobId job = jobs.last();
  jobs.prints(job, "hello");
  await(*client, "hello");
  exits(job, 3);
  await_close(*client);
  EXPECT_THAT(client->heard, HasSubstr("\"exit_code\":3"));
  EXPECT_EQ(socket.connections(), 0u);
}

TEST_F(JobSocketTest, AClientThatGoesAwayTakesItsJobAlong) {
  auto client = connect(me);
  client->say(submission("build"));
  await(*client, "running");
  client.reset();
  turn_until([&] { return jobs.running(jobs.last())->killed.has_value(); });
  EXPECT_EQ(jobs.running(jobs.last())->killed, "its client disconnected");
  jobs.reap();
  EXPECT_TRUE(service.is_idle());
  EXPECT_EQ(socket.connections(), 0u);
}

TEST_F(JobSocketTest, AJobWhoseOutputGoesToFilesOutlivesItsClient) {
  supervisor::SubmitJob detached = asked();
  detached.files = supervisor::OutputFiles{.out = "/tmp/out", .err = "/tmp/out"};
  auto client = connect(me);
  client->say(supervisor::to_message(detached));
  await(*client, "\n");
  client.reset();
  turn_until([&] { return socket.connections() == 0; });
  EXPECT_FALSE(jobs.running(jobs.last())->killed);
}

TEST_F(JobSocketTest, WhoDoesNotTakeHisOutputHoldsUpHisJobAlone) {
  const auto sleeps = connect(me);
  sleeps->say(submission("sleeps"));
  await(*sleeps, "running");
  const JobId slow = jobs.last();
  const auto reads = connect(me);
  reads->say(submission("reads"));
  await(*reads, "running");
  const JobId other = jobs.last();
  // Until nothing more goes into its pipe: the socket, what is kept for it and the pipe are full.
  const std::string page(4096, 'x');
  std::size_t written = 0;
  constexpr std::size_t kEnough = 8 << 20;
  jobs.make_nonblocking(slow);
  for (int idle = 0; idle < 20 && written < kEnough;) {
    jobs.prints(slow, page);
    idle = jobs.written() > 0 ? 0 : idle + 1;
    if (jobs.written() > 0) written += static_cast<std::size_t>(jobs.written());
    ASSERT_TRUE(loop.run_once(std::chrono::milliseconds(1)));
  }
  EXPECT_LT(written, kEnough) << "somebody keeps what nobody takes";
  jobs.prints(other, "told at once");
  await(*reads, "told at once");
}

TEST_F(JobSocketTest, WhatMakesNoSenseIsRefusedAndEndsTheConnection) {
  const auto client = connect(me);
  client->say("what?\n");
  await_close(*client);
  EXPECT_THAT(client->heard, HasSubstr("error"));
}

// As kernels before Linux 6.16 let it be sent: read with a request, and left unread.
TEST_F(JobSocketTest, ADescriptorThatAClientSendsHoldsUpNobody) {
  auto [near, far] = testing::connect_over_tcp();
  auto [later, last] = testing::connect_over_tcp();
  auto client = connect(somebody);
  testing::send_away(client->fd, testing::make_linger(std::move(near)));
  turn_until([&there = far] { return testing::is_reset(there, 0); });
  testing::send_away(client->fd, testing::make_linger(std::move(later)));
  client.reset();
  turn_until([&there = last] { return testing::is_reset(there, 0); });
}

TEST_F(JobSocketTest, AConnectionWaitsForOneJobAtATime) {
  const auto client = connect(me);
  client->say(submission("first") + submission("second"));
  await(*client, "a connection can wait for only one job at a time");
  EXPECT_EQ(jobs.size(), 1u);
}

TEST_F(JobSocketTest, AJobOfSomebodyElseIsNotTold) {
  const auto mine = connect(me);
  mine->say(submission("secret"));
  await(*mine, "running");
  const auto other = connect(somebody);
  other->say(supervisor::to_message(supervisor::ListJobs{}));
  await(*other, "\n");
  EXPECT_THAT(other->heard, Not(HasSubstr("secret")));
  other->heard.clear();
  other->say(supervisor::to_line(supervisor::ControlRequest(supervisor::KillJob{"secret"})));
  await(*other, "there is no job");
  EXPECT_FALSE(jobs.running(jobs.last())->killed);
}

TEST_F(JobSocketTest, TheLineIsForOperators) {
  const auto line = supervisor::to_line(supervisor::ControlRequest(supervisor::SetLine{"1G"}));
  const auto other = connect(somebody);
  other->say(line);
  await(*other, "only root and the daemon's own user may change that");
  EXPECT_EQ(controls.line, "");
  const auto own = connect(me);
  own->say(line);
  await(*own, "42");
  EXPECT_EQ(controls.line, "1G");
}

TEST_F(JobSocketTest, OneUsersConnectionsAreCounted) {
  std::vector<std::unique_ptr<Client>> many;
  for (std::size_t i = 0; i < JobSocket::kOfUserMax; ++i) many.push_back(connect(somebody));
  EXPECT_EQ(socket.connections(), JobSocket::kOfUserMax);
  const auto one_more = connect(somebody);
  EXPECT_FALSE(one_more->listen());
  EXPECT_THAT(one_more->heard, HasSubstr("too many connections"));
  const auto other = connect({.uid = somebody.uid + 1});
  EXPECT_TRUE(other->listen());
  EXPECT_EQ(socket.connections(), JobSocket::kOfUserMax + 1);
}

TEST_F(JobSocketTest, WhatIsOnItsWayOfOneUserIsBounded) {
  // The heads alone, each of almost as much as may be.
  const std::string word(supervisor::kSubmitBytesMax - 100, 'x');
  std::string head = supervisor::to_message(asked(word));
  head.resize(head.find('\n') + 1);
  constexpr std::size_t kFit = 5;
  std::vector<std::unique_ptr<Client>> many;
  for (std::size_t i = 0; i < kFit + 1; ++i) {
    many.push_back(connect(me));
    many.back()->say(head);
  }
  // Whichever comes last.
  turn_until([&] { return socket.connections() == kFit; });
  std::string heard;
  for (const auto& client : many) {
    client->listen();
    heard += client->heard;
  }
  EXPECT_THAT(heard, HasSubstr("too many requests of this user are being processed"));
}

// Two users ask as often as they can, one over many connections.
TEST_F(JobSocketTest, AUserWithManyConnectionsDelaysAnotherByOneStep) {
  constexpr std::uint32_t kMany = 7, kOne = 8;
  constexpr std::size_t kConnections = 100, kRequests = 20;
  const auto ask = supervisor::to_line(supervisor::ControlRequest(supervisor::AskStatus{}));
  std::string often;
  for (std::size_t i = 0; i < kRequests; ++i) often += ask;
  std::vector<std::unique_ptr<Client>> many;
  for (std::size_t i = 0; i < kConnections; ++i) {
    many.push_back(connect({.uid = kMany}));
    many.back()->say(often);
  }
  const auto one = connect({.uid = kOne});
  one->say(often);
  turn_until([&] { return controls.asked.size() == (kConnections + 1) * kRequests; });
  // From its first answer to its last: a turn has an answer or the sending of one, so that between
  // two answers the other user has had some steps for each of its own, and not one a connection.
  const auto first = std::find(controls.asked.begin(), controls.asked.end(), kOne);
  const auto last = std::find(controls.asked.rbegin(), controls.asked.rend(), kOne).base();
  const auto others = static_cast<std::size_t>(std::count(first, last, kMany));
  EXPECT_LE(others, 4 * kRequests);
  EXPECT_GE(others, kRequests / 4) << "and it is not the other way about";
}

// As many connections as a user may have would else take all of the loop's time with long answers.
TEST_F(JobSocketTest, WhatTakesLongCountsWithItsUsersCalls) {
  constexpr std::uint32_t kMuch = 7, kLittle = 8;
  const auto status = supervisor::to_line(supervisor::ControlRequest(supervisor::AskStatus{}));
  const auto much = connect({.uid = kMuch}), little = connect({.uid = kLittle});
  const auto answered = [&](std::uint32_t uid) {
    return std::count(controls.asked.begin(), controls.asked.end(), uid);
  };
  controls.takes = std::chrono::milliseconds(300);
  const auto calls_too = [&] { (void)gate.next_beside(policy::Tenant{kLittle}); };
  controls.meanwhile = calls_too;
  much->say(status);
  turn_until([&] { return answered(kMuch) == 1; });
  calls_too();  // which counts for a second
  EXPECT_GT(gate.next_beside(policy::Tenant{kMuch}), loop::now());
  controls.takes = {};
  calls_too();
  much->say(status);
  little->say(status);
  turn_until([&] { return answered(kLittle) == 1; });
  EXPECT_EQ(answered(kMuch), 1);
}

}  // namespace
}  // namespace plimsoll::daemon

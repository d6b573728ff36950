#include "guardian/births.h"

#include <sys/resource.h>
#include <sys/wait.h>

#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <thread>

#include "kernel/cgroup/freeze.h"
#include "spawner_host.h"

// Children in real groups, most of them made by vfork.
namespace plimsoll::testing {
namespace {

using guardian::Births;
using guardian::ChildId;
using guardian::Packet;
using guardian::ReceivedSpawn;
using guardian::Started;
using guardian::StartFailed;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::EndsWith;

// What is told, by child.
struct Told : guardian::BirthObserver {
  void on_begun(const ReceivedSpawn& request, pid_t pid) override { begun[request.id] = pid; }
  void on_withdrawn(pid_t pid) override {
    std::erase_if(begun, [pid](auto& b) { return b.second == pid; });
  }
  void on_born(Started started) override { born[started.id] = started.pid; }
  void on_failed(const StartFailed& failure, pid_t /*pid*/) override {
    failed.insert_or_assign(failure.id, failure);
  }
  std::map<ChildId, pid_t> begun, born;
  std::map<ChildId, StartFailed> failed;
};

// Of tests in which nobody hangs, however busy the machine is; and of those in which one does.
constexpr auto kNever = std::chrono::hours(1);
constexpr auto kSoon = std::chrono::milliseconds(700);

class BirthsHost : public SpawnerHost {
 protected:
  // Until what is under way has come to something.
  void turn(Births& births) {
    std::vector<pollfd> fds;
    births.watch(fds);
    if (fds.empty()) return;
    ::poll(fds.data(), fds.size(), 100);
    births.take(fds);
  }

  void begin(Births& births, SpawnRequest request) {
    request.id = ChildId{++last_id_};
    auto encoded = encode(request);
    Packet packet;
    packet.bytes = std::move(encoded.bytes);
    std::vector<UniqueFd> fds;
    for (const int fd : encoded.fds) fds.emplace_back(::fcntl(fd, F_DUPFD_CLOEXEC, 3));
    auto received = guardian::decode(packet.bytes, std::move(fds));
    ASSERT_TRUE(received);
    births.begin(std::move(packet), std::move(*received));
  }

  // What the child prints, or why it did not start.
  std::string run(Births& births, SpawnRequest request) {
    int ends[2];
    EXPECT_EQ(::pipe2(ends, O_CLOEXEC), 0);
    const UniqueFd from(ends[0]);
    {
      const UniqueFd to(ends[1]);
      request.stdio[1] = to.get();
      begin(births, std::move(request));
    }
    const ChildId id{last_id_};
    while (!told_.born.contains(id) && !told_.failed.contains(id)) turn(births);
    if (const auto failed = told_.failed.find(id); failed != told_.failed.end()) {
      return std::string(guardian::name_of(failed->second.step)) + ": " +
             std::make_error_code(failed->second.code).message();
    }
    EXPECT_EQ(told_.begun.at(id), told_.born.at(id));
    std::string text = read_all(from.get());
    ::waitpid(told_.born.at(id), nullptr, 0);  // unless the kernel has done it
    return text;
  }

  // From then on they are made by vfork, where that is possible.
  void warm_up(Births& births, const cgroup::Leaf& leaf) {
    for (std::size_t i = 0; i <= Births::kForkedFirst; ++i) {
      ASSERT_EQ(run(births, request_in(leaf, {"echo", "warm"})), "warm\n");
    }
  }

  Told told_;
  std::uint64_t last_id_ = 0;
};

TEST_F(BirthsHost, AllAreInTheirGroupsAndGivenWhatWasAskedFor) {
  PREPARE_OR_SKIP(kHybrid);
  {
    const cgroup::Leaf leaf = ground_->leaf("job");
    Births births(no_signals(), told_, [] { ::abort(); }, kNever);
    warm_up(births, leaf);
    for (int i = 0; i < 20; ++i) {
      const std::string groups = run(births, request_in(leaf, {"cat", "/proc/self/cgroup"}));
      std::size_t in_group = 0;
      for (const std::string& line : lines(groups)) in_group += line.ends_with("/job") ? 1U : 0U;
      EXPECT_EQ(in_group, leaf.parts().size()) << groups;
    }
    SpawnRequest request =
        request_in(leaf, {"sh", "-c",
                          "umask; pwd; ulimit -n; read -r _ _ _ _ _ session _ </proc/self/stat; "
                          "[ $session = $$ ] && echo own; ls /proc/self/fd | wc -l"});
    request.umask = 027;
    request.cwd = "/usr";
    request.rlimits = {{RLIMIT_NOFILE, {77, 77}}};
    request.session = guardian::Session::own;
    request.descriptors = guardian::Descriptors::close;
    EXPECT_THAT(lines(run(births, request)), ElementsAre("0027", "/usr", "77", "own", "4"));
    // Nothing of it is left with the parent.
    EXPECT_NE(std::filesystem::current_path(), "/usr");
    const mode_t mask = ::umask(0);
    ::umask(mask);
    EXPECT_NE(mask, 027U);
    release();
  }
}

TEST_F(BirthsHost, EachStepThatFailsIsNamedWithItsReason) {
  PREPARE_OR_SKIP(kHybrid);
  {
    const cgroup::Leaf leaf = ground_->leaf("job");
    Births births(no_signals(), told_, [] { ::abort(); }, kNever);
    warm_up(births, leaf);
    const auto with = [&](const std::function<void(SpawnRequest&)>& change) {
      SpawnRequest request = request_in(leaf, {"echo", "works"});
      change(request);
      return run(births, request);
    };
    EXPECT_THAT(with([](auto& r) { r.argv = {"no-such-command"}; }),
                EndsWith("No such file or directory"));
    EXPECT_THAT(with([](auto& r) { r.argv = {"/etc/passwd"}; }), EndsWith("Permission denied"));
    EXPECT_THAT(with([](auto& r) { r.cwd = "/no/such"; }), EndsWith("No such file or directory"));
    EXPECT_THAT(with([](auto& r) { r.rlimits = {{RLIMIT_NOFILE, {2, 1}}}; }),
                EndsWith("Invalid argument"));
    EXPECT_EQ(with([](auto& /*as it is*/) {}), "works\n");
    release();
  }
}

// Made by fork as by vfork.
TEST_F(BirthsHost, PlainWordsAreTriedBeforeTheShell) {
  PREPARE_OR_SKIP(kHybrid);
  const std::filesystem::path directory =
      std::filesystem::temp_directory_path() / ("plimsoll-plain-" + std::to_string(::getpid()));
  const auto write = [&directory](const std::string& name, const std::string& text) {
    std::filesystem::create_directories((directory / name).parent_path());
    std::ofstream(directory / name) << text;
    std::filesystem::permissions(directory / name, std::filesystem::perms::owner_all);
  };
  write("first/script", "echo script\n");
  write("second/script", "#!/bin/sh\necho another\n");
  write("first/lost", "#!/no/such/interpreter\n");
  write("second/lost", "#!/bin/sh\necho another\n");
  std::filesystem::create_directories(directory / "first/directory");
  write("second/directory", "#!/bin/sh\necho another\n");
  write("second/program", "#!/bin/sh\necho \"program $1\"\n");
  {
    const cgroup::Leaf leaf = ground_->leaf("job");
    Births births(no_signals(), told_, [] { ::abort(); }, kNever);
    const auto with = [&](const Words& plain) {
      SpawnRequest request = request_in(leaf, {"/bin/sh", "-c", "echo the shell"});
      request.env = {"PATH=" + (directory / "first").string() + ":" +
                     (directory / "second").string()};
      request.plain = plain;
      return run(births, request);
    };
    const auto check = [&] {
      EXPECT_EQ(with({"program", "a"}), "program a\n");
      EXPECT_EQ(with({"no-such-program"}), "the shell\n");
      EXPECT_EQ(with({"./no/such"}), "the shell\n");
      EXPECT_EQ(with({"/etc/passwd"}), "the shell\n");
      for (const char* name : {"script", "lost", "directory"}) {
        EXPECT_EQ(with({name}), "the shell\n") << "which knows whether it is passed over: " << name;
      }
      EXPECT_EQ(with({}), "the shell\n");
    };
    check();
    warm_up(births, leaf);
    check();
    release();
  }
  std::filesystem::remove_all(directory);
}

TEST_F(BirthsHost, ATextWithoutAnInterpreterGoesToTheShell) {
  PREPARE_OR_SKIP(kHybrid);
  const std::filesystem::path script =
      std::filesystem::temp_directory_path() / ("plimsoll-script-" + std::to_string(::getpid()));
  std::ofstream(script) << "echo \"from $1\"\n";
  std::filesystem::permissions(script, std::filesystem::perms::owner_all);
  {
    const cgroup::Leaf leaf = ground_->leaf("job");
    Births births(no_signals(), told_, [] { ::abort(); }, kNever);
    warm_up(births, leaf);
    EXPECT_EQ(run(births, request_in(leaf, {script.string(), "text"})), "from text\n");
    release();
  }
  std::filesystem::remove(script);
}

constexpr int kAsExpected = 3, kNotByVfork = 4;

// A birth in a group that is frozen never ends by itself. The scenario has a process of its own, as
// the thread that waits for the child never comes back to it.
int status_of(const std::function<void()>& scenario) {
  const auto before = ::signal(SIGCHLD, SIG_DFL);  // ends are waited for
  const pid_t pid = ::fork();
  if (pid == 0) {
    ::alarm(60);
    scenario();
    ::_exit(1);
  }
  int status = 0;
  ::waitpid(pid, &status, 0);
  ::signal(SIGCHLD, before);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

// A child of "exit 7" hangs in a group that is frozen.
class HangingBirth : public BirthsHost {
 protected:
  // The exit status of a process in which it does; `meanwhile` is what the thread does that takes
  // the lead. kNotByVfork: in this build nobody waits for it.
  int status_with(const cgroup::Leaf& leaf, const std::function<void()>& meanwhile) {
    return status_of([&] {
      births_ = std::make_unique<Births>(no_signals(), told_, meanwhile, kSoon);
      warm_up(*births_, leaf);
      std::this_thread::sleep_for(2 * kSoon);  // the thread stands by
      auto freeze = cgroup::FreezeGuard::freeze(leaf);
      if (!freeze) ::_exit(10);
      frozen_.emplace(std::move(*freeze));
      begin(*births_, request_in(leaf, {"sh", "-c", "exit 7"}));
      frozen_.reset();
      ::_exit(kNotByVfork);
    });
  }

  [[nodiscard]] bool is_told_of(ChildId hung) const {
    return told_.born.contains(hung) || told_.failed.contains(hung);
  }
  // Once it is free, it runs as if nothing had been.
  [[nodiscard]] bool ends_as_asked(ChildId hung) {
    frozen_.reset();
    while (!is_told_of(hung)) turn(*births_);
    int end = 0;
    return ::waitpid(told_.born.at(hung), &end, 0) > 0 && WEXITSTATUS(end) == 7;
  }

  std::unique_ptr<Births> births_;
  std::optional<cgroup::FreezeGuard> frozen_;
};

TEST_F(HangingBirth, HoldsUpNobodyElse) {
  PREPARE_OR_SKIP(kHybrid);
  {
    const cgroup::Leaf leaf = ground_->leaf("job");
    const cgroup::Leaf other = ground_->leaf("other");
    const int status = status_with(leaf, [&] {
      const ChildId hung{last_id_};
      for (int i = 0; i < 3; ++i) {
        if (run(*births_, request_in(other, {"echo", "meanwhile"})) != "meanwhile\n") ::_exit(5);
      }
      if (is_told_of(hung)) ::_exit(6);
      if (!ends_as_asked(hung)) ::_exit(8);
      if (run(*births_, request_in(leaf, {"echo", "again"})) != "again\n") ::_exit(9);
      ::_exit(kAsExpected);
    });
    EXPECT_TRUE(ground_->inner().remove_child("other"));
    release();
    if (status == kNotByVfork) GTEST_SKIP() << "children are not made by vfork in this build";
    EXPECT_EQ(status, kAsExpected);
  }
}

TEST_F(HangingBirth, IsWithdrawnBeforeAStopAndBegunAgain) {
  PREPARE_OR_SKIP(kHybrid);
  {
    const cgroup::Leaf leaf = ground_->leaf("job");
    const int status = status_with(leaf, [&] {
      const ChildId hung{last_id_};
      const Instant begun = clock_now();
      if (!births_->before_stop()) ::_exit(10);  // then this process can be stopped
      if (clock_now() - begun > std::chrono::seconds(20)) ::_exit(5);
      if (is_told_of(hung)) ::_exit(6);
      ::_exit(ends_as_asked(hung) ? kAsExpected : 8);
    });
    release();
    if (status == kNotByVfork) GTEST_SKIP() << "children are not made by vfork in this build";
    EXPECT_EQ(status, kAsExpected);
  }
}

}  // namespace
}  // namespace plimsoll::testing

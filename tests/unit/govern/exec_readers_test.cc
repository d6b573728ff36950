#include "govern/exec_readers.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <filesystem>
#include <iterator>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "base/unique_fd.h"

namespace plimsoll::govern {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;

constexpr int kWillFail = -1;

// Hangs until something can be read from the descriptor that the call names as its file; 0: not at
// all. kWillFail: there is no such file.
Result<std::optional<Exec>> read_once_let(const seccomp_notif& call) {
  pollfd gate{.fd = static_cast<int>(call.data.args[0]), .events = POLLIN, .revents = 0};
  if (gate.fd == kWillFail) return std::optional<Exec>();
  if (gate.fd != 0) ::poll(&gate, 1, -1);
  return std::optional(Exec{.process = {}, .file = std::to_string(call.id), .argv = {}});
}

std::ptrdiff_t threads_of_this() {
  const std::filesystem::directory_iterator threads("/proc/self/task");
  return std::distance(begin(threads), end(threads));
}

struct ExecReadersTest : ::testing::Test, ExecReadersObserver {
  ExecReadersTest() : loop(*loop::Loop::create()) {
    std::array<int, 2> ends{};
    EXPECT_EQ(::pipe(ends.data()), 0);
    gate = {UniqueFd(ends[0]), UniqueFd(ends[1])};
    ExecReadersObserver& told = *this;
    readers.emplace(loop, told, read_once_let);
  }
  // Its threads end by themselves, and what they have posted holds what they have in common.
  ~ExecReadersTest() override {
    let_go();
    readers.reset();
    const Instant end = loop::now() + std::chrono::seconds(30);
    while (threads_of_this() > threads && loop::now() < end) std::this_thread::yield();
    EXPECT_LE(threads_of_this(), threads);
    EXPECT_TRUE(loop.run_once(Duration::zero()));
  }
  ExecReadersTest(const ExecReadersTest&) = delete;
  ExecReadersTest& operator=(const ExecReadersTest&) = delete;

  void on_read(const seccomp_notif& call, Result<std::optional<Exec>> exec) override {
    const std::string id = std::to_string(call.id);
    read.push_back(!exec ? "unread " + id : *exec ? (*exec)->file : "failing " + id);
  }
  void ask(std::uint64_t id, int until = 0) {
    seccomp_notif call{};
    call.id = id;
    call.data.args[0] = static_cast<__u64>(until);
    readers->read(call);
  }
  void turn_until_read(std::size_t count) {
    while (read.size() < count) ASSERT_TRUE(loop.run_once(Duration(-1)));
  }
  void let_go() { EXPECT_EQ(::write(gate[1].get(), "", 1), 1); }

  const std::ptrdiff_t threads = threads_of_this();
  loop::Loop loop;
  std::array<UniqueFd, 2> gate;
  std::vector<std::string> read;
  std::optional<ExecReaders> readers;
};

TEST_F(ExecReadersTest, OneThatHangsHoldsUpNoOther) {
  ask(1, gate[0].get());
  ask(2);
  ask(3);
  turn_until_read(2);
  EXPECT_THAT(read, ElementsAre("2", "3"));
  let_go();
  turn_until_read(3);
  EXPECT_THAT(read, Contains("1"));
}

TEST_F(ExecReadersTest, BesideAsManyAsMayBeWhatWaitsIsToldUnread) {
  for (std::uint64_t id = 0; id < ExecReaders::kThreadsMax; ++id) ask(id, gate[0].get());
  ask(100);
  turn_until_read(1);
  EXPECT_THAT(read, ElementsAre("unread 100"));
}

TEST_F(ExecReadersTest, WhatWillFailIsToldOrAnsweredWhereItWasRead) {
  ask(1, kWillFail);
  turn_until_read(1);
  EXPECT_THAT(read, ElementsAre("failing 1"));
  std::atomic<std::uint64_t> answered = 0;
  const std::thread::id own = std::this_thread::get_id();
  readers->answer_failing([&](const seccomp_notif& call) {
    if (std::this_thread::get_id() != own) answered = call.id;
  });
  ask(2, kWillFail);
  ask(3);
  turn_until_read(2);
  EXPECT_THAT(read, ElementsAre("failing 1", "3"));
  EXPECT_EQ(answered, 2);
}

TEST_F(ExecReadersTest, ItsEndWaitsForNobody) {
  ask(1, gate[0].get());
  readers.reset();
  EXPECT_TRUE(read.empty());
}

}  // namespace
}  // namespace plimsoll::govern

#pragma once

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>

#include "guardian/spawner.h"
#include "kernel/cgroup/destroy.h"
#include "kernel/cgroup/directory.h"
#include "support/host_test.h"

// For tests of children born into real groups: what they are asked for and what they print.
namespace plimsoll::testing {

using guardian::SpawnedChild;
using guardian::SpawnRequest;
using guardian::SpawnStep;

// Everything until the end of file, or what came within kPatience.
inline std::string read_all(int fd) {
  std::string text;
  const Instant end = clock_now() + kPatience;
  while (clock_now() < end) {
    pollfd readable{.fd = fd, .events = POLLIN, .revents = 0};
    if (::poll(&readable, 1, 100) <= 0) continue;
    char block[4096];
    const ssize_t got = ::read(fd, block, sizeof block);
    if (got <= 0) break;
    text.append(block, static_cast<std::size_t>(got));
  }
  return text;
}

inline std::vector<std::string> lines(std::string_view text) {
  std::vector<std::string> found;
  while (!text.empty()) {
    const auto end = std::min(text.find('\n'), text.size());
    found.emplace_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return found;
}

inline sigset_t no_signals() {
  sigset_t none;
  sigemptyset(&none);
  return none;
}

inline constexpr const char* kBorn = "B";

class SpawnerHost : public HostTest {
 protected:
  void TearDown() override {
    if (ground_) {
      EXPECT_TRUE(
          cgroup::destroy(ground_->inner().parts(), "job", clock_now() + kPatience, &clock_now)
              .gone);
    }
    HostTest::TearDown();
  }

  // A request to be born in the group, whose stdout comes to `output_`.
  SpawnRequest request_in(const cgroup::Leaf& leaf, const std::vector<std::string>& argv) {
    SpawnRequest request;
    request.argv = argv;
    request.env = {"PATH=/usr/bin:/bin"};
    for (const auto& part : leaf.parts()) {
      if (part.directory.version() == cgroup::Version::v2) {
        request.v2_group = part.directory.fd();
      } else {
        entrances_.push_back(*cgroup::open_v1_entrance(part.directory));
        request.v1_entrances.push_back(entrances_.back().get());
      }
    }
    return request;
  }

  // What the child reported before its exec.
  std::string spawn(guardian::Spawner& spawner, SpawnRequest request) {
    int ends[2];
    EXPECT_EQ(::pipe2(ends, O_CLOEXEC), 0);
    const UniqueFd from(ends[0]);
    UniqueFd to(ends[1]);
    request.stdio[1] = to.get();
    auto encoded = encode(request);
    std::vector<UniqueFd> fds;
    for (const int fd : encoded.fds) fds.emplace_back(::fcntl(fd, F_DUPFD_CLOEXEC, 3));
    std::string report;
    {
      const auto received = guardian::decode(encoded.bytes, std::move(fds));
      if (!received) return "not decoded";
      to = UniqueFd();
      auto child = spawner.spawn(*received);
      if (!child) return child.error().message();
      report = read_all(child->report.get());
      last_ = std::move(*child);
    }
    output_ = read_all(from.get());
    return report;
  }

  // As the guardian does it: once more after a death at birth.
  std::string spawn_or_again(guardian::Spawner& spawner, const SpawnRequest& request) {
    std::string report = spawn(spawner, request);
    if (report.empty() && spawner.may_try_again(last_.birth)) report = spawn(spawner, request);
    return report;
  }

  void expect_failure(SpawnRequest request, SpawnStep step, int code) {
    guardian::Spawner spawner(no_signals());
    const std::string report = spawn_or_again(spawner, request);
    guardian::SpawnFailure failure;
    ASSERT_EQ(report.size(), 1 + sizeof failure) << report;
    std::memcpy(&failure, report.data() + 1, sizeof failure);
    EXPECT_EQ(failure.step, step) << name_of(failure.step);
    EXPECT_EQ(failure.code, code) << std::strerror(failure.code);
  }

  std::vector<UniqueFd> entrances_;
  SpawnedChild last_;
  std::string output_;

  void release() {
    entrances_.clear();
    last_ = {};
  }
};

}  // namespace plimsoll::testing

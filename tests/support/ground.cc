#include "support/ground.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <thread>

#include "base/check.h"
#include "base/text.h"
#include "kernel/cgroup/destroy.h"

namespace plimsoll::testing {
namespace {

void execute(const std::vector<std::string>& command) {
  const std::string path = std::string(PLIMSOLL_PROGRAMS) + "/" + command.front();
  std::vector<char*> arguments;
  for (const std::string& word : command) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  ::execv(path.c_str(), arguments.data());
}

// The names of the groups of a path.
std::vector<std::string> base_names(std::string_view path) {
  std::vector<std::string> names;
  while (!path.empty()) {
    const std::size_t end = std::min(path.find('/'), path.size());
    if (end > 0) names.emplace_back(path.substr(0, end));
    path.remove_prefix(std::min(end + 1, path.size()));
  }
  return names;
}

}  // namespace

void remove_stale(const cgroup::Directory& base, cgroup::ControllerSet controllers,
                  const std::string& prefix) {
  const auto names = base.children();
  auto same = base.clone();
  if (!names || !same) return;
  std::vector<cgroup::Group::Part> parents;
  parents.push_back({std::move(*same), controllers});
  for (const std::string& name : *names) {
    if (!name.starts_with(prefix + "-")) continue;
    const auto pid = to_u64(std::string_view(name).substr(prefix.size() + 1));
    if (!pid || std::filesystem::exists("/proc/" + std::to_string(*pid))) continue;
    cgroup::destroy(parents, name, clock_now() + kPatience, &clock_now);
  }
}

std::string base_path() {
  const char* named = std::getenv("PLIMSOLL_CGROUP");
  std::string path;
  for (const std::string& name : base_names(named == nullptr ? "" : named)) path += "/" + name;
  return path;
}

unsigned base_depth() {
  const std::string path = base_path();
  return static_cast<unsigned>(std::count(path.begin(), path.end(), '/'));
}

Result<cgroup::Directory> open_base(const cgroup::Hierarchy& hierarchy,
                                    cgroup::ControllerSet wanted) {
  auto base = cgroup::Directory::open(hierarchy.mount_point, hierarchy.version);
  const auto enable = [&] {
    if (!base || hierarchy.version != cgroup::Version::v2) return;
    // What is refused is missed by whoever needs it.
    [[maybe_unused]] const auto ignored =
        cgroup::enable_for_children(*base, hierarchy.controllers & wanted);
  };
  enable();
  for (const std::string& name : base_names(base_path())) {
    if (!base) break;
    base = base->open_child(name);
    enable();
  }
  return base;
}

Result<Ground> Ground::make(const Way& way, const std::string& prefix) {
  const std::string name = prefix + "-" + std::to_string(::getpid());
  auto host = cgroup::discover_hierarchies();
  if (!host) return pass(std::move(host));
  std::vector<cgroup::Group::Part> parts;
  cgroup::ControllerSet found;
  for (const cgroup::Hierarchy& hierarchy : host->all) {
    const bool is_v2 = hierarchy.version == cgroup::Version::v2;
    if (is_v2 ? !way.with_v2 : !hierarchy.controllers.has_any(way.controllers)) continue;
    auto base = open_base(hierarchy, way.controllers);
    if (!base) return pass(std::move(base));
    remove_stale(*base, hierarchy.controllers, prefix);
    auto made = base->make_child(name);
    if (!made && made.error().code == std::errc::file_exists) made = base->open_child(name);
    if (!made) return pass(std::move(made));
    found = found | hierarchy.controllers;
    parts.push_back({std::move(*made), hierarchy.controllers});
  }
  Ground ground(cgroup::Inner(name, std::move(parts)), way.controllers);
  if (!found.has_all(way.controllers)) return fail("this host lacks a hierarchy of " + way.name);
  if (way.with_v2 && ground.inner_.v2() == nullptr) return fail("this host has no v2 hierarchy");
  ground.clear();
  ::prctl(PR_SET_CHILD_SUBREAPER, 1);
  // The kernel collects what ends: orphans of a fork bomb would use up the machine's pids in
  // seconds.
  ::signal(SIGCHLD, SIG_IGN);
  return ground;
}

Ground::~Ground() {
  if (inner_.parts().empty()) return;  // moved from
  clear();
  for (const cgroup::Group::Part& part : inner_.parts()) {
    auto base = part.directory.open_child("..");
    if (base) [[maybe_unused]]
      const auto ignored = base->remove_child(inner_.name());
  }
}

void Ground::clear() const {
  for (const cgroup::Group::Part& part : inner_.parts()) {
    const auto names = part.directory.children();
    if (!names) continue;
    for (const std::string& name : *names) {
      cgroup::destroy(inner_.parts(), name, clock_now() + kPatience, &clock_now);
    }
  }
}

cgroup::Leaf Ground::leaf(const std::string& name) {
  auto leaf = inner_.make_leaf(name, controllers_);
  PLIMSOLL_CHECK(leaf);
  return std::move(*leaf);
}

std::vector<std::string> Ground::left_of(const std::string& name) const {
  std::vector<std::string> left;
  for (const cgroup::Group::Part& part : inner_.parts()) {
    if (part.directory.has_file(name)) left.push_back(part.directory.label() + "/" + name);
  }
  return left;
}

Started start(const cgroup::Leaf& leaf, const std::vector<std::string>& command) {
  int ends[2];
  PLIMSOLL_CHECK(::pipe2(ends, O_CLOEXEC) == 0);
  UniqueFd output(ends[0]);
  const UniqueFd input(ends[1]);
  const int pid = ::fork();
  PLIMSOLL_CHECK(pid >= 0);
  if (pid == 0) {
    ::signal(SIGCHLD, SIG_DFL);
    if (cgroup::move_process(leaf, 0) && ::dup2(input.get(), STDOUT_FILENO) >= 0) execute(command);
    ::_exit(127);
  }
  return {.pid = pid, .output = std::move(output)};
}

bool wait_ready(const Started& started) {
  std::string said;
  const Instant end = clock_now() + kPatience;
  while (said.find("ready\n") == std::string::npos) {
    pollfd readable{.fd = started.output.get(), .events = POLLIN, .revents = 0};
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(end - clock_now()).count();
    if (left <= 0 || ::poll(&readable, 1, static_cast<int>(left)) <= 0) return false;
    char block[64];
    const ssize_t got = ::read(started.output.get(), block, sizeof block);
    if (got <= 0) return false;
    said.append(block, static_cast<std::size_t>(got));
  }
  return true;
}

Instant clock_now() { return std::chrono::steady_clock::now(); }

bool eventually(const std::function<bool()>& holds) {
  for (const Instant end = clock_now() + kPatience; clock_now() < end;) {
    if (holds()) return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return holds();
}

bool has_children() {
  // With SIGCHLD ignored there is nothing to collect, only "some live" or ECHILD.
  return ::waitpid(-1, nullptr, WNOHANG | __WALL) >= 0;
}

int open_descriptors() {
  const std::filesystem::directory_iterator list("/proc/self/fd");
  return static_cast<int>(std::distance(begin(list), end(list)));
}

}  // namespace plimsoll::testing

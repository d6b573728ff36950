#include "kernel/cgroup/run_tree.h"

#include <sys/file.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <thread>

#include "base/may_wait.h"
#include "base/text.h"
#include "kernel/cgroup/limits.h"

namespace plimsoll::cgroup {
namespace {

constexpr std::string_view kPrefix = "plimsoll-";
// 0 stands for a decimal digit, x for a hexadecimal one.
constexpr std::string_view kIdPattern = "00000000-000000-xxxxxxxx";

bool matches(char c, char pattern) {
  const bool digit = c >= '0' && c <= '9';
  if (pattern == '0') return digit;
  if (pattern == 'x') return digit || (c >= 'a' && c <= 'f');
  return c == pattern;
}

bool is_linked(const Directory& base, const std::string& name, const Directory& directory) {
  struct stat by_name{}, by_handle{};
  return ::fstatat(base.fd(), name.c_str(), &by_name, AT_SYMLINK_NOFOLLOW) == 0 &&
         ::fstat(directory.fd(), &by_handle) == 0 && by_name.st_ino == by_handle.st_ino;
}

// flock(2) needs no more than leave to read: who may not keep a dead run's groups from being
// removed must not open them. Passing through is for jobs of other users.
constexpr mode_t kRunMode = 0711;

// A sweeper lets go at once.
constexpr int kLockTries = 500;
constexpr auto kLockGap = std::chrono::milliseconds(2);

bool lock(const Directory& directory) {
  may_wait("the lock of a run's group");
  for (int tries = 0; tries < kLockTries; ++tries) {
    if (::flock(directory.fd(), LOCK_EX | LOCK_NB) == 0) return true;
    if (errno != EWOULDBLOCK && errno != EINTR) return false;
    std::this_thread::sleep_for(kLockGap);
  }
  errno = EWOULDBLOCK;
  return false;
}

// A sweeper that comes between the mkdir and the lock takes the directory for a dead run's and
// removes it; then it is made once more.
Result<Directory> make_locked(const Directory& base, const std::string& name) {
  constexpr int kTries = 8;
  for (int tries = 0; tries < kTries; ++tries) {
    auto made = base.make_child(name, kRunMode);
    if (!made && made.error().gone() && base.has_file("cgroup.procs")) continue;
    if (!made) return made;
    if (auto filled = fill_cpuset(base, *made); !filled) {
      [[maybe_unused]] const auto ignored = base.remove_child(name);
      return pass(std::move(filled));
    }
    if (::fchmod(made->fd(), kRunMode) != 0 || !lock(*made)) {
      auto failed = fail_errno("lock the group " + made->label());
      [[maybe_unused]] const auto ignored = base.remove_child(name);
      return failed;
    }
    if (is_linked(base, name, *made)) return made;
  }
  return fail(std::errc::device_or_resource_busy, "make the group " + base.label() + "/" + name);
}

void remove_run(const Placement& placement, std::size_t count, const std::string& name) {
  for (std::size_t i = 0; i < count; ++i) {
    [[maybe_unused]] const auto ignored = placement.bases[i].directory.remove_child(name);
  }
}

}  // namespace

Result<RunTree> RunTree::create(const Placement& placement, const std::string& name) {
  std::vector<Group::Part> parts;
  for (const Base& base : placement.bases) {
    auto made = make_locked(base.directory, name);
    if (!made) {
      remove_run(placement, parts.size(), name);
      return pass(std::move(made));
    }
    parts.push_back({std::move(*made), base.hierarchy.controllers});
  }
  return RunTree(Inner(name, std::move(parts)));
}

Result<void> RunTree::enter(const std::vector<int>& pids) {
  const Directory* v2 = run_.v2();
  if (v2 == nullptr) return {};
  auto leaf = v2->make_child(kSupervisorName);
  if (!leaf) return pass(std::move(leaf));
  for (const int pid : pids) {
    if (auto moved = leaf->write("cgroup.procs", std::to_string(pid)); !moved) return moved;
  }
  return {};
}

Result<void> RunTree::make_pool(const Placement& placement, ControllerSet wanted) {
  for (const Base& base : placement.bases) {
    auto enabled = enable_for_children(base.directory, base.hierarchy.controllers & wanted);
    if (!enabled) return enabled;
  }
  auto pool = run_.make_inner(kPoolName, wanted);
  if (!pool) return pass(std::move(pool));
  pool_ = std::move(*pool);
  return {};
}

// Memory is protected only as far as each group on the way down is.
void RunTree::protect_supervisor() const {
  const Directory* v2 = run_.v2();
  if (v2 == nullptr) return;
  const auto leaf = v2->open_child(kSupervisorName);
  if (!leaf) return;
  const std::string memory = std::to_string(kSupervisorMemory.count);
  [[maybe_unused]] const auto outer = v2->write("memory.min", memory);
  [[maybe_unused]] const auto inner = leaf->write("memory.min", memory);
  [[maybe_unused]] const auto weight = leaf->write("cpu.weight", std::to_string(kSupervisorWeight));
}

void RunTree::prefer(const Leaf& beside_pool) const {
  [[maybe_unused]] const auto weighed =
      set_cpu_weight(beside_pool, kPreferredWeight, "the weight of the command");
  const Directory* v2 = run_.v2();
  const Directory* leaf = beside_pool.v2();
  if (v2 == nullptr || leaf == nullptr) return;
  const std::string memory = std::to_string(kPreferredMemory.count);
  [[maybe_unused]] const auto outer = v2->write("memory.low", memory);
  [[maybe_unused]] const auto inner = leaf->write("memory.low", memory);
}

std::string group_in_pool(std::string_view cgroups, std::string_view run) {
  const std::string pool = "/" + std::string(run) + "/" + kPoolName + "/";
  while (!cgroups.empty()) {
    const std::string_view line = take_line(cgroups);
    const auto found = line.find(pool);
    if (found == std::string_view::npos) continue;
    std::string_view name = line.substr(found + pool.size());
    return std::string(take_until(name, '/'));
  }
  return {};
}

std::string run_name(std::string_view run_id) { return std::string(kPrefix).append(run_id); }

bool is_run_name(std::string_view directory_name) {
  if (!directory_name.starts_with(kPrefix)) return false;
  const std::string_view id = directory_name.substr(kPrefix.size());
  return id.size() == kIdPattern.size() &&
         std::equal(id.begin(), id.end(), kIdPattern.begin(), matches);
}

std::optional<StaleRun> StaleRun::claim(const Directory& base, const std::string& name) {
  auto directory = base.open_child(name);
  if (!directory || ::flock(directory->fd(), LOCK_EX | LOCK_NB) != 0) return std::nullopt;
  return StaleRun(std::move(*directory));
}

Result<std::vector<std::string>> runs_below(const Directory& base) {
  auto names = base.children();
  if (!names) return names;
  std::erase_if(*names, [](const std::string& name) { return !is_run_name(name); });
  return names;
}

}  // namespace plimsoll::cgroup

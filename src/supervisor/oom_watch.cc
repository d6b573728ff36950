#include "supervisor/oom_watch.h"

#include <sys/epoll.h>
#include <unistd.h>

#include <filesystem>

#include "base/text.h"
#include "kernel/cgroup/limits.h"
#include "kernel/counters/parse_memory.h"
#include "supervisor/capacity.h"

namespace plimsoll::supervisor {
namespace {

using cgroup::Directory;
using cgroup::Version;

// Deeper trees of groups are not walked.
constexpr std::size_t kLevelsMax = 64;

std::optional<Bytes> bytes_of(const Directory& memory, const char* file) {
  const auto text = memory.read(file);
  if (!text) return std::nullopt;
  const auto count = to_u64(trim(*text));
  return count ? std::optional(Bytes{*count}) : std::nullopt;
}

// A label that went up by ".." as a path again.
std::string name_of(const Directory& group) {
  std::string name = std::filesystem::path(group.label()).lexically_normal().string();
  if (name.size() > 1 && name.ends_with('/')) name.pop_back();
  return name;
}

}  // namespace

OomWatch::OomWatch(loop::Loop& loop, const Directory* pool) {
  if (pool == nullptr) return;
  auto group = pool->clone();
  while (group && group->has_file("cgroup.procs") && levels_.size() < kLevelsMax) {
    auto above = group->open_child("..");
    add(std::move(*group));
    group = std::move(above);
  }
  if (levels_.empty() || !levels_.front().event) return;
  auto watch = loop.watch(levels_.front().event.get(), EPOLLIN, [this](std::uint32_t) {
    [[maybe_unused]] const std::uint64_t fired = count(levels_.front());
    if (observer_ != nullptr) observer_->on_pool_oom();
  });
  if (!watch) levels_.front().blind = watch.error().message();
  if (watch) pool_watch_ = std::move(*watch);
}

void OomWatch::add(Directory group) {
  Level level{.memory = std::move(group), .events = {}, .event = {}};
  if (level.memory.version() == Version::v2) {
    if (!level.memory.has_file("memory.max")) return;  // the root of the tree has no limit
    level.events = counters::KernelFile(level.memory, "memory.events.local", "memory.events");
    if (!level.events.is_open()) level.blind = "memory.events can't be opened";
  } else {
    if (level.memory.has_file("release_agent")) return;  // the same of v1
    auto event = cgroup::open_v1_oom_event(level.memory);
    if (event) level.event = std::move(*event);
    if (!event) level.blind = event.error().message();
  }
  [[maybe_unused]] const std::uint64_t old = count(level);
  levels_.push_back(std::move(level));
}

std::uint64_t OomWatch::count(Level& level) {
  if (level.events.is_open()) {
    const auto text = level.events.read(buffer_);
    level.blind = text ? "" : "memory.events can't be read any more";
    if (text) level.seen = counters::parse_memory_events(*text).oom.value_or(level.seen);
  }
  std::uint64_t fired = 0;
  if (level.event && ::read(level.event.get(), &fired, sizeof fired) == sizeof fired) {
    level.seen += fired;  // reading takes what was there
  }
  return level.seen;
}

std::optional<std::string> OomWatch::blind() const {
  if (levels_.empty()) return "there is no memory controller";
  for (const Level& level : levels_) {
    if (!level.blind.empty()) return name_of(level.memory) + ": " + level.blind;
  }
  return std::nullopt;
}

monitor::Status OomWatch::status() const {
  monitor::Status status{
      .name = "oom",
      .why = "counts how often the pool and each group above it ran out of memory",
      .health = "working",
      .works = true};
  if (const auto why = blind()) {
    status.works = false;
    status.health = (levels_.empty() ? "missing: " : "failed: ") + *why;
  }
  return status;
}

OomWatch::Counts OomWatch::counts() {
  Counts counts;
  for (Level& level : levels_) counts.push_back(count(level));
  return counts;
}

std::vector<policy::OomGroup> OomWatch::since(const Counts& before) {
  Counts rise = counts();
  for (std::size_t i = 0; i < rise.size() && i < before.size(); ++i) rise[i] -= before[i];
  std::vector<policy::OomGroup> groups;
  for (std::size_t i = 0; i < levels_.size(); ++i) {
    const Level& level = levels_[i];
    const bool is_v1 = level.memory.version() == Version::v1;
    const std::uint64_t further_up = is_v1 && i + 1 < rise.size() ? rise[i + 1] : 0;
    policy::OomGroup group{.level = i == 0 ? policy::OomLevel::pool : policy::OomLevel::ancestor,
                           .name = name_of(level.memory),
                           .ooms = rise[i] > further_up ? rise[i] - further_up : 0};
    if (group.ooms > 0) {
      group.limit = memory_limit(level.memory);
      group.peak = bytes_of(level.memory, is_v1 ? "memory.max_usage_in_bytes" : "memory.peak");
    }
    groups.push_back(std::move(group));
  }
  return groups;
}

}  // namespace plimsoll::supervisor

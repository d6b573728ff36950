#include "kernel/counters/memory_files.h"

#include <algorithm>

#include "kernel/counters/parse_memory.h"
#include "kernel/counters/parse_single.h"

namespace plimsoll::counters {
namespace {

constexpr const char* kPeakV1 = "memory.max_usage_in_bytes";
constexpr const char* kPeakV2 = "memory.peak";

void read_bytes(KernelFile& file, std::optional<Bytes>& field, std::string& buffer) {
  if (const auto text = file.read(buffer)) field = parse_bytes(*text);
}

}  // namespace

using cgroup::Controller;
using cgroup::Directory;
using cgroup::Version;

MemoryFiles::MemoryFiles(const cgroup::Group& group) {
  const Directory* directory = group.of(Controller::memory);
  if (directory == nullptr) {
    missing_ = "the group has no memory controller";
    return;
  }
  version_ = directory->version();
  if (version_ == Version::v2) {
    open_v2(*directory);
  } else {
    open_v1(*directory);
  }
}

void MemoryFiles::open_v2(const Directory& directory) {
  current_ = KernelFile(directory, "memory.current", "memory.current_bytes");
  peak_ = KernelFile(directory, kPeakV2, "memory.peak_bytes");
  events_ = KernelFile(directory, "memory.events", "memory.events");
  stat_ = KernelFile(directory, "memory.stat", "memory.stat");
  swap_current_ = KernelFile(directory, "memory.swap.current", "memory.swap_current_bytes");
  swap_peak_ = KernelFile(directory, "memory.swap.peak", "memory.swap_peak_bytes");
  max_ = KernelFile(directory, "memory.max", "memory.max_bytes");
}

void MemoryFiles::open_v1(const Directory& directory) {
  current_ = KernelFile(directory, "memory.usage_in_bytes", "memory.current_bytes");
  peak_ = KernelFile(directory, kPeakV1, "memory.peak_bytes");
  events_ = KernelFile(directory, "memory.oom_control", "memory.events.oom_kill");
  limit_hits_ = KernelFile(directory, "memory.failcnt", "memory.events.max");
  stat_ = KernelFile(directory, "memory.stat", "memory.stat");
  kernel_memory_ = KernelFile(directory, "memory.kmem.usage_in_bytes", "memory.used_bytes");
  max_ = KernelFile(directory, "memory.limit_in_bytes", "memory.max_bytes");
}

void MemoryFiles::read(Level level, MemoryUsage& memory, std::string& buffer) {
  read_current(memory, buffer);
  read_rest(level, memory, buffer);
}

void MemoryFiles::read_current(MemoryUsage& memory, std::string& buffer) {
  read_bytes(current_, memory.current, buffer);
}

void MemoryFiles::read_rest(Level level, MemoryUsage& memory, std::string& buffer) {
  read_bytes(peak_, memory.peak, buffer);
  if (const auto text = events_.read(buffer)) {
    if (version_ == Version::v2) memory.events = parse_memory_events(*text);
    if (version_ == Version::v1) memory.events.oom_kill = parse_oom_control(*text).oom_kill;
  }
  if (const auto text = limit_hits_.read(buffer)) memory.events.max = parse_count(*text);
  if (level == Level::cheap) return;

  read_stat(memory, buffer);
  read_bytes(swap_current_, memory.swap_current, buffer);
  read_bytes(swap_peak_, memory.swap_peak, buffer);
  if (const auto text = max_.read(buffer)) {
    memory.max = version_ == Version::v2 ? parse_bytes(*text) : parse_limit_v1(*text);
  }
}

void MemoryFiles::read_stat(MemoryUsage& memory, std::string& buffer) {
  const auto text = stat_.read(buffer);
  if (!text) return;
  if (version_ == Version::v2) {
    memory.stat = parse_memory_stat_v2(*text);
  } else {
    const MemoryStatV1 read = parse_memory_stat_v1(*text);
    memory.stat = read.stat;
    memory.swap_current = read.swap;
    if (const auto kernel = kernel_memory_.read(buffer)) memory.stat.kernel = parse_bytes(*kernel);
  }
  memory.used = used_of(memory.stat);
  // Of what was just freed memory.stat may know nothing yet, while memory.current does.
  if (memory.used && memory.current) memory.used = std::min(*memory.used, *memory.current);
}

bool MemoryFiles::reset_peak(const cgroup::Group& group) {
  const Directory* directory = group.of(Controller::memory);
  if (directory == nullptr || !peak_.is_open()) return true;
  return peak_.reset(*directory, version_ == Version::v2 ? kPeakV2 : kPeakV1);
}

bool MemoryFiles::has_failed() const {
  for (const auto* file : {&current_, &peak_, &events_, &limit_hits_, &stat_, &kernel_memory_,
                           &swap_current_, &swap_peak_, &max_}) {
    if (file->has_failed()) return true;
  }
  return false;
}

void MemoryFiles::note(Unavailable& unavailable) const {
  if (!missing_.empty()) {
    unavailable.insert_or_assign("memory", missing_);
    return;
  }
  for (const auto* file : {&current_, &peak_, &events_, &limit_hits_, &stat_, &kernel_memory_,
                           &swap_current_, &swap_peak_, &max_}) {
    file->note(unavailable);
  }
  if (version_ == Version::v1) {
    unavailable.insert_or_assign("memory.swap_peak_bytes", "cgroup v1 keeps no peak of swap");
    unavailable.insert_or_assign(
        "memory.events", "cgroup v1 counts only the kernel's OOM kills and hits of the limit");
  }
}

}  // namespace plimsoll::counters

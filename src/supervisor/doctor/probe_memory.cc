#include "supervisor/doctor/probes.h"

#include <fcntl.h>
#include <sys/eventfd.h>

#include "base/file.h"
#include "base/quantity.h"
#include "base/text.h"
#include "kernel/cgroup/limits.h"

namespace plimsoll::supervisor {
namespace {

using cgroup::Controller;
using cgroup::Directory;
using cgroup::Version;
using report::Check;
using report::CheckState;

constexpr const char* kUnifiedMemory = "cgroup v2 for memory: see layout";

Check probe_high(const cgroup::Group& group, const Directory& memory) {
  const FileFeature feature{.id = "memory.high",
                            .controller = Controller::memory,
                            .v2_files = {"memory.high"},
                            .v1_files = {},
                            .cost =
                                "jobs are not throttled at the line, only killed at a limit above "
                                "it, and --memory-high can't be used",
                            .remedy = kUnifiedMemory};
  Check check = probe_file(group, feature);
  if (check.state != CheckState::ok) return check;
  if (auto wrote = memory.write("memory.high", "max"); !wrote) {
    check.state = CheckState::missing;
    check.value = wrote.error().message();
    check.cost = feature.cost;
  }
  return check;
}

Check probe_peak_v2(const Directory& memory) {
  Check check{.id = "memory.peak"};
  if (!memory.has_file("memory.peak")) {
    check.state = CheckState::missing;
    check.value = "this kernel has no memory.peak";
    check.cost = "the peak of a job is its highest sample: short bursts are missed";
    check.remedy = "Linux 5.19";
    return check;
  }
  const auto file = memory.open_file("memory.peak", O_RDWR);
  if (file && write_text(file->get(), "reset")) {
    check.value = "memory.peak, which each reader can reset for itself";
    return check;
  }
  check.state = CheckState::degraded;
  check.value = "memory.peak, which can't be reset";
  check.cost =
      "none for whole jobs, whose groups are new; parts of a job have no peak of their own";
  check.remedy = "Linux 6.12";
  return check;
}

Check probe_peak_v1(const Directory& memory) {
  constexpr const char* kFile = "memory.max_usage_in_bytes";
  Check check{.id = "memory.peak", .value = kFile};
  if (auto wrote = memory.write(kFile, "0")) {
    check.value += ", which can only be reset for all readers";
  } else {
    check.state = CheckState::degraded;
    check.value = wrote.error().message();
    check.cost = "a group can't serve a second job: starts take longer";
  }
  return check;
}

// On v1 by eventfd: the kernel's killer, and a threshold of usage, which is the alarm at the line.
Check probe_events_v1(const Directory& memory) {
  Check check{.id = "memory.events",
              .value = "eventfds for the kernel's OOM killer and for thresholds of usage"};
  const auto oom = cgroup::open_v1_oom_event(memory);
  const auto usage = memory.open_file("memory.usage_in_bytes", O_RDONLY);
  const UniqueFd event(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  Result<void> threshold{};
  if (usage && event) {
    constexpr const char* kBytes = "1073741824";  // any will do
    threshold =
        memory.write("cgroup.event_control", std::to_string(event.get()) + " " +
                                                 std::to_string(usage->get()) + " " + kBytes);
  }
  if (oom && usage && threshold) return check;
  check.state = CheckState::missing;
  check.value = !oom     ? oom.error().message()
                : !usage ? usage.error().message()
                         : threshold.error().message();
  check.cost =
      "memory is polled: a job that the kernel killed for its memory may be reported as killed by "
      "a signal";
  check.remedy = kUnifiedMemory;
  return check;
}

Check probe_events(const cgroup::Group& group, const Directory& memory) {
  if (memory.version() == Version::v1) return probe_events_v1(memory);
  return probe_file(group, {.id = "memory.events",
                            .controller = Controller::memory,
                            .v2_files = {"memory.events"},
                            .v1_files = {},
                            .cost = "what the kernel's OOM killer did is not known",
                            .remedy = "Linux 4.5"});
}

// Asking for one page of an empty group: nothing to give is an answer (EAGAIN).
Check probe_reclaim(const Directory& memory) {
  const bool is_v2 = memory.version() == Version::v2;
  const char* const file = is_v2 ? "memory.reclaim" : "memory.force_empty";
  Check check{.id = "memory.reclaim", .value = file};
  const auto wrote = memory.write(file, is_v2 ? "4096" : "0");
  if (wrote || wrote.error().code == std::errc::resource_unavailable_try_again) return check;
  check.state = CheckState::missing;
  check.value =
      wrote.error().gone() ? std::string("this kernel has no ") + file : wrote.error().message();
  check.cost = "a paused job keeps its memory until other jobs need it";
  check.remedy = "Linux 5.19 with cgroup v2";
  return check;
}

}  // namespace

std::vector<Check> probe_memory(const cgroup::Group& group) {
  const Directory* memory = group.of(Controller::memory);
  if (memory == nullptr) {
    return {without_controller({.id = "memory",
                                .controller = Controller::memory,
                                .v2_files = {},
                                .v1_files = {},
                                .cost = "memory is neither measured nor limited: the kernel's OOM "
                                        "killer decides",
                                .remedy = {}})};
  }
  const bool is_v2 = memory->version() == Version::v2;
  return {probe_high(group, *memory),
          is_v2 ? probe_peak_v2(*memory) : probe_peak_v1(*memory),
          probe_events(group, *memory),
          probe_file(group, {.id = "memory.oom_group",
                             .controller = Controller::memory,
                             .v2_files = {"memory.oom.group"},
                             .v1_files = {},
                             .cost = "when a job exceeds its limit, the kernel kills only one "
                                     "process; Plimsoll then kills the others",
                             .remedy = is_v2 ? "Linux 4.19" : kUnifiedMemory}),
          probe_reclaim(*memory),
          probe_file(group, {.id = "memory.swap_limit",
                             .controller = Controller::memory,
                             .v2_files = {"memory.swap.max"},
                             .v1_files = {"memory.memsw.limit_in_bytes"},
                             .cost = "--swap-max can't be used",
                             .remedy = "swapaccount=1 on the kernel command line"})};
}

std::vector<SwapArea> parse_swaps(std::string_view text) {
  constexpr std::uint64_t kUnit = 1024;  // of the sizes
  std::vector<SwapArea> areas;
  take_line(text);  // the heading
  while (!text.empty()) {
    std::string_view line = take_line(text);
    std::vector<std::string_view> fields;
    while (!line.empty()) {
      // Padded with spaces, then separated by tabs.
      std::string_view field = take_until(line, '\t');
      while (!field.empty()) {
        const std::string_view word = take_until(field, ' ');
        if (!word.empty()) fields.push_back(word);
      }
    }
    if (fields.size() < 3) continue;
    const auto size = to_u64(fields[2]);
    if (size) areas.push_back({std::string(fields[0]), Bytes{*size * kUnit}});
  }
  return areas;
}

Check judge_swap(const std::vector<SwapArea>& areas) {
  Check check{.id = "swap"};
  for (const SwapArea& area : areas) {
    if (!check.value.empty()) check.value += ", ";
    check.value += area.name + " " + format_bytes(area.size);
  }
  if (!areas.empty()) return check;
  check.state = CheckState::missing;
  check.value = "neither swap nor zram";
  check.cost = "a paused job keeps its memory: what does not fit is evicted and run again";
  check.remedy = "zram (apt install zram-tools) or a swap file";
  return check;
}

Check probe_swap() {
  const auto text = read_text_at(AT_FDCWD, "/proc/swaps");
  return judge_swap(text ? parse_swaps(*text) : std::vector<SwapArea>());
}

}  // namespace plimsoll::supervisor

#include "supervisor/doctor/probes.h"

#include <fcntl.h>

#include <string>

#include "base/file.h"
#include "base/quantity.h"

namespace plimsoll::supervisor {
namespace {

using report::Check;
using report::CheckState;

constexpr const char* kSystemFile = "/proc/pressure/memory";
constexpr const char* kGroupFile = "memory.pressure";
constexpr const char* kAddPsi = "psi=1 on the kernel command line (CONFIG_PSI)";

// The only windows for those without CAP_SYS_RESOURCE are multiples of 2 s; kernels before 6.2 or
// so take no window below half a second.
constexpr Duration kWindows[] = {std::chrono::milliseconds(100), std::chrono::milliseconds(500),
                                 std::chrono::seconds(2)};
constexpr Duration kUnprivilegedWindow = std::chrono::seconds(2);

Result<UniqueFd> open_pressure(const cgroup::Directory* v2) {
  constexpr int kFlags = O_RDWR | O_NONBLOCK;
  return v2 != nullptr ? v2->open_file(kGroupFile, kFlags) : open_at(AT_FDCWD, kSystemFile, kFlags);
}

// The trigger lives as long as its descriptor, which is closed on return.
bool takes_trigger(const cgroup::Directory* v2, Duration window) {
  const auto file = open_pressure(v2);
  if (!file) return false;
  const auto microseconds = std::chrono::duration_cast<std::chrono::microseconds>(window).count();
  const std::string trigger =
      "some " + std::to_string(microseconds / 10) + " " + std::to_string(microseconds) + "\n";
  return write_text(file->get(), trigger).has_value();
}

std::optional<Duration> shortest_window(const cgroup::Directory* v2) {
  for (const Duration window : kWindows) {
    if (takes_trigger(v2, window)) return window;
  }
  return std::nullopt;
}

Check judge_file(std::string id, const Result<std::string>& text, std::string value,
                 std::string cost) {
  if (text) return {.id = std::move(id), .value = std::move(value)};
  return {.id = std::move(id),
          .state = CheckState::missing,
          .value = text.error().message(),
          .cost = std::move(cost),
          .remedy = kAddPsi};
}

}  // namespace

Check judge_triggers(std::optional<Duration> shortest) {
  Check check{.id = "psi.triggers"};
  if (!shortest) {
    check.state = CheckState::missing;
    check.value = "the kernel accepts none from Plimsoll";
    check.cost = "stall times are polled, which is as fast but wakes the CPU more often";
    check.remedy = "CAP_SYS_RESOURCE: setcap cap_sys_resource+ep on the program, or root";
    return check;
  }
  check.value = "windows from " + format_duration(*shortest);
  if (*shortest >= kUnprivilegedWindow) {
    check.state = CheckState::degraded;
    check.value = "only windows of 2 s and its multiples";
    check.cost = "they fire up to 2 s late: stall times are polled instead";
    check.remedy =
        "CAP_SYS_RESOURCE: setcap cap_sys_resource+ep on the program, or a container in which root "
        "keeps it";
  }
  return check;
}

std::vector<Check> probe_pressure(const cgroup::Group* group) {
  std::vector<Check> checks;
  const auto system = read_text_at(AT_FDCWD, kSystemFile);
  checks.push_back(judge_file("psi.system", system, "/proc/pressure",
                              "stall times of the machine are not known: only memory use decides"));
  const cgroup::Directory* v2 = group != nullptr ? group->v2() : nullptr;
  Result<std::string> own = fail("there is no v2 tree, and only v2 has it");
  if (v2 != nullptr) own = v2->read(kGroupFile);
  if (group != nullptr) {
    checks.push_back(judge_file("psi.group", own, "cpu, memory and io of each job",
                                "stall times of jobs are not known"));
  }
  if (own || system) checks.push_back(judge_triggers(shortest_window(own ? v2 : nullptr)));
  return checks;
}

}  // namespace plimsoll::supervisor

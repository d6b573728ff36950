#include "kernel/cgroup/run_weight.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>

#include "base/file.h"
#include "base/text.h"
#include "kernel/cgroup/limits.h"
#include "kernel/cgroup/placement.h"

namespace plimsoll::cgroup {
namespace {

// Each look but the first two follows another run that came or went meanwhile.
constexpr unsigned kWeighLooksMax = 20;

constexpr int kNiceMin = -20, kNiceMax = 19;

// What the scheduler weighs a process of each nice value with, from the lowest on
// (sched_prio_to_weight of the kernel).
constexpr std::array<unsigned, kNiceMax - kNiceMin + 1> kWeightOfNice = {
    88761, 71755, 56483, 46273, 36291, 29154, 23254, 18705, 14949, 11916, 9548, 7620, 6100, 4904,
    3906,  3121,  2501,  1991,  1586,  1277,  1024,  820,   655,   526,   423,  335,  272,  215,
    172,   137,   110,   87,    70,    56,    45,    36,    29,    23,    18,   15};

double factor_of(int nice) {
  const int index = std::clamp(nice, kNiceMin, kNiceMax) - kNiceMin;
  return kWeightOfNice[static_cast<std::size_t>(index)] / kSharesDefault;
}

double share_of(const std::optional<unsigned>& weight) {
  return weight ? *weight / kWeightDefault : 1;
}

// "/autogroup-9 nice 0"
std::optional<int> autogroup_nice() {
  const auto enabled = read_text_at(AT_FDCWD, "/proc/sys/kernel/sched_autogroup_enabled");
  if (!enabled || trim(*enabled) != "1") return std::nullopt;
  const auto text = read_text_at(AT_FDCWD, "/proc/self/autogroup");
  if (!text) return std::nullopt;
  const std::string_view line = trim(*text);
  const auto nice = to_i64(line.substr(line.rfind(' ') + 1));
  return nice ? std::optional(static_cast<int>(*nice)) : std::nullopt;
}

std::optional<std::uint64_t> heaviest_in(const Directory& group, const char* file) {
  std::optional<std::uint64_t> heaviest;
  const auto names = group.children();
  for (const std::string& name : names.value_or(std::vector<std::string>())) {
    const auto child = group.open_child(name);
    const auto text = child ? child->read(file) : Result<std::string>();
    const auto weight = text ? to_u64(trim(*text)) : std::nullopt;
    if (weight) heaviest = std::max(heaviest.value_or(0), *weight);
  }
  return heaviest;
}

bool is_own(const Directory& group) {
  struct stat status{};
  return ::fstat(group.fd(), &status) == 0 && status.st_uid == ::geteuid();
}

// Who comes or goes after the last look weighs anew himself.
void weigh_as_heaviest(const Directory& group, const char* file) {
  std::optional<std::uint64_t> set;
  for (unsigned looks = 0; looks < kWeighLooksMax; ++looks) {
    const auto heaviest = heaviest_in(group, file);
    if (!heaviest || heaviest == set) return;
    if (!group.write(file, std::to_string(*heaviest))) return;
    set = heaviest;
  }
}

}  // namespace

double CallerShare::factor() const { return factor_of(nice) * factor_of(session_nice.value_or(0)); }

CallerShare caller_share(const Hierarchies& hierarchies) {
  CallerShare caller{.nice = ::getpriority(PRIO_PROCESS, 0), .session_nice = {}};
  const Hierarchy* cpu = hierarchies.of(Controller::cpu);
  if (cpu == nullptr || cpu->own_path == "/") caller.session_nice = autogroup_nice();
  return caller;
}

double RunWeight::of_cpu(const CallerShare& caller) const {
  return kWeightDefault * share_of(run) * share_of(cpu) * caller.factor();
}

double RunWeight::of_io() const { return kWeightDefault * share_of(run) * share_of(io); }

Result<void> weigh_run(const Group& run, const RunWeight& weight, const CallerShare& caller) {
  const char* cpu_option = weight.cpu ? "--cpu-weight" : "--weight";
  if (const double cpu = weight.of_cpu(caller); cpu != kWeightDefault) {
    auto set = set_cpu_weight(run, cpu, cpu_option);
    if (!set && (weight.run || weight.cpu)) return set;
  }
  if (const double io = weight.of_io(); io != kWeightDefault) {
    auto set = set_io_weight(run, io, "--io-weight");
    if (!set && weight.io) return set;
  }
  return {};
}

void weigh_made(const Directory& base) {
  const char* file = base.version() == Version::v1 ? "cpu.shares" : "cpu.weight";
  for (const Directory& group : made_groups(base)) {
    // One that is removed has no files any more; those above it may have stayed.
    if (group.has_file(file) && is_own(group)) weigh_as_heaviest(group, file);
  }
}

}  // namespace plimsoll::cgroup

#include "kernel/counters/cpu_files.h"

#include <unistd.h>

#include "base/check.h"
#include "base/text.h"
#include "kernel/counters/scale.h"

namespace plimsoll::counters {
namespace {

using cgroup::Controller;
using cgroup::Version;

template <class T>
void update(std::optional<T>& field, const std::optional<T>& read) {
  if (read) field = read;
}

void update(CpuUsage& cpu, const CpuUsage& read) {
  update(cpu.usage, read.usage);
  update(cpu.user, read.user);
  update(cpu.system, read.system);
  update(cpu.nr_periods, read.nr_periods);
  update(cpu.nr_throttled, read.nr_throttled);
  update(cpu.throttled, read.throttled);
}

}  // namespace

CpuUsage parse_cpu_stat_v2(std::string_view text) {
  CpuUsage cpu;
  while (const auto line = take_keyed_number(text)) {
    if (line->key == "usage_usec") cpu.usage = from_us(line->value);
    if (line->key == "user_usec") cpu.user = from_us(line->value);
    if (line->key == "system_usec") cpu.system = from_us(line->value);
    if (line->key == "nr_periods") cpu.nr_periods = line->value;
    if (line->key == "nr_throttled") cpu.nr_throttled = line->value;
    if (line->key == "throttled_usec") cpu.throttled = from_us(line->value);
  }
  return cpu;
}

CpuUsage parse_cpu_stat_v1(std::string_view text) {
  CpuUsage cpu;
  while (const auto line = take_keyed_number(text)) {
    if (line->key == "nr_periods") cpu.nr_periods = line->value;
    if (line->key == "nr_throttled") cpu.nr_throttled = line->value;
    if (line->key == "throttled_time") cpu.throttled = from_ns(line->value);
  }
  return cpu;
}

CpuUsage parse_cpuacct_stat(std::string_view text, long ticks_per_second) {
  PLIMSOLL_CHECK(ticks_per_second > 0);
  const Duration tick = Duration(std::chrono::seconds(1)) / ticks_per_second;
  CpuUsage cpu;
  while (const auto line = take_keyed_number(text)) {
    if (line->key == "user") cpu.user = scaled(line->value, tick);
    if (line->key == "system") cpu.system = scaled(line->value, tick);
  }
  return cpu;
}

std::optional<Duration> parse_cpuacct_usage(std::string_view text) {
  const auto count = to_u64(trim(text));
  if (!count) return std::nullopt;
  return from_ns(*count);
}

CpuFiles::CpuFiles(const cgroup::Group& group) : ticks_per_second_(::sysconf(_SC_CLK_TCK)) {
  if (const auto* v2 = group.v2()) {
    stat_v2_ = KernelFile(*v2, "cpu.stat", "cpu");
  } else if (const auto* acct = group.of(Controller::cpuacct)) {
    acct_usage_ = KernelFile(*acct, "cpuacct.usage", "cpu.usage_ns");
    acct_stat_ = KernelFile(*acct, "cpuacct.stat", "cpu.user_ns");
  } else {
    missing_ = "the group is neither in a v2 tree nor in a cpuacct hierarchy";
  }
  const auto* cpu = group.of(Controller::cpu);
  if (cpu != nullptr && cpu->version() == Version::v1) {
    stat_v1_ = KernelFile(*cpu, "cpu.stat", "cpu.nr_throttled");
  }
}

void CpuFiles::read_usage(CpuUsage& cpu, std::string& buffer) {
  if (const auto text = stat_v2_.read(buffer)) update(cpu, parse_cpu_stat_v2(*text));
  if (const auto text = acct_usage_.read(buffer)) update(cpu.usage, parse_cpuacct_usage(*text));
}

void CpuFiles::read_rest(CpuUsage& cpu, std::string& buffer) {
  if (const auto text = acct_stat_.read(buffer)) {
    update(cpu, parse_cpuacct_stat(*text, ticks_per_second_));
  }
  if (const auto text = stat_v1_.read(buffer)) update(cpu, parse_cpu_stat_v1(*text));
}

bool CpuFiles::gone() const { return stat_v2_.gone() || acct_usage_.gone(); }

bool CpuFiles::has_failed() const {
  for (const auto* file : {&stat_v2_, &stat_v1_, &acct_usage_, &acct_stat_}) {
    if (file->has_failed()) return true;
  }
  return false;
}

void CpuFiles::note(Unavailable& unavailable) const {
  if (!missing_.empty()) unavailable.insert_or_assign("cpu", missing_);
  for (const auto* file : {&stat_v2_, &stat_v1_, &acct_usage_, &acct_stat_}) {
    file->note(unavailable);
  }
}

}  // namespace plimsoll::counters

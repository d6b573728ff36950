#include "report/buildkit.h"

#include <algorithm>
#include <chrono>
#include <limits>
#include <nlohmann/json.hpp>

#include "kernel/counters/sample_series.h"
#include "report/json_put.h"
#include "report/json_shortest.h"
#include "report/rfc3339.h"
#include "report/thinned.h"

namespace plimsoll::report {
namespace {

using std::chrono::microseconds;
using Count = std::optional<std::uint64_t>;

// One look at a job or at the machine in the shape of BuildKit's: its names, its units, and its
// rules for what is left out, what is null and what is zero (docs/formats/buildkit.md). Keys stand
// in the order in which BuildKit declares them.

template <class T>
Json or_null(const std::optional<T>& value) {
  return value ? Json(*value) : Json();
}

// BuildKit keeps these in 32 bits and lets them wrap, in which they would mean nothing.
Count saturated(const Count& count) {
  constexpr std::uint64_t kMost = std::numeric_limits<std::uint32_t>::max();
  return count ? Count(std::min(*count, kMost)) : count;
}

// Zero is as absent as what is not known.
void put_unless_zero(Json& object, const char* key, const Count& count) {
  if (count.value_or(0) > 0) object[key] = *count;
}

Json pressure_line(const std::optional<counters::PressureLine>& line) {
  if (!line) return {};
  Json json = Json::object();
  json["avg10"] = or_null(line->avg10);
  json["avg60"] = or_null(line->avg60);
  json["avg300"] = or_null(line->avg300);
  json["total"] = std::chrono::duration_cast<microseconds>(line->total).count();
  return json;
}

void put_pressure(Json& object, const char* key,
                  const std::optional<counters::Pressure>& pressure) {
  if (!pressure) return;
  Json json = Json::object();
  json["some"] = pressure_line(pressure->some);
  json["full"] = pressure_line(pressure->full);
  object[key] = std::move(json);
}

// Pressure belongs to counts: alone it makes no object.
void put_with_pressure(Json& sample, const char* key, Json counts,
                       const std::optional<counters::Pressure>& pressure) {
  if (counts.empty()) return;
  put_pressure(counts, "pressure", pressure);
  sample[key] = std::move(counts);
}

Json cpu_counts(const counters::CpuUsage& cpu) {
  Json json = Json::object();
  put(json, "usageNanos", cpu.usage);
  put(json, "userNanos", cpu.user);
  put(json, "systemNanos", cpu.system);
  put(json, "nrPeriods", saturated(cpu.nr_periods));
  put(json, "nrThrottled", saturated(cpu.nr_throttled));
  put(json, "throttledNanos", cpu.throttled);
  return json;
}

Json memory_counts(const counters::MemoryUsage& memory) {
  const counters::MemoryStat& stat = memory.stat;
  Json json = Json::object();
  put(json, "swapBytes", memory.swap_current);
  put(json, "anon", stat.anon);
  put(json, "file", stat.file);
  put(json, "kernel", stat.kernel);
  put(json, "kernelStack", stat.kernel_stack);
  put(json, "pageTables", stat.page_tables);
  put(json, "sock", stat.sock);
  put(json, "vmalloc", stat.vmalloc);
  put(json, "shmem", stat.shmem);
  put(json, "fileMapped", stat.file_mapped);
  put(json, "fileDirty", stat.file_dirty);
  put(json, "fileWriteback", stat.file_writeback);
  put(json, "slab", stat.slab);
  put(json, "pgscan", stat.pgscan);
  put(json, "pgsteal", stat.pgsteal);
  put(json, "pgfault", stat.pgfault);
  put(json, "pgmajfault", stat.pgmajfault);
  put(json, "peak", memory.peak);
  put_unless_zero(json, "lowEvents", memory.events.low);
  put_unless_zero(json, "highEvents", memory.events.high);
  put_unless_zero(json, "maxEvents", memory.events.max);
  put_unless_zero(json, "oomEvents", memory.events.oom);
  put_unless_zero(json, "oomKillEvents", memory.events.oom_kill);
  return json;
}

// The kernel has no line for a device that was not used, and BuildKit no number then: zero
// throughout is how we know that.
void put_io(Json& sample, const counters::IoUsage& io) {
  const Count counts[] = {
      io.read ? Count(io.read->count) : std::nullopt,
      io.written ? Count(io.written->count) : std::nullopt,
      io.discarded ? Count(io.discarded->count) : std::nullopt,
      io.read_ops,
      io.write_ops,
      io.discard_ops,
  };
  if (std::ranges::none_of(counts, &Count::has_value)) return;
  Json json = Json::object();
  if (std::ranges::any_of(counts, [](const Count& count) { return count.value_or(0) > 0; })) {
    put(json, "readBytes", io.read);
    put(json, "writeBytes", io.written);
    put(json, "discardBytes", io.discarded);
    put(json, "readIOs", io.read_ops);
    put(json, "writeIOs", io.write_ops);
    put(json, "discardIOs", io.discard_ops);
  }
  put_pressure(json, "pressure", io.pressure);
  sample["ioStat"] = std::move(json);
}

// BuildKit reads the host's end of the job's interface: what it receives the job has sent.
Json network_from_outside(const counters::NetworkUsage& network) {
  constexpr std::uint64_t kMost = std::numeric_limits<std::int64_t>::max();
  const auto put_signed = [kMost](Json& json, const char* key, std::uint64_t count) {
    put_unless_zero(json, key, std::min(count, kMost));
  };
  Json json = Json::object();
  put_signed(json, "rxBytes", network.tx.count);
  put_signed(json, "rxPackets", network.tx_packets);
  put_signed(json, "txBytes", network.rx.count);
  put_signed(json, "txPackets", network.rx_packets);
  return json;
}

// Half a thousandth goes away from zero. In whole numbers, as no double has all of 64 bits.
double seconds_of(Duration time) {
  constexpr Duration::rep kThousandth = 1'000'000;
  constexpr double kThousandthsPerSecond = 1000;
  const Duration::rep rest = time.count() % kThousandth;
  Duration::rep thousandths = time.count() / kThousandth;
  if (rest >= kThousandth / 2) ++thousandths;
  if (rest <= -kThousandth / 2) --thousandths;
  return static_cast<double>(thousandths) / kThousandthsPerSecond;
}

Json kibibytes(const std::map<std::string, Bytes>& meminfo) {
  struct Row {
    const char* key;
    const char* kernel_name;
  };
  constexpr Row kRows[] = {
      {"total", "MemTotal"},      {"free", "MemFree"},   {"available", "MemAvailable"},
      {"buffers", "Buffers"},     {"cached", "Cached"},  {"active", "Active"},
      {"inactive", "Inactive"},   {"swap", "SwapTotal"}, {"dirty", "Dirty"},
      {"writeback", "Writeback"}, {"slab", "Slab"},
  };
  constexpr std::uint64_t kKibibyte = 1024;
  Json json = Json::object();
  for (const Row& row : kRows) {
    const auto found = meminfo.find(row.kernel_name);
    json[row.key] = found == meminfo.end() ? Json() : Json(found->second.count / kKibibyte);
  }
  return json;
}

// A `Sample`: counters since the attempt's start, network traffic as the other end of the job's
// wire sees it.
Json buildkit_sample(const counters::Sample& sample) {
  Json json = Json::object();
  json["timestamp"] = rfc3339(sample.wall);
  put_with_pressure(json, "cpuStat", cpu_counts(sample.cpu), sample.cpu.pressure);
  put_with_pressure(json, "memoryStat", memory_counts(sample.memory), sample.memory.pressure);
  put_io(json, sample.io);
  Json pids = Json::object();
  put(pids, "current", sample.pids.current);
  json["pidsStat"] = std::move(pids);
  if (sample.network) json["netStat"] = network_from_outside(*sample.network);
  return json;
}

// A `SysCPUStat`: seconds, with three decimals.
Json buildkit_cpu_times(const counters::SystemSample::Cpu& cpu) {
  Json json = Json::object();
  json["user"] = seconds_of(cpu.user);
  json["nice"] = seconds_of(cpu.nice);
  json["system"] = seconds_of(cpu.system);
  json["idle"] = seconds_of(cpu.idle);
  json["iowait"] = seconds_of(cpu.iowait);
  json["irq"] = seconds_of(cpu.irq);
  json["softirq"] = seconds_of(cpu.softirq);
  json["steal"] = seconds_of(cpu.steal);
  json["guest"] = seconds_of(cpu.guest);
  json["guestNice"] = seconds_of(cpu.guest_nice);
  return json;
}

// A `SysSample`: counters since boot, memory in KiB.
Json buildkit_system_sample(const counters::SystemSample& sample) {
  Json json = Json::object();
  json["timestamp"] = rfc3339(sample.wall);
  if (sample.cpu) json["cpuStat"] = buildkit_cpu_times(*sample.cpu);
  if (sample.context_switches && sample.processes_created && sample.processes_running) {
    json["procStat"] = Json{{"contextSwitches", *sample.context_switches},
                            {"processCreated", *sample.processes_created},
                            {"processesRunning", *sample.processes_running}};
  }
  if (!sample.meminfo.empty()) json["memoryStat"] = kibibytes(sample.meminfo);
  put_pressure(json, "cpuPressure", sample.cpu_pressure);
  put_pressure(json, "memoryPressure", sample.memory_pressure);
  put_pressure(json, "ioPressure", sample.io_pressure);
  return json;
}

// A quick look leaves out memory.stat, I/O and traffic (counters::Level): of those there are enough
// without such gaps, as the record has a full look as often as it wants one.
std::vector<const counters::Sample*> full_looks(const std::vector<counters::Sample>& samples) {
  std::vector<const counters::Sample*> full;
  for (const counters::Sample& sample : samples) {
    if (sample.memory.used || !samples.back().memory.used) full.push_back(&sample);
  }
  return full;
}

}  // namespace

Json buildkit_usage(const counters::JobUsage& usage,
                    const std::optional<counters::SystemSample::Cpu>& machine) {
  auto samples = Json::array();
  for (const auto* sample :
       thinned<counters::JobTraits>(full_looks(usage.samples), kBuildkitSamplesMax)) {
    samples.push_back(buildkit_sample(*sample));
  }
  const bool measured = usage.totals.wall != WallTime();
  if (usage.samples.empty() && measured) samples.push_back(buildkit_sample(usage.totals));
  auto json = Json::object();
  put_part(json, "samples", std::move(samples));
  if (machine) json["sysCPUStat"] = buildkit_cpu_times(*machine);
  return json;
}

Json buildkit_system_usage(const std::vector<counters::SystemSample>& samples) {
  std::vector<const counters::SystemSample*> all;
  all.reserve(samples.size());
  for (const counters::SystemSample& sample : samples) all.push_back(&sample);
  auto json = Json::array();
  for (const auto* sample : thinned<counters::SystemTraits>(all, kBuildkitSystemSamplesMax)) {
    json.push_back(buildkit_system_sample(*sample));
  }
  return json;
}

std::string to_buildkit_json(const BuildkitReport& report) {
  auto json = Json::object();
  json["resourceUsage"] = buildkit_usage(report.usage, report.machine);
  put_part(json, "sysUsage", buildkit_system_usage(report.system));
  return shortest_text_of(json);
}

}  // namespace plimsoll::report

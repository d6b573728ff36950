#include "report/json.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <limits>
#include <nlohmann/json.hpp>
#include <set>

#include "base/file.h"
#include "report/buildkit.h"
#include "reports.h"

namespace plimsoll::report {
namespace {

using nlohmann::json;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::Not;
using namespace testing;

json parsed(const JobReport& report) { return json::parse(to_json(report, JsonForm::line)); }

constexpr const char* kStat = R"({
  "anon_bytes": 1048576, "file_bytes": 2097152, "kernel_bytes": 3, "kernel_stack_bytes": 4,
  "page_tables_bytes": 5, "sock_bytes": 6, "vmalloc_bytes": 7, "shmem_bytes": 8,
  "file_mapped_bytes": 9, "file_dirty_bytes": 10, "file_writeback_bytes": 11,
  "inactive_file_bytes": 12, "slab_bytes": 13, "slab_reclaimable_bytes": 14,
  "pgscan": 15, "pgsteal": 16, "pgfault": 17, "pgmajfault": 18})";

constexpr const char* kFull = R"({
  "schema": "plimsoll.job/1",
  "id": "link", "class": "ld", "argv": ["ld", "-o", "a b"], "cwd": "/src",
  "output": {"stdout": "/out/link/stdout", "stderr": "/src/err"},
  "outcome": "over_limit", "signal": "KILL",
  "left_behind": [{"pid": 4711, "comm": "sccache"}],
  "ipc_left": [{"kind": "shared_memory", "name": "32769", "size_bytes": 8192, "removed": true},
               {"kind": "semaphores", "name": "2", "removed": false}],
  "reason": "reached its limit of 2 GiB",
  "oom": {"level": "own", "limit_bytes": 2147483648, "peak_bytes": 2147479552, "kills": 3},
  "attempts": [
    {"outcome": "evicted", "started_unix_ns": 1700000000000000000, "wall_ns": 5000000000,
     "cpu_usage_ns": 4000000000, "peak_bytes": 1073741824,
     "oom": {"level": "pool", "group": "/run/pool", "kills": 1}},
    {"outcome": "over_limit", "started_unix_ns": 1700000010000000000}],
  "times": {"queued_unix_ns": 1700000000000000000, "started_unix_ns": 1700000010000000000,
            "ended_unix_ns": 1700000014000000000, "wall_ns": 4000000000, "held_ns": 6000000000,
            "paused_ns": 1500000000},
  "cpu": {"usage_ns": 3000000000, "user_ns": 2000000000, "system_ns": 1000000000,
          "nr_periods": 40, "nr_throttled": 4, "throttled_ns": 50000000,
          "pressure": {"some_ns": 30000000, "full_ns": 0}},
  "memory": {"peak_bytes": 1073741824, "swap_peak_bytes": 2097152, "max_bytes": 2147483648,
             "left_bytes": 25165824,
             "events": {"low": 0, "high": 1, "max": 2, "oom": 3, "oom_kill": 4,
                        "oom_group_kill": 5},
             "pressure": {"some_ns": 20000000, "full_ns": 10000000}},
  "io": {"read_bytes": 1024, "write_bytes": 2048, "read_ops": 4, "write_ops": 5,
         "discard_bytes": 3, "discard_ops": 6,
         "pressure": {"some_ns": 2000000000, "full_ns": 1000000000}},
  "pids": {"peak": 8, "events_max": 9},
  "network": {"rx_bytes": 100, "tx_bytes": 200, "rx_packets": 3, "tx_packets": 4},
  "samples": [{
    "t_ns": 2000000000, "unix_ns": 1700000002000000000, "state": "paused", "frozen_ns": 250000000,
    "cpu_usage_ns": 3000000000, "cpu_user_ns": 2000000000, "cpu_system_ns": 1000000000,
    "cpu_nr_periods": 40, "cpu_nr_throttled": 4, "cpu_throttled_ns": 50000000,
    "memory_bytes": 629145600, "used_bytes": 524288000, "memory_peak_bytes": 1073741824,
    "swap_bytes": 1048576,
    "io_read_bytes": 1024, "io_write_bytes": 2048, "io_discard_bytes": 3,
    "io_read_ops": 4, "io_write_ops": 5, "io_discard_ops": 6, "pids": 7,
    "events": {"low": 0, "high": 1, "max": 2, "oom": 3, "oom_kill": 4, "oom_group_kill": 5},
    "network": {"rx_bytes": 100, "tx_bytes": 200, "rx_packets": 3, "tx_packets": 4},
    "pressure": {
      "cpu": {"some_ns": 30000000, "full_ns": 0, "some_avg10_percent": 1.5,
              "some_avg60_percent": 0.25, "some_avg300_percent": 0.0, "full_avg10_percent": 0.0,
              "full_avg60_percent": 0.0, "full_avg300_percent": 0.0},
      "memory": {"some_ns": 20000000, "full_ns": 10000000, "some_avg10_percent": 1.5,
              "some_avg60_percent": 0.25, "some_avg300_percent": 0.0, "full_avg10_percent": 0.0,
              "full_avg60_percent": 0.0, "full_avg300_percent": 0.0},
      "io": {"some_ns": 2000000000, "full_ns": 1000000000, "some_avg10_percent": 1.5,
              "some_avg60_percent": 0.25, "some_avg300_percent": 0.0, "full_avg10_percent": 0.0,
              "full_avg60_percent": 0.0, "full_avg300_percent": 0.0}}}],
  "rusage": {"maxrss_bytes": 943718400, "minor_faults": 1, "major_faults": 2,
             "voluntary_switches": 3, "involuntary_switches": 4, "in_blocks": 5, "out_blocks": 6},
  "machine": {"cpu_usage_ns": 7000000000, "cpu_idle_ns": 1000000000,
              "cpu": {"user_ns": 5000000000, "nice_ns": 0, "system_ns": 0, "idle_ns": 1000000000,
                      "iowait_ns": 0, "irq_ns": 0, "softirq_ns": 0, "steal_ns": 0, "guest_ns": 0,
                      "guest_nice_ns": 7000000},
              "memory_total_bytes": 8589934592, "memory_available_min_bytes": 1073741824,
              "pressure": {"cpu": {"some_ns": 1000000000},
                           "memory": {"some_ns": 2000000000, "full_ns": 1000000000}}},
  "host": {"hostname": "node", "kernel": "6.12.0", "cpus": 8, "memory_bytes": 8589934592,
           "hierarchy": "hybrid"},
  "unavailable": {"network": "no veth", "io.pressure": "PSI is off"}
})";

TEST(JobJson, HasAllThatIsKnown) {
  json expected = json::parse(kFull);
  expected["memory"]["stat"] = json::parse(kStat);
  expected["samples"][0]["stat"] = json::parse(kStat);
  const json found = parsed(full_report());
  EXPECT_EQ(found, expected) << json::diff(expected, found).dump(1);
}

TEST(JobJson, AbsentStaysAbsent) {
  EXPECT_EQ(parsed(bare_report()), json::parse(R"({
    "schema": "plimsoll.job/1", "id": "7", "shell": "make all", "outcome": "skipped",
    "reason": "not started: the run was interrupted", "attempts": [],
    "times": {"queued_unix_ns": 1700000000000000000}})"));
}

TEST(JobJson, OfAMeasurementWithoutFiguresSaysWhy) {
  JobReport report = bare_report();
  report.usage.emplace();
  report.usage->samples.emplace_back();
  report.usage->unavailable["cpu"] = "gone";
  report.machine.emplace();
  const json found = parsed(report);
  for (const auto* key : {"cpu", "memory", "io", "pids", "network", "machine", "rusage", "host"}) {
    EXPECT_FALSE(found.contains(key)) << key;
  }
  EXPECT_EQ(found["samples"], json::parse(R"([{"t_ns": 0, "unix_ns": 0, "state": "running"}])"));
  EXPECT_EQ(found["unavailable"], json::parse(R"({"cpu": "gone"})"));
}

TEST(JobJson, ZeroIsKnown) {
  JobReport report = bare_report();
  report.exit_code = 0;
  report.usage.emplace();
  report.usage->totals.memory.events.oom_kill = 0;
  report.usage->totals.memory.peak = Bytes{0};
  report.times.held = 0s;
  const json found = parsed(report);
  EXPECT_EQ(found["exit_code"], 0);
  EXPECT_EQ(found["memory"], json::parse(R"({"peak_bytes": 0, "events": {"oom_kill": 0}})"));
  EXPECT_EQ(found["times"]["held_ns"], 0);
}

TEST(JobJson, NamesEveryOutcome) {
  const char* const names[] = {"exited",          "signalled",   "over_limit", "over_line",
                               "evicted",         "machine_oom", "timed_out",  "cancelled",
                               "failed_to_start", "skipped"};
  for (std::size_t i = 0; i < std::size(names); ++i) {
    JobReport report = bare_report();
    report.outcome = static_cast<policy::Outcome>(i);
    EXPECT_EQ(parsed(report)["outcome"], names[i]);
  }
}

TEST(JobJson, AnyBytesBecomeValidText) {
  JobReport report = bare_report();
  using namespace std::string_literals;
  report.id = "\xff";
  report.command = std::vector<std::string>{"a\xc3", "\xf0\x9f\x98", "tab\t\"\\", "nul\0"s,
                                            "gr\xc3\xbc\xc3\x9f"};
  report.cwd = "/\xed\xa0\x80";
  report.reason = "line\nbreak";
  report.unavailable["k\xfe"] = "w\xfe";
  for (const JsonForm form : {JsonForm::line, JsonForm::pretty}) {
    const json found = json::parse(to_json(report, form));
    EXPECT_EQ(found["id"], "\xef\xbf\xbd");
    EXPECT_EQ(found["argv"][0], "a\xef\xbf\xbd");
    EXPECT_EQ(found["argv"][2], "tab\t\"\\");
    EXPECT_EQ(found["argv"][3], "nul\0"s);
    EXPECT_EQ(found["argv"][4], "gr\xc3\xbc\xc3\x9f");
    EXPECT_THAT(found["cwd"].get<std::string>(), HasSubstr("\xef\xbf\xbd"));
    EXPECT_EQ(found["unavailable"]["k\xef\xbf\xbd"], "w\xef\xbf\xbd");
  }
}

TEST(JobJson, WholeNumbersStayWhole) {
  JobReport report = full_report();
  report.usage->totals.memory.peak = Bytes{std::numeric_limits<std::uint64_t>::max()};
  report.usage->totals.cpu.usage = Duration::max();
  report.times.ended = WallTime(Duration(9'007'199'254'740'993));  // 2^53 + 1: no double has it
  const std::string text = to_json(report, JsonForm::line);
  EXPECT_THAT(text, HasSubstr("\"peak_bytes\":18446744073709551615"));
  EXPECT_THAT(text, HasSubstr("\"usage_ns\":9223372036854775807"));
  EXPECT_THAT(text, HasSubstr("\"ended_unix_ns\":9007199254740993"));
  EXPECT_THAT(text, HasSubstr("\"full_avg10_percent\":0.0"));
}

TEST(JobJson, OfOneLineHasNoOtherNewline) {
  JobReport report = full_report();
  report.reason = "a\nb";
  const std::string line = to_json(report, JsonForm::line);
  EXPECT_EQ(line.find('\n'), line.size() - 1);
  EXPECT_THAT(line, ::testing::StartsWith(R"({"schema":"plimsoll.job/1","id":"link",)"));
  const std::string pretty = to_json(report, JsonForm::pretty);
  EXPECT_THAT(pretty, ::testing::StartsWith("{\n  \"schema\": \"plimsoll.job/1\",\n"));
  EXPECT_THAT(pretty, EndsWith("}\n"));
}

RunSummary full_summary() {
  RunSummary summary;
  summary.run = "20240102-030405-ab";
  summary.makespan = 90s;
  summary.jobs = 3;
  summary.outcomes = {{policy::Outcome::exited, 2}, {policy::Outcome::skipped, 1}};
  summary.succeeded = 1;
  summary.holds = 4;
  summary.pauses = 5;
  summary.evictions = 6;
  summary.lost_cpu = 7s;
  summary.line = 8_GiB;
  summary.used_peak = 7_GiB;
  summary.wall = PoolLimitsReport{.high = 8_GiB,
                                  .max = 9_GiB,
                                  .stalls = 2,
                                  .stalled = 3s,
                                  .pressure = {.some = 3ms, .full = {}}};
  // One as believed, one above by more than two spreads; a quarter of what was reserved is unused.
  summary.calibration.add({.mean = 100, .spread = 10}, Bytes{50}, 10s);
  summary.calibration.add({.mean = 100, .spread = 10}, Bytes{121}, 10s);
  summary.monitors = {{.name = "pressure", .why = "PSI is there", .health = "ok"}};
  summary.started = Instant(1000s);
  counters::SystemSample sample;
  sample.at = Instant(1002s);
  sample.wall = wall_at(1'700'000'002s);
  counters::SystemSample::Cpu cpu;
  cpu.user = 1s;
  cpu.guest_nice = 2s;
  sample.cpu = cpu;
  sample.context_switches = 10;
  sample.processes_created = 11;
  sample.processes_running = 12;
  sample.processes_blocked = 13;
  sample.meminfo = {
      {"MemTotal", 8_GiB}, {"SwapTotal", Bytes{0}}, {"Slab", 1_KiB}, {"HugePages_Total", Bytes{1}}};
  sample.memory_pressure = counters::Pressure{.some = {}, .full = {}};
  sample.io_pressure = counters::Pressure{.some = counters::PressureLine{.total = 3ms}, .full = {}};
  summary.system_samples = {sample};
  summary.oom_kills = 0;
  summary.cpu_usage = 100s;
  summary.machine.emplace();
  summary.machine->cpu_usage = 1s;
  return summary;
}

TEST(RunJson, HasAllThatIsKnown) {
  const json found = json::parse(to_json(full_summary(), JsonForm::line));
  const json expected = json::parse(R"({
    "schema": "plimsoll.run/1", "run": "20240102-030405-ab", "makespan_ns": 90000000000, "jobs": 3,
    "outcomes": {"exited": 2, "skipped": 1}, "succeeded": 1, "holds": 4,
    "pauses": 5, "evictions": 6,
    "lost_cpu_ns": 7000000000, "line_bytes": 8589934592, "used_peak_bytes": 7516192768,
    "wall": {"high_bytes": 8589934592, "max_bytes": 9663676416, "stalls": 2,
             "stalled_ns": 3000000000, "pressure": {"some_ns": 3000000}},
    "calibration": {"attempts": 2, "above_estimate": 0.5, "far_above": 0.5,
                    "reserve_wasted": 0.25},
    "monitors": [{"name": "pressure", "why": "PSI is there", "health": "ok"}],
    "oom_kills": 0, "cpu_usage_ns": 100000000000, "machine": {"cpu_usage_ns": 1000000000},
    "system_samples": [{
      "t_ns": 2000000000, "unix_ns": 1700000002000000000,
      "cpu": {"user_ns": 1000000000, "nice_ns": 0, "system_ns": 0, "idle_ns": 0, "iowait_ns": 0,
              "irq_ns": 0, "softirq_ns": 0, "steal_ns": 0, "guest_ns": 0,
              "guest_nice_ns": 2000000000},
      "context_switches": 10, "processes_created": 11, "processes_running": 12,
      "processes_blocked": 13,
      "memory": {"total_bytes": 8589934592, "swap_total_bytes": 0, "slab_bytes": 1024},
      "pressure": {"io": {"some_ns": 3000000}}}]})");
  EXPECT_EQ(found, expected) << json::diff(expected, found).dump(1);
}

TEST(RunJson, AbsentStaysAbsent) {
  EXPECT_EQ(json::parse(to_json(RunSummary{}, JsonForm::pretty)), json::parse(R"({
    "schema": "plimsoll.run/1", "run": "", "jobs": 0, "outcomes": {}, "succeeded": 0,
    "holds": 0, "pauses": 0,
    "evictions": 0, "monitors": []})"));
}

std::string page(const char* name) {
  const auto root = std::filesystem::path(__FILE__).parent_path() / "../../..";
  return read_text_at(AT_FDCWD, (root / "docs/formats" / name).string()).value_or("");
}

// The keys of every object in `value`, whatever lies in it.
void collect_keys(const json& value, std::set<std::string>& keys) {
  for (const auto& [key, inner] : value.items()) {
    if (value.is_object()) keys.insert(key);
    if (key != "unavailable" && inner.is_structured()) collect_keys(inner, keys);
  }
}

TEST(FormatPages, NameEveryKey) {
  const std::string job_page = page("job-report.md");
  std::set<std::string> keys;
  collect_keys(parsed(full_report()), keys);
  for (const std::string& key : keys) EXPECT_THAT(job_page, HasSubstr('`' + key + '`'));
  const std::string both_pages = job_page + page("run-summary.md");
  keys.clear();
  collect_keys(json::parse(to_json(full_summary(), JsonForm::line)), keys);
  for (const std::string& key : keys) EXPECT_THAT(both_pages, HasSubstr('`' + key + '`'));
}

TEST(FormatPages, NameEveryKeyOfBuildkit) {
  const JobReport report = full_report();
  const auto machine = full_summary().system_samples;
  std::set<std::string> keys;
  collect_keys(json::parse(to_buildkit_json(
                   {.usage = *report.usage, .machine = report.machine->cpu, .system = machine})),
               keys);
  EXPECT_TRUE(keys.contains("pgmajfault") && keys.contains("processCreated"));
  const std::string text = page("buildkit.md");
  for (const std::string& key : keys) EXPECT_THAT(text, HasSubstr(key));
}

TEST(FormatPages, HaveExamplesThatAreJson) {
  for (const auto* name : {"job-report.md", "run-summary.md", "buildkit.md"}) {
    const std::string text = page(name);
    constexpr std::string_view kFence = "```json\n";
    const std::size_t start = text.find(kFence) + kFence.size();
    const std::string example = text.substr(start, text.find("```\n", start) - start);
    EXPECT_TRUE(json::accept(example)) << name;
  }
}

}  // namespace
}  // namespace plimsoll::report

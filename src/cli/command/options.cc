#include "cli/command/options.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <utility>

#include "base/file.h"
#include "base/text.h"
#include "cli/command/collecting.h"

namespace plimsoll::cli {
namespace {

constexpr double kCpusMax = 100'000;
constexpr std::uint64_t kWeightMax = 10'000;

tl::unexpected<Error> expected(std::string_view found, std::string_view form) {
  return fail("found \"" + std::string(found) + "\", expected " + std::string(form));
}

Result<std::int64_t> parse_nice(std::string_view text) {
  constexpr std::int64_t kLeast = -20, kMost = 19;
  const auto number = to_i64(text);
  if (!number || *number < kLeast || *number > kMost) {
    return expected(text, "a number from -20 to 19");
  }
  return *number;
}

// The highest number of a CPU that this machine may have.
std::uint64_t last_cpu() {
  const auto possible = read_text_at(AT_FDCWD, "/sys/devices/system/cpu/possible");
  const std::string text = possible ? *possible : std::string();
  const std::size_t end = text.find_last_of("0123456789");
  if (end == std::string::npos) return static_cast<std::uint64_t>(::sysconf(_SC_NPROCESSORS_CONF));
  const std::size_t before = text.find_last_not_of("0123456789", end);
  const std::size_t begin = before == std::string::npos ? 0 : before + 1;
  return to_u64(std::string_view(text).substr(begin, end + 1 - begin)).value_or(0);
}

// Whether all of "0-3,7" are numbers of CPUs up to `last`. What the kernel takes after a colon, it
// judges itself.
bool are_cpus(std::string_view list, std::uint64_t last) {
  while (true) {
    const std::string_view part = list.substr(0, list.find(','));
    const std::string_view range = part.substr(0, part.find(':'));
    const std::size_t dash = range.find('-');
    const auto from = to_u64(range.substr(0, dash));
    const auto to = dash == std::string_view::npos ? from : to_u64(range.substr(dash + 1));
    if (!from || !to || *from > *to || *to > last) return false;
    if (part.size() == list.size()) return true;
    list.remove_prefix(part.size() + 1);
  }
}

Result<std::string> parse_cpuset(std::string_view text) {
  const std::uint64_t last = last_cpu();
  if (are_cpus(text, last)) return std::string(text);
  return expected(text, "a list of CPUs such as 0-3,7; this machine has " +
                            (last == 0 ? "only 0" : "0-" + std::to_string(last)));
}

}  // namespace

Result<std::uint64_t> parse_whole(std::string_view text) {
  const auto number = to_u64(text);
  if (!number) return expected(text, "a whole number, 0 or more");
  return *number;
}

Result<std::uint64_t> parse_count(std::string_view text) {
  const auto number = to_u64(text);
  if (!number || *number == 0) return expected(text, "a number of at least 1");
  return *number;
}

Result<double> parse_cpus(std::string_view text) {
  const auto number = to_double(text);
  if (!number || *number <= 0 || *number > kCpusMax) {
    return expected(text, "a number of cores such as 2 or 0.5");
  }
  return *number;
}

Result<double> parse_quota(std::string_view text) {
  auto cores = parse_cpus(text);
  if (cores && *cores < kCpusMin) {
    return expected(text, "at least 0.001 cores, the minimum of the kernel");
  }
  return cores;
}

Result<unsigned> parse_weight(std::string_view text) {
  const auto number = to_u64(text);
  if (!number || *number < 1 || *number > kWeightMax) {
    return expected(text, "a weight from 1 to 10000");
  }
  return static_cast<unsigned>(*number);
}

Result<std::pair<std::string, std::string>> parse_env(std::string_view text) {
  const std::size_t equals = text.find('=');
  const std::string name(text.substr(0, equals));
  if (name.empty()) return expected(text, "NAME=VALUE, or NAME to pass on its value");
  if (equals != std::string_view::npos) {
    return std::pair(name, std::string(text.substr(equals + 1)));
  }
  const char* value = std::getenv(name.c_str());
  return std::pair(name, std::string(value == nullptr ? "" : value));
}

Result<DeviceRate> parse_io_max(std::string_view text) {
  constexpr std::string_view kForm =
      "DEVICE:rbps=10M,wbps=10M,riops=100,wiops=100 with at least one of the four";
  const std::size_t colon = text.rfind(':');
  if (colon == std::string_view::npos || colon == 0) return expected(text, kForm);
  DeviceRate rate{.device = std::string(text.substr(0, colon))};
  std::string_view rest = text.substr(colon + 1);
  if (rest.empty()) return expected(text, kForm);
  while (!rest.empty()) {
    std::string_view value = take_until(rest, ',');
    const std::string_view key = take_until(value, '=');
    const auto bytes = parse_bytes(value);
    const auto count = to_u64(value);
    if (key == "rbps" && bytes) {
      rate.read_per_second = *bytes;
    } else if (key == "wbps" && bytes) {
      rate.write_per_second = *bytes;
    } else if (key == "riops" && count) {
      rate.read_ops_per_second = *count;
    } else if (key == "wiops" && count) {
      rate.write_ops_per_second = *count;
    } else {
      return expected(text, kForm);
    }
  }
  return rate;
}

void add_job_options(CLI::App& app, policy::JobSpec& job) {
  Limits& limits = job.limits;
  add_parsed(app, "--memory-max", limits.memory_max, parse_bytes_above_zero,
             "Memory limit, such as 512M; a job that exceeds it is killed with all its processes")
      ->type_name("SIZE");
  add_parsed(app, "--memory-high", limits.memory_high, parse_bytes_above_zero,
             "Memory above which the job is slowed down (cgroup v2)")
      ->type_name("SIZE");
  add_parsed(app, "--swap-max", limits.swap_max, parse_bytes, "Swap that the job may use")
      ->type_name("SIZE");
  add_parsed(app, "--cpus", limits.cpus, parse_quota,
             "CPU time that the job may use, in cores (0.5, 2; at least 0.001)")
      ->type_name("N");
  add_parsed(app, "--cpuset", limits.cpuset, parse_cpuset, "CPUs that the job may run on (0-3,7)")
      ->type_name("LIST");
  add_parsed(
      app, "--cpu-weight", limits.cpu_weight, parse_weight,
      "Share of CPU time that the job gets in competition with others (1 to 10000; default 100)")
      ->type_name("N");
  add_parsed(app, "--io-weight", limits.io_weight, parse_weight,
             "Share of I/O that the job gets in competition with others (1 to 10000; default 100)")
      ->type_name("N");
  add_each(
      app, "--io-max", parse_io_max,
      [&](DeviceRate rate) { limits.io_max.push_back(std::move(rate)); },
      "Maximum rate of the job's I/O on a device (/dev/sda:rbps=10M,wiops=100)")
      ->type_name("DEVICE:RATE,...");
  add_parsed(app, "--pids-max", limits.pids_max, parse_count,
             "Maximum number of processes and threads of the job")
      ->type_name("N");
  add_parsed(
      app, "--memory-hint", job.memory_hint, parse_bytes,
      "Memory that the job is expected to need; it counts until jobs of its class have ended")
      ->type_name("SIZE");
  add_parsed(
      app, "--cpu-hint", job.cpu_hint, parse_cpus,
      "Cores that the job is expected to need; they count until jobs of its class have ended")
      ->type_name("N");
  app.add_option("--class", job.job_class,
                 "Class of the job; jobs of one class are expected to behave alike")
      ->type_name("NAME");
  app.add_option(
         "--uid", job.uid,
         "User to run the job as (USER, USER:GROUP, UID:GID), without the caller's terminal and "
         "environment")
      ->type_name("USER");
  app.add_option("--cwd", job.cwd, "Directory to run the job in")->type_name("DIR");
  add_each(
      app, "--env", parse_env,
      [&](std::pair<std::string, std::string> variable) { job.env.push_back(std::move(variable)); },
      "Environment variable to set: NAME=VALUE; may be given several times")
      ->type_name("NAME=VALUE");
}

void add_nice_option(CLI::App& app, std::optional<std::int64_t>& nice) {
  add_parsed(app, "--nice", nice, parse_nice,
             "Run everything with this nice value (-20 to 19), as nice(1) does")
      ->type_name("N");
}

Result<void> become_nice(const std::optional<std::int64_t>& nice) {
  if (nice && ::setpriority(PRIO_PROCESS, 0, static_cast<int>(*nice)) != 0) {
    return fail_errno("--nice: set the priority");
  }
  return {};
}

void add_cgroup_option(CLI::App& app, std::optional<std::string>& path) {
  app.add_option("--cgroup", path,
                 "Cgroup below which those of the jobs are made, as a path from the root of each "
                 "hierarchy; none: run without cgroups (process mode)")
      ->type_name("PATH")
      ->envname("PLIMSOLL_CGROUP");
}

SplitArguments split_at_dashes(int argc, char** argv) {
  SplitArguments split;
  const std::vector<std::string> words(argv + 1, argv + argc);
  const auto dashes = std::find(words.begin(), words.end(), "--");
  split.options.assign(words.begin(), dashes);
  if (dashes != words.end()) split.command = std::vector(dashes + 1, words.end());
  return split;
}

}  // namespace plimsoll::cli

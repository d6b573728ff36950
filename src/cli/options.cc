#include "cli/options.h"

#include <algorithm>
#include <cstdlib>
#include <memory>

#include "base/text.h"
#include "cli/exit_status.h"

namespace plimsoll::cli {
namespace {

constexpr double kCpusMax = 100'000;
constexpr std::uint64_t kWeightMax = 10'000;

tl::unexpected<Error> expected(std::string_view found, std::string_view form) {
  return fail("found \"" + std::string(found) + "\", expected " + std::string(form));
}

// Of what comes after the options CLI11 knows nothing.
class UsageFormatter final : public CLI::Formatter {
 public:
  std::string make_usage(const CLI::App* app, std::string name) const override {
    std::string usage = Formatter::make_usage(app, std::move(name));
    const std::size_t end = usage.find_last_not_of('\n');
    if (app->get_prefix_command()) usage.insert(end + 1, " [--] COMMAND [ARG...]");
    return usage;
  }
};

Result<std::uint64_t> parse_count(std::string_view text) {
  const auto number = to_u64(text);
  if (!number || *number == 0) return expected(text, "a number of at least 1");
  return *number;
}

}  // namespace

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
    return expected(text, "at least 0.001 cores, the least that the kernel keeps");
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
  if (name.empty()) return expected(text, "NAME=VALUE, or NAME for the value it has here");
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
  add_parsed(app, "--memory-max", limits.memory_max, parse_bytes,
             "Memory it may use; beyond, it is killed whole (512M, 2G)");
  add_parsed(app, "--memory-high", limits.memory_high, parse_bytes,
             "Memory above which it is slowed down (cgroup v2)");
  add_parsed(app, "--swap-max", limits.swap_max, parse_bytes, "Swap it may use");
  add_parsed(app, "--cpus", limits.cpus, parse_quota,
             "CPU time it may use, in cores (0.5, 2; at least 0.001)");
  app.add_option("--cpuset", limits.cpuset, "CPUs it may run on (0-3,7)");
  add_parsed(app, "--cpu-weight", limits.cpu_weight, parse_weight,
             "Its share of the CPUs against others (1 to 10000, 100)");
  add_parsed(app, "--io-weight", limits.io_weight, parse_weight,
             "Its share of the disks against others (1 to 10000, 100)");
  app.add_option_function<std::vector<std::string>>(
         "--io-max",
         [&limits](const std::vector<std::string>& texts) {
           for (const std::string& text : texts) {
             if (auto rate = parse_io_max(text)) limits.io_max.push_back(std::move(*rate));
           }
         },
         "How fast it may use a device (/dev/sda:rbps=10M,wiops=100)")
      ->check([](const std::string& text) {
        const auto rate = parse_io_max(text);
        return rate ? std::string() : rate.error().message();
      });
  add_parsed(app, "--pids-max", limits.pids_max, parse_count, "Processes and threads it may have");
  add_parsed(app, "--memory-hint", job.memory_hint, parse_bytes,
             "Memory it is expected to need, until its class has a past");
  add_parsed(app, "--cpu-hint", job.cpu_hint, parse_cpus,
             "Cores it is expected to need, until its class has a past");
  app.add_option("--class", job.job_class, "Jobs of one class are expected to behave alike");
  app.add_option("--uid", job.uid, "User to run it as: USER, USER:GROUP, UID:GID");
  app.add_option("--cwd", job.cwd, "Directory to run it in");
  app.add_option_function<std::vector<std::string>>(
         "--env",
         [&job](const std::vector<std::string>& texts) {
           for (const std::string& text : texts) {
             if (auto variable = parse_env(text)) job.env.push_back(std::move(*variable));
           }
         },
         "Environment variable to set: NAME=VALUE; again for more")
      ->allow_extra_args(false)
      ->check([](const std::string& text) {
        const auto variable = parse_env(text);
        return variable ? std::string() : variable.error().message();
      });
}

SplitArguments split_at_dashes(int argc, char** argv) {
  SplitArguments split;
  const std::vector<std::string> words(argv + 1, argv + argc);
  const auto dashes = std::find(words.begin(), words.end(), "--");
  split.options.assign(words.begin(), dashes);
  if (dashes != words.end()) split.command = std::vector(dashes + 1, words.end());
  return split;
}

std::optional<int> parse_or_exit_status(CLI::App& app, std::vector<std::string> arguments) {
  std::reverse(arguments.begin(), arguments.end());  // CLI11 takes them from the back
  try {
    app.parse(std::move(arguments));
  } catch (const CLI::CallForHelp&) {
    app.formatter(std::make_shared<UsageFormatter>());
    std::fputs(app.help("plimsoll").c_str(), stdout);
    return kSuccess;
  } catch (const CLI::ParseError& error) {
    std::fprintf(stderr, "plimsoll %s: %s\n", app.get_name().c_str(), error.what());
    return kPlimsollFailed;
  }
  return std::nullopt;
}

}  // namespace plimsoll::cli

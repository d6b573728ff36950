#include "daemon/settings.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <filesystem>

#include "base/text.h"
#include "supervisor/run/disk_options.h"
#include "supervisor/sharing/daemon_socket.h"

namespace plimsoll::daemon {
namespace {

constexpr double kCoresMax = 100'000;
constexpr std::uint64_t kJobsMost = 1'000'000;
constexpr std::uint64_t kPortMax = 65'535;

tl::unexpected<Error> mismatch(std::string_view found, std::string_view expected) {
  return fail("found \"" + std::string(found) + "\", expected " + std::string(expected));
}

Result<void> take_path(std::string& path, std::string_view text) {
  if (!text.starts_with('/')) return mismatch(text, "an absolute path");
  path = text;
  return {};
}

Result<void> take_path(std::optional<std::string>& path, std::string_view text) {
  return take_path(path.emplace(), text);
}

Result<void> take_word(std::optional<std::string>& word, std::string_view text) {
  if (text.empty()) return mismatch(text, "a name");
  word = text;
  return {};
}

Result<void> take_amount(std::optional<supervisor::MemoryAmount>& amount, std::string_view text) {
  auto parsed = supervisor::parse_memory_amount(text);
  if (!parsed) return pass(std::move(parsed));
  amount = *parsed;
  return {};
}

Result<void> take_forbidden(bool& forbidden, std::string_view text) {
  if (text != "true" && text != "false") return mismatch(text, "true or false");
  forbidden = text == "false";
  return {};
}

Result<void> take_cores(Config& config, std::string_view text) {
  const auto cores = to_double(text);
  if (!cores || *cores <= 0 || *cores > kCoresMax) {
    return mismatch(text, "a number of cores such as 6 or 7.5");
  }
  config.governor.cores = *cores;
  return {};
}

Result<void> take_jobs(Config& config, std::string_view text) {
  const auto jobs = to_u64(text);
  if (!jobs || *jobs < 1 || *jobs > kJobsMost) {
    return mismatch(text, "a number from 1 to " + std::to_string(kJobsMost));
  }
  config.governor.jobs_max = *jobs;
  return {};
}

Result<void> take_processes(std::uint64_t& processes, std::string_view text) {
  constexpr std::uint64_t kProcessesMost = 4'194'304;  // PID_MAX_LIMIT of Linux
  const auto most = to_u64(text);
  if (!most || *most < 1 || *most > kProcessesMost) {
    return mismatch(text, "a number from 1 to " + std::to_string(kProcessesMost));
  }
  processes = *most;
  return {};
}

std::vector<std::string_view> words_of(std::string_view text) {
  std::vector<std::string_view> words;
  while (!text.empty()) words.push_back(trim(take_until(text, ',')));
  return words;
}

Result<void> take_caps(Config& config, std::string_view text) {
  config.governor.caps.clear();
  for (const std::string_view word : words_of(text)) {
    auto cap = supervisor::parse_cap(word);
    if (!cap) return pass(std::move(cap));
    config.governor.caps.insert(std::move(*cap));
  }
  return {};
}

Result<void> take_disks(Config& config, std::string_view text) {
  config.governor.disks.clear();
  for (const std::string_view word : words_of(text)) {
    auto disk = supervisor::parse_disk(word);
    if (!disk) return pass(std::move(disk));
    if (!disk->path.starts_with('/')) return mismatch(word, "an absolute path");
    config.governor.disks.push_back(std::move(*disk));
  }
  return {};
}

Result<void> take_weight(Config& config, std::string_view text) {
  constexpr std::uint64_t kWeightMax = 10'000;
  const auto weight = to_u64(text);
  if (!weight || *weight < 1 || *weight > kWeightMax) {
    return mismatch(text, "a weight from 1 to 10000");
  }
  config.governor.weight = static_cast<unsigned>(*weight);
  return {};
}

Result<void> take_metrics(Config& config, std::string_view text) {
  constexpr std::string_view kUnix = "unix:";
  config.metrics.address.reset();
  config.metrics.socket.reset();
  if (text == "off") return {};
  if (text.starts_with(kUnix)) return take_path(config.metrics.socket, text.substr(kUnix.size()));
  auto address = parse_address(text);
  if (!address) return mismatch(text, "HOST:PORT, unix:/PATH, or off");
  config.metrics.address = std::move(*address);
  return {};
}

Result<void> take_metrics_mode(Config& config, std::string_view text) {
  constexpr mode_t kModeMax = 0777;
  mode_t mode = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), mode, 8);
  if (error != std::errc() || end != text.data() + text.size() || mode > kModeMax) {
    return mismatch(text, "a mode in octal digits such as 0660");
  }
  config.metrics.socket_mode = mode;
  return {};
}

Result<void> take_names(std::vector<std::string>& names, std::string_view text) {
  names.clear();
  while (!text.empty()) {
    const std::string_view name = take_until(text, ' ');
    if (!name.empty()) names.emplace_back(name);
  }
  return {};
}

Result<void> take_dashboard(Config& config, std::string_view text) {
  config.dashboard.address.reset();
  if (text == "off") return {};
  auto address = parse_address(text);
  if (!address) return mismatch(text, "HOST:PORT, or off");
  config.dashboard.address = std::move(*address);
  return {};
}

Result<void> take_tcp(Config& config, std::string_view text) {
  auto address = parse_address(text);
  if (!address) return pass(std::move(address));
  config.listen.tcp = std::move(*address);
  return {};
}

std::optional<std::string> said_true() { return "true"; }

constexpr auto kSettings = std::to_array<Setting>({
    {"governor.line", Form::text_or_count, Effect::at_once, "--line", "SIZE", "",
     "Memory that all jobs together may use: 8G, or 80% (default: all but the reserve)",
     [](Config& c, std::string_view text) { return take_amount(c.governor.line, text); }},
    {"governor.reserve", Form::text_or_count, Effect::at_restart, "--reserve", "SIZE", "",
     "Memory left to all other programs (default 5%, at least 512M, but no more than an eighth of "
     "the memory)",
     [](Config& c, std::string_view text) { return take_amount(c.governor.reserve, text); }},
    {"governor.cores", Form::number, Effect::at_restart, "--cores", "N", "",
     "Number of cores that all jobs together may use (default: those that Plimsoll may use)",
     take_cores},
    {"governor.jobs", Form::count, Effect::at_once, "--jobs", "N", "",
     "Maximum number of jobs at once; the governor may run fewer", take_jobs},
    {"governor.caps", Form::text, Effect::at_restart, "", "", "",
     "Maximum number of jobs of a class at once, of all users together: CLASS=N, separated by "
     "commas",
     take_caps},
    {"governor.disks", Form::text, Effect::at_restart, "", "", "",
     "File systems of which some space is to stay free: PATH=FLOOR, where FLOOR is a size or a "
     "percentage, separated by commas",
     take_disks},
    {"governor.weight", Form::count, Effect::at_restart, "--weight", "N", "",
     "Share of the CPUs and disks that all jobs together get in competition with the rest of the "
     "machine (1 to 10000; default 100)",
     take_weight},
    {"governor.user_processes", Form::count, Effect::at_restart, "", "", "",
     "Maximum number of processes and threads in all jobs of one user, other than root and the "
     "daemon's own user",
     [](Config& c, std::string_view text) { return take_processes(c.user_processes, text); },
     []() -> std::optional<std::string> { return std::to_string(kUserProcesses); }},
    {"governor.job_processes", Form::count, Effect::at_restart, "", "", "",
     "Maximum number of processes and threads in one job",
     [](Config& c, std::string_view text) { return take_processes(c.job_processes, text); },
     []() -> std::optional<std::string> { return std::to_string(kJobProcesses); }},
    {"governor.may_evict", Form::truth, Effect::at_restart, "", "", "",
     "Whether jobs may be killed to free memory",
     [](Config& c, std::string_view text) { return take_forbidden(c.governor.no_evict, text); },
     said_true},
    {"governor.may_pause", Form::truth, Effect::at_restart, "", "", "",
     "Whether jobs may be frozen",
     [](Config& c, std::string_view text) { return take_forbidden(c.governor.no_pause, text); },
     said_true},
    {"governor.cgroup", Form::text, Effect::at_restart, "--cgroup", "PATH", "PLIMSOLL_CGROUP",
     "Cgroup below which those of the jobs are made, as a path from the root of each hierarchy; "
     "none: run without cgroups (process mode)",
     [](Config& c, std::string_view text) { return take_word(c.cgroup, text); }},
    {"listen.socket", Form::path, Effect::at_restart, "--socket", "PATH", "PLIMSOLL_SOCKET",
     "Path of the Unix socket",
     [](Config& c, std::string_view text) { return take_path(c.listen.socket, text); },
     []() -> std::optional<std::string> { return supervisor::default_daemon_socket(); }},
    {"listen.group", Form::text, Effect::at_restart, "", "", "",
     "Group of users who may also connect to the socket",
     [](Config& c, std::string_view text) { return take_word(c.listen.group, text); }},
    {"listen.tcp", Form::text, Effect::at_restart, "", "", "",
     "HOST:PORT on which to listen with mutual TLS", take_tcp},
    {"listen.tls_certificate", Form::path, Effect::at_restart, "", "", "",
     "The daemon's certificate chain, in PEM format",
     [](Config& c, std::string_view text) { return take_path(c.listen.tls_certificate, text); }},
    {"listen.tls_key", Form::path, Effect::at_restart, "", "", "",
     "The daemon's private key, in PEM format",
     [](Config& c, std::string_view text) { return take_path(c.listen.tls_key, text); }},
    {"listen.tls_client_ca", Form::path, Effect::at_restart, "", "", "",
     "Certificates of the authorities that sign the clients' certificates, in PEM format",
     [](Config& c, std::string_view text) { return take_path(c.listen.tls_client_ca, text); }},
    {"metrics.listen", Form::text, Effect::at_restart, "--metrics", "ADDRESS", "",
     "Where metrics are served: HOST:PORT, unix:/PATH, or off", take_metrics,
     []() -> std::optional<std::string> { return "127.0.0.1:9755"; }},
    {"metrics.mode", Form::text, Effect::at_restart, "", "", "",
     "Mode of the Unix socket of metrics: who may connect", take_metrics_mode,
     []() -> std::optional<std::string> { return "0600"; }},
    {"metrics.names", Form::text, Effect::at_restart, "", "", "",
     "Host names under which metrics may be requested, separated by spaces",
     [](Config& c, std::string_view text) { return take_names(c.metrics.names, text); }},
    {"dashboard.listen", Form::text, Effect::at_restart, "--dashboard", "ADDRESS", "",
     "Where the dashboard for browsers is served: HOST:PORT, or off", take_dashboard,
     []() -> std::optional<std::string> { return "127.0.0.1:9756"; }},
    {"dashboard.names", Form::text, Effect::at_restart, "", "", "",
     "Host names under which the dashboard may be opened, separated by spaces",
     [](Config& c, std::string_view text) { return take_names(c.dashboard.names, text); }},
    {"runner.config", Form::path, Effect::at_restart, "--runner-config", "FILE", "",
     "Configuration file of bb_runner; the daemon replaces it and runs the jobs of a Buildbarn "
     "worker",
     [](Config& c, std::string_view text) { return take_path(c.runner_config, text); }},
    {"records.directory", Form::path, Effect::at_restart, "", "", "PLIMSOLL_STATE_DIR",
     "Directory of the history and the recorded runs",
     [](Config& c, std::string_view text) { return take_path(c.state_dir, text); }},
});

}  // namespace

std::string_view name_of(Form form) {
  switch (form) {
    case Form::text:
    case Form::path: return "text in quotes";
    case Form::count: return "a whole number";
    case Form::number: return "a number";
    case Form::text_or_count: return "text in quotes, or a number of bytes";
    case Form::truth: return "true or false";
  }
  return "";
}

std::span<const Setting> settings() { return kSettings; }

const Setting* find_setting(std::string_view key) {
  const auto* const found = std::find_if(kSettings.begin(), kSettings.end(),
                                         [key](const Setting& known) { return known.key == key; });
  return found == kSettings.end() ? nullptr : found;
}

std::string resolved(const Setting& setting, const std::string& text) {
  if (setting.form != Form::path || text.empty()) return text;
  std::error_code unknown;
  const auto path = std::filesystem::absolute(text, unknown);
  return unknown ? text : path.lexically_normal().string();
}

Result<Address> parse_address(std::string_view text) {
  const std::size_t colon = text.rfind(':');
  std::string_view host = text.substr(0, colon);
  const auto port =
      to_u64(colon == std::string_view::npos ? std::string_view() : text.substr(colon + 1));
  if (host.starts_with('[') && host.ends_with(']')) {
    host = host.substr(1, host.size() - 2);
  } else if (host.find(':') != std::string_view::npos) {
    host = {};
  }
  if (host.empty() || !port || *port == 0 || *port > kPortMax) {
    return mismatch(text, "HOST:PORT such as 127.0.0.1:9755 or [::1]:9755");
  }
  return Address{.host = std::string(host), .port = static_cast<std::uint16_t>(*port)};
}

}  // namespace plimsoll::daemon

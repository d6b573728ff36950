#include "daemon/runner/runner_config.h"

#include <google/protobuf/util/json_util.h>
#include <sys/resource.h>

#include <algorithm>
#include <array>
#include <utility>

#include <buildbarn/configuration/bb_runner.pb.h>

#include "daemon/runner/json_mistake.h"

namespace plimsoll::daemon {
namespace {

using buildbarn::configuration::bb_runner::ApplicationConfiguration;
using buildbarn::configuration::bb_runner::GlobalConfiguration;
using buildbarn::configuration::bb_runner::ServerConfiguration;
using google::protobuf::Value;

constexpr std::array kResources = {
    std::pair{"AS", RLIMIT_AS},
    std::pair{"CORE", RLIMIT_CORE},
    std::pair{"CPU", RLIMIT_CPU},
    std::pair{"DATA", RLIMIT_DATA},
    std::pair{"FSIZE", RLIMIT_FSIZE},
    std::pair{"LOCKS", RLIMIT_LOCKS},
    std::pair{"MEMLOCK", RLIMIT_MEMLOCK},
    std::pair{"MSGQUEUE", RLIMIT_MSGQUEUE},
    std::pair{"NICE", RLIMIT_NICE},
    std::pair{"NOFILE", RLIMIT_NOFILE},
    std::pair{"NPROC", RLIMIT_NPROC},
    std::pair{"RSS", RLIMIT_RSS},
    std::pair{"RTPRIO", RLIMIT_RTPRIO},
    std::pair{"RTTIME", RLIMIT_RTTIME},
    std::pair{"SIGPENDING", RLIMIT_SIGPENDING},
    std::pair{"STACK", RLIMIT_STACK},
};
constexpr std::uint32_t kUmaskMost = 0777;

bool is_true(const Value& value) {
  return value.kind_case() != Value::KIND_NOT_SET && value.kind_case() != Value::kNullValue;
}

tl::unexpected<Error> unsupported(const std::string& name, const std::string& instead) {
  return fail(name + ": not supported by plimsoll; " + instead);
}

Result<void> read_limits(const GlobalConfiguration& global, RunnerSettings& settings) {
  for (const auto& [name, limit] : global.set_resource_limits()) {
    const auto* known = std::find_if(kResources.begin(), kResources.end(),
                                     [&](const auto& entry) { return name == entry.first; });
    if (known == kResources.end()) {
      return fail("global.setResourceLimits: found \"" + name +
                  "\", expected the name of a limit without RLIMIT_, such as NOFILE");
    }
    rlimit value{.rlim_cur = RLIM_INFINITY, .rlim_max = RLIM_INFINITY};
    if (limit.has_soft_limit()) value.rlim_cur = limit.soft_limit().value();
    if (limit.has_hard_limit()) value.rlim_max = limit.hard_limit().value();
    settings.rlimits.push_back({static_cast<int>(known->second), value});
  }
  return {};
}

Result<void> read_global(const GlobalConfiguration& global, RunnerConfig& config) {
  if (global.has_set_umask()) {
    if (global.set_umask().umask() > kUmaskMost) return fail("global.setUmask: more than 0777");
    config.settings.umask = global.set_umask().umask();
  }
  const std::pair<const char*, bool> passed_over[] = {
      {"global.diagnosticsHttpServer", global.has_diagnostics_http_server()},
      {"global.prometheusPushgateway", global.has_prometheus_pushgateway()},
      {"global.tracing", global.has_tracing()},
      {"global.mutexProfileFraction", global.has_mutex_profile_fraction()},
      {"global.grpcForwardAndReuseMetadata", global.has_grpc_forward_and_reuse_metadata()},
      {"global.logPaths", global.has_log_paths()}};
  for (const auto& [name, is_set] : passed_over) {
    if (is_set) config.remarks.push_back(std::string(name) + " has no effect here");
  }
  return read_limits(global, config.settings);
}

Result<void> read_server(const ServerConfiguration& server, const std::string& name,
                         RunnerConfig& config) {
  if (is_true(server.tls())) return unsupported(name + ".tls", "listen on a Unix socket");
  if (is_true(server.alts())) return unsupported(name + ".alts", "listen on a Unix socket");
  if (is_true(server.relays())) return unsupported(name + ".relays", "listen on a Unix socket");
  const auto& policy = server.authentication_policy();
  if (!policy.has_struct_value() || policy.struct_value().fields_size() != 1) {
    return fail(name + ".authenticationPolicy: expected { allow: {} }");
  }
  const std::string& kind = policy.struct_value().fields().begin()->first;
  if (kind != "allow") {
    return unsupported(name + ".authenticationPolicy." + kind,
                       "expected allow, with a socket that only the worker can reach");
  }
  if (server.maximum_received_message_size_bytes() < 0) {
    return fail(name + ".maximumReceivedMessageSizeBytes: less than 0");
  }
  RunnerConfig::Listener listener;
  listener.addresses.assign(server.listen_addresses().begin(), server.listen_addresses().end());
  listener.paths.assign(server.listen_paths().begin(), server.listen_paths().end());
  if (listener.addresses.empty() && listener.paths.empty()) {
    return fail(name + ": found no address in listenPaths and listenAddresses, expected one");
  }
  listener.message_bytes_max =
      static_cast<std::size_t>(server.maximum_received_message_size_bytes());
  for (const std::string& address : listener.addresses) {
    config.remarks.push_back(name + ": any client that reaches " + address +
                             " over the network can run commands here");
  }
  if (!server.stop_gracefully()) {
    config.remarks.push_back(name + ": actions that run are finished before the runner stops, " +
                             "as if stopGracefully were set");
  }
  config.listeners.push_back(std::move(listener));
  return {};
}

Result<void> read_settings(const ApplicationConfiguration& file, RunnerConfig& config) {
  RunnerSettings& settings = config.settings;
  settings.build_directory = file.build_directory_path();
  if (!settings.build_directory.starts_with('/')) {
    return fail("buildDirectoryPath: found \"" + settings.build_directory +
                "\", expected an absolute path");
  }
  if (is_true(file.temporary_directory_installer())) {
    return unsupported("temporaryDirectoryInstaller", "use setTmpdirEnvironmentVariable");
  }
  settings.set_tmpdir = file.set_tmpdir_environment_variable();
  settings.chroot_into_input_root = file.chroot_into_input_root();
  settings.sample_cgroup = file.sample_cgroup_resource_usage();
  const auto copy = [](const auto& from) {
    return std::vector<std::string>(from.begin(), from.end());
  };
  settings.readiness_paths = copy(file.readiness_checking_pathnames());
  settings.symlinked_temporary_directories = copy(file.symlink_temporary_directories());
  settings.cleaned_directories = copy(file.clean_temporary_directories());
  settings.cleaner_command = copy(file.run_command_cleaner());
  if (file.has_run_commands_as()) {
    const auto& user = file.run_commands_as();
    settings.run_as = guardian::Identity{
        .uid = user.user_id(),
        .gid = user.group_id(),
        .groups = {user.additional_group_ids().begin(), user.additional_group_ids().end()}};
  }
  if (file.clean_process_table()) {
    config.remarks.emplace_back(
        "cleanProcessTable has no effect: every process of an action ends with its group");
  }
  if (!file.apple_xcode_developer_directories().empty()) {
    config.remarks.emplace_back("appleXcodeDeveloperDirectories has no effect on Linux");
  }
  return {};
}

}  // namespace

Result<RunnerConfig> read_runner_config(const std::string& json) {
  ApplicationConfiguration file;
  const auto parsed = google::protobuf::util::JsonStringToMessage(json, &file);
  if (!parsed.ok()) {
    const auto told = parsed.message();
    return fail(mistake_in_words({told.data(), told.size()}));
  }
  RunnerConfig config;
  if (auto read = read_settings(file, config); !read) return pass(std::move(read));
  if (auto read = read_global(file.global(), config); !read) return pass(std::move(read));
  for (int i = 0; i < file.grpc_servers_size(); ++i) {
    const std::string name = "grpcServers[" + std::to_string(i) + "]";
    if (auto read = read_server(file.grpc_servers(i), name, config); !read) {
      return pass(std::move(read));
    }
  }
  if (config.listeners.empty()) return fail("grpcServers: expected at least one");
  return config;
}

}  // namespace plimsoll::daemon

#include "daemon/runners.h"

#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>

namespace plimsoll::daemon {
namespace {

// grpc-go's own, where the file says nothing; large commands have more.
constexpr std::size_t kMessageBytesMin = std::size_t{16} << 20;

// A socket that a killed runner has left would be in the way. Anything else there stays.
void remove_stale_socket(const std::string& path) {
  struct stat about{};
  if (::lstat(path.c_str(), &about) == 0 && S_ISSOCK(about.st_mode)) ::unlink(path.c_str());
}

}  // namespace

Runners::Runners(const RunnersDeps& deps, RunnerSettings settings)
    : files_(deps.supervisor.loop()),
      cleaning_(deps.supervisor),
      runner_({.jobs = deps.jobs,
               .files = files_,
               .cleaning_command = cleaning_,
               .clock = deps.supervisor,
               .reporter = deps.reporter},
              std::move(settings)) {}
Runners::~Runners() { servers_.clear(); }

Result<std::unique_ptr<Runners>> Runners::start(const RunnersDeps& deps, RunnerConfig config) {
  for (const std::string& path : config.settings.cleaned_directories) {
    if (std::filesystem::is_directory(path)) continue;
    return fail("cleanTemporaryDirectories: \"" + path + "\" is not a directory");
  }
  std::unique_ptr<Runners> made(new Runners(deps, std::move(config.settings)));
  for (const RunnerConfig::Listener& listener : config.listeners) {
    if (auto listening = made->listen(deps.gate, listener); !listening) {
      return pass(std::move(listening));
    }
  }
  return made;
}

Result<void> Runners::listen(Gate& gate, const RunnerConfig::Listener& listener) {
  ServerConfig config;
  config.addresses = listener.addresses;
  for (const std::string& path : listener.paths) {
    remove_stale_socket(path);
    config.addresses.push_back("unix:" + path);
  }
  config.message_bytes_max = std::max(listener.message_bytes_max, kMessageBytesMin);
  services_.push_back(std::make_unique<RunnerService>(gate, runner_));
  auto server = Server::start(config, {services_.back()->service()});
  if (!server) return pass(std::move(server));
  servers_.push_back(std::move(*server));
  return {};
}

}  // namespace plimsoll::daemon

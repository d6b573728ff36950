// The program `plimsolld`, which `plimsoll serve` executes.
#include <cstdio>
#include <cstdlib>
#include <string>

#include "args/complaint.h"
#include "base/loop/notify.h"
#include "base/quantity.h"
#include "base/result.h"
#include "base/text.h"
#include "daemon/config.h"
#include "daemon/daemon.h"
#include "daemon/grpc/quiet.h"
#include "daemon/options.h"
#include "guardian/guardian.h"
#include "supervisor/run/disk_options.h"
#include "supervisor/run/pool_terms.h"
#include "supervisor/run/run_id.h"
#include "supervisor/supervisor.h"
#include "supervisor/wall_clock.h"

namespace plimsoll::daemon {
namespace {

// Where the value was said: "--line", "/etc/plimsoll.toml:3".
std::string origin_of(const LoadedConfig& loaded, std::string_view key) {
  for (const Effective& value : loaded.values) {
    if (value.key == key) return value.origin;
  }
  return std::string(key);
}

// Line, reserve, cores, most jobs at once and floors of file systems, as a daemon with this
// configuration would have them on this machine now: lines for people, each a comment of TOML.
// Makes the group that the daemon would work in, looks, and removes it.
Result<std::string> terms_here(guardian::Link link, const LoadedConfig& loaded) {
  supervisor::SupervisorConfig config;
  config.run_id = supervisor::new_run_id(supervisor::wall_now());
  config.cgroup_path = loaded.config.cgroup;
  const auto supervisor = supervisor::Supervisor::create(std::move(link), config);
  if (!supervisor) return tl::unexpected(supervisor.error());
  supervisor::PoolOptions options = loaded.config.governor;
  options.line_name = origin_of(loaded, "governor.line");
  options.reserve_name = origin_of(loaded, "governor.reserve");
  options.disks_name = origin_of(loaded, "governor.disks");
  const auto governor = supervisor::pool_governor(options, **supervisor);
  if (!governor) return tl::unexpected(governor.error());
  const std::string lines = supervisor::terms_text(
      supervisor::pool_terms(options, *governor, supervisor::pool_facts(**supervisor)));
  std::string text = "# On this machine now:\n";
  std::string_view rest = lines;
  while (!rest.empty()) text += "# " + std::string(take_until(rest, '\n')) + "\n";
  const auto disks = supervisor::named_floors(options);
  if (!disks) return tl::unexpected(disks.error());
  for (const policy::DiskFloor& disk : *disks) {
    text += "#   disk      " + format_bytes(disk.floor) + " stay free where " + disk.path + " is\n";
  }
  return text;
}

constexpr int kFailed = 125;

int complain(const Error& error) {
  args::complain("serve: " + error.message());
  return kFailed;
}

// The machine is asked last, so that a file can be looked at where no daemon could run.
int show_config(const LoadedConfig& loaded) {
  auto link = guardian::become_guardian(loop::notify);
  if (!link) return complain(link.error());
  const auto terms = terms_here(std::move(*link), loaded);
  std::fputs((show(loaded) + "\n" + terms.value_or("")).c_str(), stdout);
  return terms ? 0 : complain(terms.error());
}

int serve(int argc, char** argv) {
  ServeOptions options;
  if (const auto status = parse_serve_options(options, argc, argv)) return *status;
  auto config = load_config(options);
  if (!config) return complain(config.error());
  if (options.show_config) return show_config(*config);
  // For all that asks where things are kept; nobody else runs yet who could look.
  const auto& state_dir = config->config.state_dir;
  if (state_dir) ::setenv("PLIMSOLL_STATE_DIR", state_dir->c_str(), 1);
  keep_libraries_quiet();
  auto link = guardian::become_guardian(loop::notify);
  if (!link) return complain(link.error());
  auto daemon = Daemon::start(std::move(*link), std::move(*config), options);
  if (!daemon) return complain(daemon.error());
  const auto ran = (*daemon)->run();
  if (ran) return 0;
  complain(ran.error());
  std::fflush(nullptr);
  // Calls wait that nobody will answer: their clients are told by the end of the connection.
  std::_Exit(kFailed);
}

}  // namespace
}  // namespace plimsoll::daemon

int main(int argc, char** argv) { return plimsoll::daemon::serve(argc, argv); }

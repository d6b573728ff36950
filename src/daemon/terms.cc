#include "daemon/terms.h"

#include "base/text.h"
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

}  // namespace

Result<std::string> terms_here(guardian::Link link, const LoadedConfig& loaded) {
  supervisor::SupervisorConfig config;
  config.run_id = supervisor::new_run_id(supervisor::wall_now());
  config.cgroup_path = loaded.config.cgroup;
  const auto supervisor = supervisor::Supervisor::create(std::move(link), config);
  if (!supervisor) return tl::unexpected(supervisor.error());
  supervisor::PoolOptions options = loaded.config.governor;
  options.line_name = origin_of(loaded, "governor.line");
  options.reserve_name = origin_of(loaded, "governor.reserve");
  const auto governor = supervisor::pool_governor(options, **supervisor);
  if (!governor) return tl::unexpected(governor.error());
  const std::string lines = supervisor::terms_text(
      supervisor::pool_terms(options, *governor, supervisor::pool_facts(**supervisor)));
  std::string text = "# On this machine now:\n";
  std::string_view rest = lines;
  while (!rest.empty()) text += "# " + std::string(take_until(rest, '\n')) + "\n";
  return text;
}

}  // namespace plimsoll::daemon

#include "cli/governor_options.h"

#include "cli/options.h"

namespace plimsoll::cli {

void add_governor_options(CLI::App& app, supervisor::PoolOptions& options) {
  add_parsed(app, "--line", options.line, supervisor::parse_memory_amount,
             "Memory that all jobs together may use: 8G, or 80% (all but the reserve)")
      ->type_name("SIZE");
  add_parsed(app, "--reserve", options.reserve, supervisor::parse_memory_amount,
             "Memory left to everybody else (5%, at least 512M or an eighth)")
      ->type_name("SIZE");
  add_parsed(app, "--cores", options.cores, parse_cpus,
             "Cores that all jobs together may use (those Plimsoll may use)")
      ->type_name("N");
  add_parsed(app, "--weight", options.weight, parse_weight,
             "Share of the CPUs and disks that all jobs together get against the rest of the "
             "machine (1 to 10000, 100)")
      ->type_name("N");
  app.add_flag("--no-evict", options.no_evict, "Kill no job to free memory: hold and pause only");
  app.add_flag("--no-pause", options.no_pause, "Freeze no job");
}

}  // namespace plimsoll::cli

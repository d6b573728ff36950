#include "cli/command/governor_options.h"

#include "cli/command/collecting.h"
#include "cli/command/options.h"
#include "supervisor/run/disk_options.h"

namespace plimsoll::cli {

void add_governor_options(CLI::App& app, supervisor::PoolOptions& options,
                          const std::string& jobs) {
  add_parsed(
      app, "--line", options.line, supervisor::parse_memory_amount,
      "Memory that all " + jobs + " together may use: 8G, or 80% (default: all but the reserve)")
      ->type_name("SIZE");
  add_parsed(app, "--reserve", options.reserve, supervisor::parse_memory_amount,
             "Memory left to all other programs (default 5%, at least 512M, but no more than an "
             "eighth of the memory)")
      ->type_name("SIZE");
  add_parsed(app, "--cores", options.cores, parse_cpus,
             "Number of cores that all " + jobs +
                 " together may use (default: those that Plimsoll may use)")
      ->type_name("N");
  add_parsed(app, "--weight", options.weight, parse_weight,
             "Share of the CPUs and disks that all " + jobs +
                 " together get in competition with the rest "
                 "of the machine (1 to 10000; default 100)")
      ->type_name("N");
  add_each(
      app, "--cap", supervisor::parse_cap,
      [&](const std::pair<std::string, unsigned>& cap) {
        options.caps.insert_or_assign(cap.first, cap.second);
      },
      "At most N " + jobs +
          " of CLASS at once, a class or tool as `plimsoll history` lists it; may be "
          "given several times")
      ->type_name("CLASS=N");
  add_each(
      app, "--disk", supervisor::parse_disk,
      [&](const supervisor::DiskOption& disk) { options.disks.push_back(disk); },
      "Keep this much of the file system of PATH free, such as /tmp=2G or .=5%: " + jobs +
          " that would "
          "write more wait or are paused; may be given several times")
      ->type_name("PATH=FLOOR");
  app.add_flag("--no-evict", options.no_evict,
               "Do not kill " + jobs + " to free memory; only hold and pause them");
  app.add_flag("--no-pause", options.no_pause, "Do not pause " + jobs);
}

}  // namespace plimsoll::cli

#pragma once

#include <optional>
#include <string>
#include <vector>

#include "daemon/config.h"

// The command line of `plimsoll serve`, which is that of `plimsolld`.
namespace plimsoll::daemon {

struct ServeOptions {
  std::optional<std::string> config_file;
  std::vector<OptionValue> values;
  bool show_config = false;
};

// Tells what is wrong on standard error, or prints the help. A value is the exit status to leave
// with.
std::optional<int> parse_serve_options(ServeOptions& options, int argc, char** argv);

// The configuration by file, environment and options; again upon SIGHUP.
Result<LoadedConfig> load_config(const ServeOptions& options);

}  // namespace plimsoll::daemon

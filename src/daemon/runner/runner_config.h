#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "daemon/grpc/server.h"
#include "daemon/runner/action_request.h"

namespace plimsoll::daemon {

// What a configuration file of bb_runner's says.
struct RunnerConfig {
  RunnerSettings settings;
  struct Listener {
    std::vector<std::string> addresses;  // "HOST:PORT", over TCP
    std::vector<std::string> paths;      // of Unix sockets
    std::size_t message_bytes_max = 0;   // 0: the server's own
  };
  std::vector<Listener> listeners;
  // What is set and has no meaning here, or less than there: for the log.
  std::vector<std::string> remarks;
};

// Reads bb_runner's configuration: Jsonnet or JSON, with every variable of the environment as an
// external variable. Unknown fields are errors, as is what is not supported here. Reads files:
// blocks.
Result<RunnerConfig> load_runner_config(const std::string& path);

// The JSON that the Jsonnet file comes to.
Result<std::string> evaluate_jsonnet(const std::string& path);

// The configuration from its JSON.
Result<RunnerConfig> read_runner_config(const std::string& json);

}  // namespace plimsoll::daemon

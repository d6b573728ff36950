#pragma once

#include <string>
#include <vector>

namespace plimsoll::testing {

struct LoadConfig {
  std::string address;
  std::string build;  // the worker's build directory
  unsigned threads = 8;
  unsigned count = 100;
  std::vector<std::string> arguments;
};

// Runs the same command again and again as a worker with so many threads does: lays out a
// directory, asks whether the runner is ready when the last action failed, runs, looks for the
// logs, removes all. Prints what came of it and how long a call took; 0 if every action ended with
// exit code 0 at last.
int load(const LoadConfig& config);

}  // namespace plimsoll::testing

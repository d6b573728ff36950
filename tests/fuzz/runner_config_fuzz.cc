#include "daemon/runner/runner_config.h"

#include <cstddef>
#include <cstdint>

#include "base/check.h"

// Any text as what a configuration of bb_runner's comes to.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace plimsoll;
  const auto config =
      daemon::read_runner_config(std::string(reinterpret_cast<const char*>(data), size));
  if (!config) {
    PLIMSOLL_CHECK(!config.error().message().empty());
    return 0;
  }
  for (const auto& listener : config->listeners) {
    PLIMSOLL_CHECK(!listener.addresses.empty() || !listener.paths.empty());
  }
  return 0;
}

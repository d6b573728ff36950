#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/check.h"
#include "daemon/config.h"

// Any text as the daemon's configuration: an error that begins with a line, or values in the order
// of their lines.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace plimsoll;
  const auto values = daemon::parse_toml({reinterpret_cast<const char*>(data), size});
  if (!values) {
    const std::string message = values.error().message();
    PLIMSOLL_CHECK(message.find_first_not_of("0123456789") > 0 &&
                   message.find(": ") != std::string::npos);
    return 0;
  }
  for (std::size_t i = 0; i < values->size(); ++i) {
    PLIMSOLL_CHECK(i == 0 || (*values)[i - 1].line <= (*values)[i].line);
  }
  return 0;
}

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/check.h"
#include "base/quantity.h"

// Any text as a size, a share and a duration.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace plimsoll;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  if (const auto bytes = parse_bytes(text)) PLIMSOLL_CHECK(parse_bytes(format_bytes(*bytes)));
  constexpr Bytes kWhole{std::uint64_t{1} << 40};
  if (const auto bytes = parse_bytes_or_share(text, kWhole); bytes && text.find('%') < size) {
    PLIMSOLL_CHECK(*bytes <= kWhole);
  }
  if (const auto duration = parse_duration(text)) {
    PLIMSOLL_CHECK(*duration >= Duration::zero());
    PLIMSOLL_CHECK(!format_duration(*duration).empty());
  }
  return 0;
}

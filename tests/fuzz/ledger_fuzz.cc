#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/check.h"
#include "supervisor/sharing/ledger.h"

// Any text as what another run has written of itself; what is understood is written in one size and
// understood again.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace plimsoll::supervisor;
  const auto entry = decode_entry({reinterpret_cast<const char*>(data), size});
  if (!entry) return 0;
  const std::string line = encode(*entry);
  PLIMSOLL_CHECK(line.size() == encode({}).size());
  const auto again = decode_entry(line);
  PLIMSOLL_CHECK(again && encode(*again) == line);
  PLIMSOLL_CHECK(again->terms.has_value() == entry->terms.has_value());
  return 0;
}

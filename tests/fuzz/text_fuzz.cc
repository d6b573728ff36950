#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/check.h"
#include "base/text.h"

// Any flat keyed file, and any text as a number.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  std::string_view rest = text;
  while (plimsoll::take_keyed_number(rest)) {
  }
  PLIMSOLL_CHECK(rest.empty());
  rest = text;
  std::size_t taken = 0;
  while (!rest.empty()) taken += plimsoll::take_line(rest).size() + 1;
  PLIMSOLL_CHECK(taken == size || taken == size + 1);
  (void)plimsoll::to_u64(text);
  (void)plimsoll::to_i64(text);
  (void)plimsoll::to_double(text);
  return 0;
}

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/check.h"
#include "engine/control_protocol.h"

// Any text as a request to a run and as its answer; what is understood is understood again when it
// is written.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace plimsoll::engine;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  if (const auto request = parse_request(text)) {
    std::string line = to_line(*request);
    PLIMSOLL_CHECK(line.find('\n') == line.size() - 1);
    line.pop_back();
    const auto again = parse_request(line);
    PLIMSOLL_CHECK(again && *again == *request);
  }
  if (const auto answer = parse_answer(text)) {
    std::string line = to_line(*answer);
    line.pop_back();
    const auto again = parse_answer(line);
    PLIMSOLL_CHECK(again && to_line(*again) == line + "\n");
  }
  return 0;
}

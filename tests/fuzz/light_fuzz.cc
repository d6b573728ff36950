#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/check.h"
#include "supervisor/light/light_protocol.h"

// Any bytes as a frame of either side; what is understood is understood again when it is written.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace plimsoll::supervisor;
  const std::string_view frame(reinterpret_cast<const char*>(data), size);
  if (const auto request = parse_light_request(frame)) {
    const std::string written = to_frame(*request);
    PLIMSOLL_CHECK(written.size() <= kLightFrameMax);
    const auto again = parse_light_request(written);
    PLIMSOLL_CHECK(again.has_value());
    const auto* enter = std::get_if<LightEnter>(&*request);
    // Of words that are too many in all, the first ones are written.
    if (enter == nullptr || written.size() == size) PLIMSOLL_CHECK(*again == *request);
  }
  if (const auto news = parse_light_news(frame)) {
    const auto again = parse_light_news(to_frame(*news));
    PLIMSOLL_CHECK(again.has_value());
  }
  return 0;
}

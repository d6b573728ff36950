#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/check.h"
#include "daemon/http/request.h"

// Any bytes of a stranger as the head of a request: nothing, or a request for a path.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace plimsoll;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto head = http::head_size(text);
  PLIMSOLL_CHECK(!head || (*head > 0 && *head <= size));
  const auto request = http::parse_request(text.substr(0, head.value_or(size)));
  if (!request) return 0;
  PLIMSOLL_CHECK(!request->method.empty() && request->path.starts_with('/'));
  if (request->host) (void)http::names_host(*request->host, {"localhost", "::1"});
  return 0;
}

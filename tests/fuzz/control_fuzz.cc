#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/check.h"
#include "supervisor/control/control_protocol.h"
#include "supervisor/control/job_protocol.h"

// Any text as a request to a run or the daemon and as its answer; what is understood is understood
// again when it is written.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace plimsoll::supervisor;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  if (const auto request = parse_request(text)) {
    std::string line = to_line(*request);
    PLIMSOLL_CHECK(line.find('\n') == line.size() - 1);
    line.pop_back();
    const auto again = parse_request(line);
    PLIMSOLL_CHECK(again && *again == *request);
  }
  // What the daemon is told: a line, and the bytes after it.
  const std::size_t end = text.find('\n');
  const auto asked = parse_job_request(text.substr(0, end));
  if (asked && std::holds_alternative<SubmitHead>(*asked) && end != std::string_view::npos) {
    if (const auto whole = complete(std::get<SubmitHead>(*asked), text.substr(end + 1))) {
      PLIMSOLL_CHECK(whole->job.cwd.starts_with('/'));
      const std::string message = to_message(*whole);
      const std::size_t cut = message.find('\n');
      const auto again = parse_job_request(std::string_view(message).substr(0, cut));
      PLIMSOLL_CHECK(again && std::holds_alternative<SubmitHead>(*again));
      const auto same = complete(std::get<SubmitHead>(*again), message.substr(cut + 1));
      PLIMSOLL_CHECK(same && same->job.command == whole->job.command);
    }
  }
  [[maybe_unused]] const auto news = parse_news(text);
  [[maybe_unused]] const auto listed = parse_listed(text);
  if (const auto answer = parse_answer(text)) {
    std::string line = to_line(*answer);
    line.pop_back();
    const auto again = parse_answer(line);
    PLIMSOLL_CHECK(again && to_line(*again) == line + "\n");
  }
  return 0;
}

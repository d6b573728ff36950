#pragma once

#include <string>
#include <system_error>
#include <utility>

namespace plimsoll::daemon {

// How a call ends, as gRPC numbers it (of which this header knows nothing).
enum class Code : int {
  ok = 0,
  cancelled = 1,
  unknown = 2,
  invalid_argument = 3,
  deadline_exceeded = 4,
  not_found = 5,
  already_exists = 6,
  permission_denied = 7,
  resource_exhausted = 8,
  failed_precondition = 9,
  unimplemented = 12,
  internal = 13,
  unavailable = 14,
};

struct Status {
  Code code = Code::ok;
  std::string text{};

  [[nodiscard]] bool ok() const { return code == Code::ok; }
  bool operator==(const Status&) const = default;

  [[nodiscard]] Status within(const std::string& outer) && {
    if (!ok()) text = outer + text;
    return std::move(*this);
  }
};

// The text of an error number as Go writes it, without a capital: "no such file or directory".
std::string errno_text(int number);
// The same of a signal: "killed".
std::string signal_text(int number);

}  // namespace plimsoll::daemon

#include "daemon/log.h"

#include <cstdio>

#include "report/plain.h"

namespace plimsoll::daemon {

std::string log_line(std::string_view text) {
  return "plimsolld: " + report::printable(text) + "\n";
}

void log(const std::string& text) { std::fputs(log_line(text).c_str(), stderr); }

}  // namespace plimsoll::daemon

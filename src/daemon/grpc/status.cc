#include "daemon/grpc/status.h"

#include <string.h>

#include <cctype>

namespace plimsoll::daemon {

namespace {

// But not of an abbreviation: "CPU time limit exceeded".
std::string without_capital(std::string text) {
  const auto is_upper = [&text](std::size_t i) {
    return std::isupper(static_cast<unsigned char>(text[i])) != 0;
  };
  if (text.size() > 1 && is_upper(0) && !is_upper(1) && text[1] != '/') {
    text.front() = static_cast<char>(std::tolower(static_cast<unsigned char>(text.front())));
  }
  return text;
}

}  // namespace

std::string errno_text(int number) {
  return without_capital(std::generic_category().message(number));
}

std::string signal_text(int number) {
  const char* text = ::sigdescr_np(number);
  return text == nullptr ? "signal " + std::to_string(number) : without_capital(text);
}

}  // namespace plimsoll::daemon

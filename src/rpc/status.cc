#include "rpc/status.h"

#include <cctype>

namespace plimsoll::rpc {

std::string errno_text(int number) {
  std::string text = std::generic_category().message(number);
  if (!text.empty()) {
    text.front() = static_cast<char>(std::tolower(static_cast<unsigned char>(text.front())));
  }
  return text;
}

}  // namespace plimsoll::rpc

#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"

// The secret in the address of the dashboard: whoever knows it may look.
namespace plimsoll::dashboard {

// As hexadecimal digits: more than can be guessed.
inline constexpr std::size_t kTokenBits = 128;

// Of random numbers of the kernel.
Result<std::string> new_token();

// Who may listen at the port of the address while the daemon is not there. Browsers look for it
// again and again, and tell the secret to whoever answers.
enum class Port : std::uint8_t { privileged, anybodys };

// That of the address in this file, so that it stays the same. A new one if the port may have been
// anybody's meanwhile, if there is none, if the file is not the caller's own, or if others may read
// or write it: then the file is removed.
Result<std::string> token_of(const std::string& path, Port port);

// Takes as long whatever `given` has of it.
[[nodiscard]] bool is_token(std::string_view given, std::string_view token);

// "http://127.0.0.1:9756/TOKEN/".
struct Place {
  std::string_view host;
  unsigned port = 0;
};
[[nodiscard]] std::string address_of(const Place& place, std::string_view token);

}  // namespace plimsoll::dashboard

#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

// The secret in the address of the dashboard: whoever knows it may look.
namespace plimsoll::dashboard {

// As hexadecimal digits: more than can be guessed.
inline constexpr std::size_t kTokenBits = 128;

// Of random numbers of the kernel.
Result<std::string> new_token();

// That of the address in this file, so that it stays the same; a new one if there is none, if it is
// not the caller's own, or if others may read or write it: then the file is removed.
Result<std::string> token_of(const std::string& path);

// Takes as long whatever `given` has of it.
[[nodiscard]] bool is_token(std::string_view given, std::string_view token);

// "http://127.0.0.1:9756/TOKEN/".
struct Place {
  std::string_view host;
  unsigned port = 0;
};
[[nodiscard]] std::string address_of(const Place& place, std::string_view token);

}  // namespace plimsoll::dashboard

#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"

// What only the daemon and its pages know. All are hexadecimal digits.
//
// A key is kept over restarts and is told to pages under the secret address alone. The address is
// made of it and of a salt, which is another one at each start and is no secret. So a page that is
// open can reckon the new address after a restart, and nobody can who has only heard the old one.
// Before it uses it, the page asks whether the daemon knows the key (proof_of()): while the daemon
// is not there, anybody may listen at its port.
namespace plimsoll::dashboard {

inline constexpr std::size_t kKeyBits = 256;    // of HMAC with SHA-256 (RFC 2104, section 3)
inline constexpr std::size_t kTokenBits = 128;  // more than can be guessed
inline constexpr std::size_t kNonceBits = 128;  // never comes twice

// Who may listen at the port of the address while the daemon is not there.
enum class Port : std::uint8_t { privileged, anybodys };

struct Files {
  std::string key;
  std::string address;  // whoever could read it could learn the key
};

// That of the file. A new one, which is written there, if there is none, or if one of these files
// is not the caller's own or others may read or write it.
Result<std::string> kept_key(const Files& files);

struct Secrets {
  std::string key;    // of this place: at another one it is another
  std::string salt;   // no secret
  std::string token;  // the first part of every path
};

// Of this start. Of an address that only root may listen at, always the same. `place` is where the
// daemon was told to listen: a page that asks at a place where the daemon was once would otherwise
// trust whoever passes its questions on to where it is now.
Result<Secrets> secrets_of(std::string_view key, std::string_view place, Port port);

// That whoever asks with this nonce speaks with the daemon.
[[nodiscard]] std::string proof_of(const Secrets& secrets, std::string_view nonce);

[[nodiscard]] bool is_nonce(std::string_view text);

// Takes as long whatever `given` has of it.
[[nodiscard]] bool is_token(std::string_view given, std::string_view token);

// "http://127.0.0.1:9756/TOKEN/".
struct Place {
  std::string_view host;
  unsigned port = 0;
};
[[nodiscard]] std::string address_of(const Place& place, std::string_view token);

}  // namespace plimsoll::dashboard

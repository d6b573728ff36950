#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/result.h"
#include "base/units.h"

// The light client protocol: one command, started by its client, governed by a run or the daemon.
// Each frame is one packet of a SOCK_SEQPACKET socket (docs/formats/light.md). Pure: bytes in,
// values out.
namespace plimsoll::supervisor {

inline constexpr std::uint8_t kLightVersion = 1;
// Longer frames are not read.
inline constexpr std::size_t kLightFrameMax = 8192;
// What an ENTER may hold: the first words tell what kind of command it is.
inline constexpr std::size_t kLightWordsMax = 64;
inline constexpr std::size_t kLightTextMax = 1024;       // bytes of each text
inline constexpr std::size_t kLightWordBytesMax = 5632;  // of all words

// From the client. The command's process exists and has not executed the command yet: its pidfd
// comes with the frame.
struct LightEnter {
  std::string job_class{};           // empty: derived from the words
  std::string cwd{};                 // absolute, or empty where it is too long
  std::vector<std::string> words{};  // of the command, the first ones
  std::optional<Bytes> memory_hint{};
  bool restartable = false;  // it may be killed, and the client starts it again
  bool operator==(const LightEnter&) const = default;
};
// The process of another attempt; its pidfd comes with the frame.
struct LightAgain {
  bool operator==(const LightAgain&) const = default;
};
// The process has ended, and what the kernel says that it and those that it has waited for used.
struct LightOver {
  bool by_signal = false;
  std::uint8_t code = 0;  // the exit code, or the signal
  Bytes peak{};           // the largest of them
  Duration cpu{};
  bool operator==(const LightOver&) const = default;
};
using LightRequest = std::variant<LightEnter, LightAgain, LightOver>;

// To the client.
struct LightHeld {
  std::string cause{}, reason{};
  bool operator==(const LightHeld&) const = default;
};
struct LightAdmitted {
  std::uint32_t attempt = 1;
  bool operator==(const LightAdmitted&) const = default;
};
struct LightCancelled {
  std::string cause{}, reason{};
  bool again = false;  // another attempt is waited for
  bool operator==(const LightCancelled&) const = default;
};
struct LightRefused {
  std::string reason{};
  bool busy = false;  // there is no room for another client: it may come again
  bool operator==(const LightRefused&) const = default;
};
using LightNews = std::variant<LightHeld, LightAdmitted, LightCancelled, LightRefused>;

// At most kLightFrameMax bytes: words and texts beyond their bounds are left out or cut.
[[nodiscard]] std::string to_frame(const LightRequest& request);
[[nodiscard]] std::string to_frame(const LightNews& news);

// Errors say what was found and what was expected.
[[nodiscard]] Result<LightRequest> parse_light_request(std::string_view frame);
[[nodiscard]] Result<LightNews> parse_light_news(std::string_view frame);

// Where a job of a run finds the socket of that run: a path.
inline constexpr const char* kLightVariable = "PLIMSOLL_LIGHT";

// Beside the daemon's own socket.
[[nodiscard]] std::string light_socket_of(const std::string& daemon_socket);

}  // namespace plimsoll::supervisor

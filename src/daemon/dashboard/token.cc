#include "daemon/dashboard/token.h"

#include <fcntl.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <optional>

#include "base/file.h"
#include "base/text.h"

namespace plimsoll::dashboard {
namespace {

constexpr std::string_view kDigits = "0123456789abcdef";
constexpr std::size_t kTokenDigits = kTokenBits / 4;
constexpr off_t kAddressBytesMax = 1024;  // of a name of 255 letters and the rest, amply

// Nothing: there is no such file, or it is no secret.
std::optional<std::string> secret_in(const std::string& path) {
  const auto file = open_at(AT_FDCWD, path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
  if (!file) return std::nullopt;
  struct stat about{};
  if (::fstat(file->get(), &about) != 0 || !S_ISREG(about.st_mode)) return std::nullopt;
  const bool is_ours_alone = about.st_uid == ::geteuid() && (about.st_mode & 077) == 0;
  if (!is_ours_alone || about.st_size > kAddressBytesMax) return std::nullopt;
  auto text = read_text(file->get());
  return text ? std::optional(std::move(*text)) : std::nullopt;
}

// The last but one of the parts between slashes.
std::string_view token_in(std::string_view address) {
  address = trim(address);
  if (!address.ends_with('/')) return {};
  address.remove_suffix(1);
  const std::string_view token = address.substr(address.rfind('/') + 1);
  const bool is_one =
      token.size() == kTokenDigits && token.find_first_not_of(kDigits) == std::string_view::npos;
  return is_one ? token : std::string_view();
}

}  // namespace

Result<std::string> new_token() {
  std::array<unsigned char, kTokenBits / 8> random{};
  if (::getrandom(random.data(), random.size(), 0) != ssize_t{random.size()}) {
    return fail_errno("read random numbers");
  }
  std::string token;
  for (const unsigned char byte : random) token += {kDigits[byte >> 4], kDigits[byte & 0xf]};
  return token;
}

Result<std::string> token_of(const std::string& path, Port port) {
  const auto address = port == Port::privileged ? secret_in(path) : std::nullopt;
  const std::string_view known = address ? token_in(*address) : std::string_view();
  if (!known.empty()) return std::string(known);
  if (::unlink(path.c_str()) != 0 && errno != ENOENT) return fail_errno("remove " + path);
  return new_token();
}

bool is_token(std::string_view given, std::string_view token) {
  if (given.size() != token.size()) return false;
  unsigned differences = 0;
  for (std::size_t i = 0; i < token.size(); ++i) {
    differences |= static_cast<unsigned>(given[i] ^ token[i]);
  }
  return differences == 0;
}

std::string address_of(const Place& place, std::string_view token) {
  const bool is_v6 = place.host.find(':') != std::string_view::npos;
  std::string address = is_v6 ? "http://[" : "http://";
  address += std::string(place.host) + (is_v6 ? "]:" : ":") + std::to_string(place.port);
  return address + "/" + std::string(token) + "/";
}

}  // namespace plimsoll::dashboard

#include "daemon/dashboard/secrets.h"

#include <fcntl.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <optional>

#include "base/check.h"
#include "base/file.h"
#include "base/text.h"
#include "report/writer.h"

namespace plimsoll::dashboard {
namespace {

constexpr std::string_view kDigits = "0123456789abcdef";
constexpr off_t kFileBytesMax = 1024;  // of an address with a name of 255 letters, amply

bool is_hex(std::string_view text, std::size_t bits) {
  return text.size() == bits / 4 && text.find_first_not_of(kDigits) == std::string_view::npos;
}

std::string hex(const unsigned char* bytes, std::size_t size) {
  std::string digits;
  for (std::size_t i = 0; i < size; ++i)
    digits += {kDigits[bytes[i] >> 4], kDigits[bytes[i] & 0xf]};
  return digits;
}

Result<std::string> random_digits(std::size_t bits) {
  std::array<unsigned char, kKeyBits / 8> random{};
  const std::size_t size = bits / 8;
  if (::getrandom(random.data(), size, 0) != static_cast<ssize_t>(size)) {
    return fail_errno("read random numbers");
  }
  return hex(random.data(), size);
}

std::string hmac(std::string_view key, const std::string& text) {
  std::array<unsigned char, kKeyBits / 8> code{};
  unsigned size = 0;
  const auto* made =
      ::HMAC(::EVP_sha256(), key.data(), static_cast<int>(key.size()),
             reinterpret_cast<const unsigned char*>(text.data()), text.size(), code.data(), &size);
  PLIMSOLL_CHECK(made != nullptr && size == code.size());
  return hex(code.data(), code.size());
}

enum class Kept : std::uint8_t { missing, open_to_others, ours_alone };

struct KeptText {
  Kept kept = Kept::missing;
  std::string text{};
};

KeptText kept_text(const std::string& path) {
  const auto file = open_at(AT_FDCWD, path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
  if (!file) return {.kept = file.error().gone() ? Kept::missing : Kept::open_to_others};
  struct stat about{};
  if (::fstat(file->get(), &about) != 0 || !S_ISREG(about.st_mode) || about.st_uid != ::geteuid() ||
      (about.st_mode & 077) != 0 || about.st_size > kFileBytesMax) {
    return {.kept = Kept::open_to_others};
  }
  auto text = read_text(file->get());
  return {.kept = Kept::ours_alone, .text = text ? std::move(*text) : std::string()};
}

}  // namespace

Result<std::string> kept_key(const Files& files) {
  const KeptText kept = kept_text(files.key);
  const std::string_view known = trim(kept.text);
  const bool was_told = kept_text(files.address).kept == Kept::open_to_others;
  if (is_hex(known, kKeyBits) && !was_told) return std::string(known);
  auto key = random_digits(kKeyBits);
  if (!key) return key;
  for (const std::string& file : {files.address, files.key}) {
    if (::unlink(file.c_str()) != 0 && errno != ENOENT) return fail_errno("remove " + file);
  }
  auto written = report::write_file(files.key, *key + "\n");
  if (!written) return pass(std::move(written));
  return key;
}

Result<Secrets> secrets_of(std::string_view key, std::string_view place, Port port) {
  auto salt = port == Port::privileged ? Result<std::string>(std::string(kNonceBits / 4, '0'))
                                       : random_digits(kNonceBits);
  if (!salt) return pass(std::move(salt));
  Secrets secrets{.key = hmac(key, "place " + std::string(place)), .salt = *salt, .token = {}};
  secrets.token = hmac(secrets.key, "address " + secrets.salt).substr(0, kTokenBits / 4);
  return secrets;
}

std::string proof_of(const Secrets& secrets, std::string_view nonce) {
  return hmac(secrets.key, "hello " + std::string(nonce) + " " + secrets.salt);
}

bool is_nonce(std::string_view text) { return is_hex(text, kNonceBits); }

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

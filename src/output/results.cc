#include "output/results.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <filesystem>

#include "base/file.h"

namespace plimsoll::output {
namespace {

constexpr mode_t kDirectoryPermissions = 0777;  // both less the umask
constexpr mode_t kResultPermissions = 0666;

constexpr std::string_view kHexDigits = "0123456789abcdef";

// FNV-1a: the same on every machine and in every version, as the names of files must be.
std::uint64_t hash_of(std::string_view text) {
  std::uint64_t hash = 0xcbf29ce484222325;
  for (const char c : text) {
    hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  }
  return hash;
}

void append_hex(std::string& name, std::uint64_t value, int digits) {
  for (int i = digits - 1; i >= 0; --i) name += kHexDigits[(value >> (4 * i)) & 0xf];
}

bool inside_character(char c) { return (static_cast<unsigned char>(c) & 0xc0) == 0x80; }

Result<UniqueFd> create_file(int directory, const char* name) {
  // Not truncated but replaced: an earlier attempt's left-over writer must not get in between.
  if (::unlinkat(directory, name, 0) != 0 && errno != ENOENT) {
    return fail_errno(std::string("replace ") + name);
  }
  UniqueFd fd(
      ::openat(directory, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, kResultPermissions));
  if (!fd) return fail_errno(std::string("create ") + name);
  return fd;
}

}  // namespace

std::string result_name(std::string_view id) {
  if (id.empty()) return "%empty";
  std::string name;
  for (const char c : id) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '/' || c == '%' || byte < 0x20 || byte == 0x7f || (c == '.' && name.empty())) {
      name += '%';
      append_hex(name, byte, 2);
    } else {
      name += c;
    }
  }
  if (name.size() <= kResultNameMax) return name;
  constexpr std::size_t kEnding = 2 + 16;  // "%~" and the hash
  std::size_t end = kResultNameMax - kEnding;
  while (end > 0 && inside_character(name[end])) --end;
  name.resize(end);
  name += "%~";
  append_hex(name, hash_of(id), 16);
  return name;
}

Result<Results> Results::in(const std::string& directory) {
  std::error_code code;
  std::filesystem::create_directories(directory, code);
  if (code) return fail(static_cast<std::errc>(code.value()), "make " + directory);
  auto fd = open_at(AT_FDCWD, directory, O_RDONLY | O_DIRECTORY);
  if (!fd) return pass(std::move(fd));
  // Told before any job runs; later each would be told of its own output.
  if (::faccessat(fd->get(), ".", W_OK | X_OK, 0) != 0) return fail_errno("write in " + directory);
  return Results(directory, std::move(*fd));
}

Result<ResultFiles> Results::create(JobId job, std::string_view id) const {
  const std::string name = result_name(id);
  const std::string path = path_ + "/" + name;
  if (::mkdirat(directory_.get(), name.c_str(), kDirectoryPermissions) != 0 && errno != EEXIST) {
    return fail_errno("make " + path);
  }
  auto own = open_at(directory_.get(), name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
  if (!own) return pass(std::move(own), path_);
  std::array<UniqueFd, 3> files;
  constexpr std::array kNames = {"stdout", "stderr", "seq"};
  for (std::size_t i = 0; i < files.size(); ++i) {
    auto file = create_file(own->get(), kNames[i]);
    if (!file) return pass(std::move(file), path);
    files[i] = std::move(*file);
  }
  const std::string number = std::to_string(static_cast<std::uint64_t>(job)) + "\n";
  if (auto wrote = write_text(files[2].get(), number); !wrote) {
    return pass(std::move(wrote), path + "/seq");
  }
  return ResultFiles{.directory = path, .out = std::move(files[0]), .err = std::move(files[1])};
}

}  // namespace plimsoll::output

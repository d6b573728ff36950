#include "jobfile/read_file.h"

#include <fcntl.h>
#include <unistd.h>

#include "base/file.h"
#include "jobfile/limits.h"

namespace plimsoll::jobfile {
namespace {

constexpr std::size_t kFirstRead = 64 << 10;

// With read(2), not pread(2): a pipe has no positions.
Result<std::string> read_to_end(int fd, const std::string& name) {
  std::string text;
  std::size_t size = 0;
  for (;;) {
    if (size == text.size()) text.resize(std::max(kFirstRead, size * 2));
    const ssize_t got = ::read(fd, text.data() + size, text.size() - size);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return fail_errno("read " + name);
    if (got == 0) break;
    size += static_cast<std::size_t>(got);
    if (size > kInputBytesMax) return fail(std::errc::file_too_large, "read " + name);
  }
  text.resize(size);
  constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
  if (text.starts_with(kByteOrderMark)) text.erase(0, kByteOrderMark.size());
  return text;
}

}  // namespace

Result<std::string> read_input(const std::string& name, int standard_input) {
  if (name == "-") return read_to_end(standard_input, kStandardInputName);
  auto file = open_at(AT_FDCWD, name, O_RDONLY);
  if (!file) return pass(std::move(file));
  return read_to_end(file->get(), name);
}

}  // namespace plimsoll::jobfile

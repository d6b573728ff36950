#include "base/file.h"

#include <fcntl.h>

#include <algorithm>

namespace plimsoll {
namespace {

constexpr std::size_t kFirstRead = 4096;

}  // namespace

Result<UniqueFd> open_at(int dir, const std::string& name, int flags) {
  UniqueFd fd(::openat(dir, name.c_str(), flags | O_CLOEXEC));
  if (!fd) return fail_errno("open " + name);
  return fd;
}

Result<std::string_view> read_text_into(int fd, std::string& buffer) {
  std::size_t size = 0;
  buffer.resize(std::max(buffer.capacity(), kFirstRead));
  for (;;) {
    const ssize_t got =
        ::pread(fd, buffer.data() + size, buffer.size() - size, static_cast<off_t>(size));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return fail_errno("read");
    if (got == 0) return std::string_view(buffer).substr(0, size);
    size += static_cast<std::size_t>(got);
    if (size < buffer.size()) continue;
    if (size >= kTextBytesMax) return fail(std::errc::file_too_large, "read");
    buffer.resize(buffer.size() * 2);
  }
}

Result<std::string> read_text(int fd) {
  std::string buffer;
  auto text = read_text_into(fd, buffer);
  if (!text) return pass(std::move(text));
  buffer.resize(text->size());
  return buffer;
}

Result<std::string> read_text_at(int dir, const std::string& name) {
  auto fd = open_at(dir, name, O_RDONLY);
  if (!fd) return pass(std::move(fd));
  auto text = read_text(fd->get());
  if (!text) return pass(std::move(text), name);
  return text;
}

ssize_t write_again(int fd, const void* data, std::size_t size) {
  ssize_t wrote = 0;
  do {
    wrote = ::write(fd, data, size);
  } while (wrote < 0 && errno == EINTR);
  return wrote;
}

Result<void> write_text(int fd, std::string_view text) {
  const ssize_t wrote = write_again(fd, text.data(), text.size());
  if (wrote < 0) return fail_errno("write \"" + std::string(text) + "\"");
  if (static_cast<std::size_t>(wrote) != text.size()) {
    return fail(std::errc::io_error,
                "write \"" + std::string(text) + "\": not all bytes were written");
  }
  return {};
}

Result<void> write_text_at(int dir, const std::string& name, std::string_view text) {
  auto fd = open_at(dir, name, O_WRONLY);
  if (!fd) return pass(std::move(fd));
  auto wrote = write_text(fd->get(), text);
  if (!wrote) return pass(std::move(wrote), name);
  return {};
}

}  // namespace plimsoll

#include "kernel/counters/kernel_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>

#include "base/file.h"
#include "kernel/counters/parse_pressure.h"

namespace plimsoll::counters {
namespace {

// Enough for every file but /proc/stat of a machine with dozens of CPUs and interrupts.
constexpr std::size_t kRoomMin = 4096;

}  // namespace

KernelFile::KernelFile(const cgroup::Directory& directory, const char* name, const char* key)
    : key_(key) {
  take(open_at(directory.fd(), name, O_RDONLY), name);
  // A group that is removed opens nothing either: that says nothing about the kernel.
  if (!fd_ && !directory.has_file("cgroup.procs")) {
    why_.clear();
    gone_ = true;
  }
}

KernelFile::KernelFile(const char* path, const char* key) : key_(key) {
  take(open_at(AT_FDCWD, path, O_RDONLY), path);
}

void KernelFile::take(Result<UniqueFd> opened, const char* name) {
  if (opened) {
    fd_ = std::move(*opened);
  } else if (opened.error().gone()) {
    why_ = std::string("this kernel has no ") + name;
  } else {
    why_ = opened.error().message();
    has_failed_ = true;
  }
}

std::optional<std::string_view> KernelFile::read(std::string& buffer) {
  if (!fd_ || gone_) return std::nullopt;
  // One call where it does: these files are printed whole into a buffer that can hold them, so
  // less than it holds is all, and asking for the end costs a fifth more.
  buffer.resize(std::max(buffer.capacity(), kRoomMin));
  const ssize_t got = ::pread(fd_.get(), buffer.data(), buffer.size(), 0);
  if (got >= 0 && static_cast<std::size_t>(got) < buffer.size()) {
    return std::string_view(buffer).substr(0, static_cast<std::size_t>(got));
  }
  auto text = read_text_into(fd_.get(), buffer);
  if (text) return *text;
  if (text.error().gone()) {
    gone_ = true;
  } else if (text.error().code == std::errc::operation_not_supported) {
    why_ = "the kernel's pressure accounting is off (boot with psi=1)";
  } else {
    why_ = std::move(text).error().message();
    has_failed_ = true;
  }
  return std::nullopt;
}

bool KernelFile::reset(const cgroup::Directory& directory, const char* name) {
  if (!is_writable_) {
    auto opened = open_at(directory.fd(), name, O_RDWR);
    if (!opened) return false;
    fd_ = std::move(*opened);
    is_writable_ = true;
  }
  return ::pwrite(fd_.get(), "0", 1, 0) == 1;
}

void KernelFile::note(Unavailable& unavailable) const {
  if (!why_.empty()) unavailable.insert_or_assign(key_, why_);
}

const std::optional<Pressure>& PressureFile::read(Instant now, std::string& buffer) {
  if (read_at_ && now - *read_at_ < kPressureIntervalMin) return last_;
  return read_last(now, buffer);
}

const std::optional<Pressure>& PressureFile::read_last(Instant now, std::string& buffer) {
  if (const auto text = file_.read(buffer)) {
    last_ = parse_pressure(*text);
    read_at_ = now;
  }
  return last_;
}

}  // namespace plimsoll::counters

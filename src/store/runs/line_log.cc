#include "store/runs/line_log.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/file.h>
#include <sys/stat.h>

#include <algorithm>
#include <string_view>

namespace plimsoll::report {
namespace {

constexpr mode_t kOwnerOnly = 0600;  // commands are in it

// Of lines that wait for room on a disk: half a million short ones.
constexpr std::size_t kWaitingBytesMax = 64 << 20;

// A named pipe has its reader in a moment, where both are started together.
constexpr int kReaderTries = 1000;
constexpr int kReaderPauseMs = 10;

bool is_pipe(const std::string& path) {
  struct stat status{};
  return ::stat(path.c_str(), &status) == 0 && S_ISFIFO(status.st_mode);
}

// A pipe that is open for reading as well never loses its last reader; one that is not can't be
// opened before it has one.
UniqueFd open_pipe(const Disk& disk, const std::string& path) {
  constexpr int kFlags = O_WRONLY | O_NONBLOCK | O_NOCTTY;
  UniqueFd fd(disk.open(AT_FDCWD, path, kFlags, 0));
  for (int i = 0; !fd && errno == ENXIO && i < kReaderTries; ++i) {
    ::poll(nullptr, 0, kReaderPauseMs);
    fd = UniqueFd(disk.open(AT_FDCWD, path, kFlags, 0));
  }
  return fd;
}

UniqueFd open_file(const Disk& disk, const std::string& path) {
  constexpr int kFlags = O_RDWR | O_CREAT | O_APPEND | O_NOCTTY;
  return UniqueFd(disk.open(AT_FDCWD, path, kFlags, kOwnerOnly));
}

}  // namespace

Result<LineLog> LineLog::open(const std::string& path, const Disk& disk) {
  LineLog file(disk, is_pipe(path) ? open_pipe(disk, path) : open_file(disk, path), path);
  if (!file.fd_ && errno == ENXIO) return fail("no process reads " + path);
  if (!file.fd_) return fail_errno("open " + path);
  const auto size = file.size();
  if (!size) return tl::unexpected(size.error());
  // A file system that has no locks is no reason not to write.
  if (*size && ::flock(file.fd(), LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) {
    return fail("another run is writing " + path);
  }
  return file;
}

Result<std::optional<std::uint64_t>> LineLog::size() const {
  struct stat status{};
  if (::fstat(fd_.get(), &status) != 0) return fail_errno("examine " + path_);
  if (!S_ISREG(status.st_mode)) return std::nullopt;
  return static_cast<std::uint64_t>(status.st_size);
}

Result<void> LineLog::cut(std::uint64_t size) {
  if (disk_->truncate(fd_.get(), static_cast<off_t>(size)) != 0) return fail_errno("cut " + path_);
  return {};
}

Result<void> LineLog::append(std::string line) {
  if (waiting_bytes_ + line.size() > kWaitingBytesMax) {
    ++lost_;
  } else {
    waiting_bytes_ += line.size();
    waiting_.push_back(std::move(line));
  }
  return catch_up();
}

Result<void> LineLog::catch_up() {
  while (!waiting_.empty()) {
    if (auto wrote = write_first(); !wrote) return wrote;
  }
  return {};
}

Result<void> LineLog::write_first() {
  if (auto whole = take_back(); !whole) return whole;
  const std::string& line = waiting_.front();
  std::string_view rest = line;
  auto wrote = write_front(*disk_, fd_.get(), rest);
  if (!wrote) {
    torn_ = line.size() - rest.size();
    // Should even this fail, it is tried again before anything else is written.
    (void)take_back();
    return fail(wrote.error().code, "write " + path_);
  }
  waiting_bytes_ -= line.size();
  waiting_.pop_front();
  return {};
}

Result<void> LineLog::take_back() {
  if (torn_ == 0) return {};
  const auto there = size();
  if (!there) return tl::unexpected(there.error());
  if (*there) {
    if (auto cut_off = cut(**there - std::min(torn_, **there)); !cut_off) return cut_off;
  } else {
    waiting_.front().erase(0, torn_);
    waiting_bytes_ -= torn_;
  }
  torn_ = 0;
  return {};
}

Result<void> LineLog::sync() const {
  if (disk_->sync(fd_.get()) != 0) return fail_errno("force " + path_ + " to the disk");
  return {};
}

Result<void> LineLog::sync_name() const {
  const auto regular = size();
  if (!regular) return tl::unexpected(regular.error());
  return *regular ? plimsoll::sync_name(*disk_, path_) : Result<void>{};
}

}  // namespace plimsoll::report

#pragma once

#include <sys/types.h>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <utility>

#include "base/disk.h"
#include "base/result.h"
#include "base/unique_fd.h"

namespace plimsoll::report {

// A file of lines that is written in place while things go on, so that it is worth having whenever
// its writer dies, and that is continued by one writer after the other. As long as this lives the
// file is locked (flock(2)), which a second writer is told. Only sync() forces something to the
// disk.
//
// Lines are in it whole or not at all: what a full disk has taken of one is cut off again. Such a
// line waits, and those after it, until one of the calls finds room. What is no regular file (a
// pipe, /dev/null) is neither locked nor cut; there the rest of the line waits. A pipe is opened
// for writing alone, so that it shows when its reader has gone.
//
// Every error names the file. Calls block as long as write(2) does; on a pipe until there is room.
class LineLog {
 public:
  // For reading and writing; makes it, its owner's alone (0600), if there is none. No second
  // writer: std::errc::device_or_resource_busy. A named pipe that has no reader yet is waited for,
  // up to ten seconds.
  static Result<LineLog> open(const std::string& path, const Disk& disk = Disk::kernel());

  [[nodiscard]] int fd() const { return fd_.get(); }

  // How long it is; absent if it is no regular file.
  [[nodiscard]] Result<std::optional<std::uint64_t>> size() const;
  Result<void> cut(std::uint64_t size);

  // `line` ends in a newline. After an error it waits.
  Result<void> append(std::string line);

  // Writes what waits.
  Result<void> catch_up();

  // Forces to the disk what was written, lines that wait excepted; with its name the file is found
  // again after a loss of power. sync() may be called on another thread than the rest.
  [[nodiscard]] Result<void> sync() const;
  [[nodiscard]] Result<void> sync_name() const;

  // Lines that wait, and those that were too many to.
  [[nodiscard]] std::uint64_t unwritten() const { return waiting_.size() + lost_; }

 private:
  LineLog(const Disk& disk, UniqueFd fd, std::string path)
      : disk_(&disk), fd_(std::move(fd)), path_(std::move(path)) {}

  Result<void> write_first();
  Result<void> take_back();

  const Disk* disk_;
  UniqueFd fd_;  // appends
  std::string path_;
  std::deque<std::string> waiting_;  // not empty ones
  std::size_t waiting_bytes_ = 0;
  std::uint64_t lost_ = 0;
  std::uint64_t torn_ = 0;  // bytes at the end of the file that are the begin of waiting_.front()
};

}  // namespace plimsoll::report

#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"

namespace plimsoll {

// What a file that is written is to outlive.
enum class Durability : std::uint8_t {
  written,  // the death of the program
  synced,   // and that of the machine: forced to the disk, which may take as long as a disk likes
};

// The calls that files which must survive a fault are written with: the kernel's, or in tests those
// of a disk that fails where it is told to and forgets at a crash what was not synced. Each has the
// arguments, result and errno of the system call that it is named after; `dir` may be AT_FDCWD.
//
// Calls may be made by several threads.
class Disk {
 public:
  // Has no state.
  static const Disk& kernel();

  Disk() = default;
  Disk(const Disk&) = delete;
  Disk& operator=(const Disk&) = delete;
  virtual ~Disk() = default;

  // Closed on exec.
  virtual int open(int dir, const std::string& name, int flags, mode_t mode) const;
  virtual int make_directory(int dir, const std::string& name, mode_t mode) const;
  virtual ssize_t write(int fd, const void* data, std::size_t size) const;
  virtual int truncate(int fd, off_t size) const;
  virtual int rename(int dir, const std::string& from, const std::string& to) const;
  virtual int link(int dir, const std::string& from, const std::string& to) const;
  virtual int unlink(int dir, const std::string& name) const;
  virtual int remove_directory(int dir, const std::string& name) const;
  // fsync(2): a file's bytes and size, or a directory's names. Where a kind of file has no such
  // call (a pipe, some file systems) all is well.
  virtual int sync(int fd) const;
};

// Writes from the front of `rest` and takes off it what was written, also where it fails halfway.
// Waits where `fd` has no room (another program may have set O_NONBLOCK on a shared pipe).
Result<void> write_front(const Disk& disk, int fd, std::string_view& rest);

// Forces the name `path` to the disk, as it is now: made, renamed or gone.
Result<void> sync_name(const Disk& disk, const std::string& path);

}  // namespace plimsoll

#pragma once

#include <string>
#include <string_view>

#include "base/loop/loop.h"
#include "supervisor/output/nonblocking_fd.h"

namespace plimsoll::cli {

// Whom a writer tells.
class WriterOwner {
 public:
  virtual ~WriterOwner() = default;
  // From the loop: everything has been written that could not be at once, or can't be written at
  // all any more.
  virtual void on_drained() = 0;
};

// Text on its way to a descriptor that may be slow: kept in memory until there is room for it.
// Whoever puts text bounds it, by asking how much is still on its way. One thread, the loop's.
class Writer {
 public:
  // Loop and owner must outlive this.
  Writer(loop::Loop& loop, output::NonblockingFd nonblocking_fd, WriterOwner& owner);

  void put(std::string_view text);
  [[nodiscard]] std::size_t pending() const { return pending_.size() - written_; }
  // Why nothing can be written any more: the terminal is gone, nobody reads the pipe. What is put
  // then is thrown away.
  [[nodiscard]] const Result<void>& state() const { return state_; }

  // Blocks until everything is written, or until then.
  void flush_until(Instant deadline);

 private:
  void write();
  void wait();

  loop::Loop& loop_;
  output::NonblockingFd nonblocking_fd_;
  WriterOwner& owner_;
  std::string pending_;
  std::size_t written_ = 0;  // of pending_
  Result<void> state_;
  loop::Watch watch_;  // while there is no room
};

}  // namespace plimsoll::cli

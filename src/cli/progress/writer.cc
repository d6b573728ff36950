#include "cli/progress/writer.h"

#include <poll.h>
#include <sys/epoll.h>

#include <algorithm>

namespace plimsoll::cli {

Writer::Writer(loop::Loop& loop, output::NonblockingFd nonblocking_fd, WriterOwner& owner)
    : loop_(loop), nonblocking_fd_(std::move(nonblocking_fd)), owner_(owner) {}

void Writer::put(std::string_view text) {
  if (!state_) return;
  pending_ += text;
  if (watch_) return;
  write();
  if (pending() > 0) wait();
}

void Writer::write() {
  while (pending() > 0) {
    auto wrote = nonblocking_fd_.write(std::string_view(pending_).substr(written_));
    if (!wrote) {
      state_ = pass(std::move(wrote));
      break;
    }
    if (*wrote == 0) return;
    written_ += *wrote;
  }
  pending_.clear();
  written_ = 0;
}

void Writer::wait() {
  auto watch = loop_.watch(nonblocking_fd_.fd(), EPOLLOUT, [this](std::uint32_t) {
    write();
    if (pending() > 0) return;
    watch_ = {};
    owner_.on_drained();
  });
  if (watch) {
    watch_ = std::move(*watch);
  } else {
    // A regular file can't be watched, and always has room: this is a disk that has none.
    state_ = pass(std::move(watch));
    pending_.clear();
    written_ = 0;
  }
}

void Writer::flush_until(Instant deadline) {
  for (;;) {
    write();
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - loop::now()).count();
    if (pending() == 0 || left <= 0) return;
    pollfd asked{.fd = nonblocking_fd_.fd(), .events = POLLOUT, .revents = 0};
    ::poll(&asked, 1, static_cast<int>(std::min<long long>(left, 1000)));
  }
}

}  // namespace plimsoll::cli

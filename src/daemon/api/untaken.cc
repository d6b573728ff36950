#include "daemon/api/untaken.h"

#include <sys/socket.h>

#include <cerrno>
#include <utility>

namespace plimsoll::daemon {

void Untaken::add(std::string_view bytes) {
  tell_news();
  bytes_.append(bytes);
}

void Untaken::add_news(std::string line) {
  news_ = std::move(line);
  if (!is_full()) tell_news();
}

void Untaken::tell_news() {
  bytes_.append(news_);
  news_.clear();
}

Result<void> Untaken::send(int socket) {
  if (!is_full()) tell_news();
  if (size() == 0) return {};
  const ssize_t sent = ::send(socket, bytes_.data() + sent_, size(), MSG_NOSIGNAL | MSG_DONTWAIT);
  if (sent < 0) {
    if (errno == EAGAIN || errno == EINTR) return {};
    return fail_errno("send to a client");
  }
  sent_ += static_cast<std::size_t>(sent);
  // Who always leaves a little would have us keep all that he ever took.
  if (sent_ < kFull && size() > 0) return {};
  bytes_.erase(0, sent_);
  sent_ = 0;
  return {};
}

}  // namespace plimsoll::daemon

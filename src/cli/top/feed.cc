#include "cli/top/feed.h"

#include <sys/epoll.h>
#include <sys/socket.h>

#include <array>
#include <utility>

#include "base/text.h"

namespace plimsoll::cli::top {

void Feed::ask(supervisor::ControlRequest request) {
  unsent_ += supervisor::to_line(request);
  asked_.push_back(std::move(request));
}

std::uint32_t Feed::events() const {
  return EPOLLIN | (unsent_.empty() ? 0U : static_cast<std::uint32_t>(EPOLLOUT));
}

Result<void> Feed::send() {
  while (!unsent_.empty()) {
    const ssize_t sent = ::send(fd(), unsent_.data(), unsent_.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    if (sent < 0 && errno == EINTR) continue;
    if (sent < 0 && errno == EAGAIN) return {};
    // What it has said before it ended is still to be heard.
    if (sent < 0 && (errno == EPIPE || errno == ECONNRESET)) unsent_.clear();
    if (sent < 0 && !unsent_.empty()) return fail_errno("send a request to the run");
    if (sent > 0) unsent_.erase(0, static_cast<std::size_t>(sent));
  }
  return {};
}

Result<void> Feed::receive() {
  std::array<char, 65536> buffer{};
  while (received_.size() <= supervisor::kAnswerBytesMax) {
    const ssize_t got = ::recv(fd(), buffer.data(), buffer.size(), MSG_DONTWAIT);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0 && errno == EAGAIN) return {};
    if (got < 0 && errno != ECONNRESET) return fail_errno("receive an answer of the run");
    if (got <= 0) return fail(std::errc::no_such_process, "run " + run());
    received_.append(buffer.data(), static_cast<std::size_t>(got));
  }
  return fail("an answer of the run is longer than " + std::to_string(supervisor::kAnswerBytesMax) +
              " bytes");
}

Result<std::vector<Heard>> Feed::turn() {
  if (auto sent = send(); !sent) return pass(std::move(sent));
  auto more = receive();
  std::vector<Heard> heard;
  for (std::size_t end = 0; (end = received_.find('\n', searched_)) != std::string::npos;) {
    auto answer = supervisor::parse_answer(std::string_view(received_).substr(0, end));
    received_.erase(0, end + 1);
    searched_ = 0;
    if (!answer) return pass(std::move(answer), "an answer of the run");
    if (asked_.empty()) return fail("the run has answered what nobody had asked");
    heard.push_back({std::move(asked_.front()), std::move(*answer)});
    asked_.pop_front();
  }
  searched_ = received_.size();
  // The end is told once everything before it is.
  if (!more && heard.empty()) return pass(std::move(more));
  return heard;
}

}  // namespace plimsoll::cli::top

#include "govern/jobserver.h"

#include <sys/epoll.h>

#include <utility>

namespace plimsoll::govern {

Jobserver::Jobserver(loop::Loop& loop, TokenPipe pipe, TokenBasis& basis)
    : loop_(loop), pipe_(std::move(pipe)), basis_(basis), timer_(loop.timer([this] {
        came_ = 0;
        look();
      })) {}

void Jobserver::begin() {
  end();
  look();
}

void Jobserver::end() {
  timer_.off();
  coming_ = {};
  pipe_.take(pipe_.free());
  tokens_.reset();
}

void Jobserver::look() {
  const Instant now = loop::now();
  const std::size_t free = pipe_.free();
  const auto holders = free < tokens_.issued() ? basis_.token_holders() : std::nullopt;
  follow(tokens_.look(basis_.slots(), free, holders, now));
  timer_.set(now + kLook);
}

void Jobserver::look_at_coming() {
  if (++came_ <= kComingMax) return look();
  coming_ = {};
}

void Jobserver::follow(const TokenChange& change) {
  if (change.put > 0) tokens_.put(pipe_.put(change.put));
  if (change.take > 0) tokens_.took(pipe_.take(change.take));
  if (!change.takes_what_comes) {
    coming_ = {};
  } else if (!coming_ && came_ < kComingMax) {
    auto watch = loop_.watch(pipe_.fd(), EPOLLIN, [this](std::uint32_t) { look_at_coming(); });
    if (watch) coming_ = std::move(*watch);  // else the next look takes them
  }
}

}  // namespace plimsoll::govern

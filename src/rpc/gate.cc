#include "rpc/gate.h"

namespace plimsoll::rpc {

Gate::Gate(const loop::Loop& loop)
    : post_(loop.poster()), waiting_(std::make_shared<std::atomic<std::size_t>>(0)) {}

bool Gate::post(std::function<void()> call) {
  // Counted before the look at `closed_`: who closes and then sees nobody waiting has them all.
  const std::size_t before = waiting_->fetch_add(1);
  if (closed_ || before >= kWaitingMax) {
    waiting_->fetch_sub(1);
    return false;
  }
  post_([call = std::move(call), waiting = waiting_] {
    call();
    waiting->fetch_sub(1);
  });
  return true;
}

void Gate::post_always(std::function<void()> call) {
  waiting_->fetch_add(1);
  post_([call = std::move(call), waiting = waiting_] {
    call();
    waiting->fetch_sub(1);
  });
}

}  // namespace plimsoll::rpc

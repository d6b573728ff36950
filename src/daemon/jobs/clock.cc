#include "daemon/jobs/clock.h"

#include <utility>

namespace plimsoll::daemon {
namespace {

class LoopTimer : public Clock::Timer {
 public:
  explicit LoopTimer(loop::Timer timer) : timer_(std::move(timer)) {}
  void set(Instant when) override { timer_.set(when); }
  void off() override { timer_.off(); }

 private:
  loop::Timer timer_;
};

}  // namespace

std::unique_ptr<Clock::Timer> LoopClock::timer(std::function<void()> callback) {
  return std::make_unique<LoopTimer>(loop_.timer(std::move(callback)));
}

}  // namespace plimsoll::daemon

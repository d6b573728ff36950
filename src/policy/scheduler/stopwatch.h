#pragma once

#include "base/units.h"

namespace plimsoll::policy {

// Running time of an attempt: stands while it is frozen.
class Stopwatch {
 public:
  explicit Stopwatch(Instant now) : since_(now) {}

  void stop(Instant now) {
    if (stopped_) return;
    ran_ += now - since_;
    since_ = now;
    stopped_ = true;
  }
  void go_on(Instant now) {
    if (!stopped_) return;
    stood_ += now - since_;
    since_ = now;
    stopped_ = false;
  }
  [[nodiscard]] Duration ran(Instant now) const { return stopped_ ? ran_ : ran_ + (now - since_); }
  [[nodiscard]] Duration stood(Instant now) const {
    return stopped_ ? stood_ + (now - since_) : stood_;
  }
  [[nodiscard]] bool is_stopped() const { return stopped_; }

 private:
  Instant since_;
  Duration ran_{}, stood_{};
  bool stopped_ = false;
};

}  // namespace plimsoll::policy

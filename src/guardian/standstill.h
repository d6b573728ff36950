#pragma once

#include <sys/types.h>

#include <chrono>
#include <optional>
#include <string>

#include "base/units.h"

namespace plimsoll::guardian {

// Whether a child stands still because somebody has sent it SIGSTOP or SIGTSTP: a supervisor that
// a job has stopped would leave all of them unattended with nobody told. It is told at once, and
// after a while the child is continued: whoever has stopped it to look at it has had his time.
class Standstill {
 public:
  // Longer than anybody stops a process by mistake. A guess.
  static constexpr Duration kPatience = std::chrono::seconds(30);

  explicit Standstill(pid_t child, Duration patience = kPatience)
      : child_(child), patience_(patience) {}

  // To be called after each SIGCHLD, and when next_look() is over. Does not wait, and leaves the
  // child's end to be waited for. If the child was stopped, a sentence about it for people.
  [[nodiscard]] std::optional<std::string> look(Instant now);
  // How long until look() is due; nothing while the child goes on.
  [[nodiscard]] std::optional<Duration> next_look(Instant now) const;

 private:
  pid_t child_;
  Duration patience_;
  std::optional<Instant> since_;
};

}  // namespace plimsoll::guardian

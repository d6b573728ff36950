#pragma once

#include <chrono>
#include <optional>
#include <string>

#include "base/result.h"
#include "base/units.h"
#include "supervisor/output/attempt.h"
#include "supervisor/output/traffic.h"

namespace plimsoll::output {

// How long a pipe may stay open after its attempt is over. Everybody in the group is dead by then,
// so only a process that left the group holds it; its output is not the job's. A guess: longer than
// any scheduling delay, shorter than anybody notices.
inline constexpr Duration kEscapeGrace = std::chrono::milliseconds(200);

// When a full disk is tried again: soon enough for people who make room and watch.
inline constexpr Duration kRetryAfter = std::chrono::seconds(1);

// Both pipes of an attempt that is over have ended.
struct Ended {
  JobId job{};
  unsigned attempt = 0;
  Received received;
};

// Output could not be kept or printed. Told once for each kind of error until everything goes on
// again.
struct Trouble {
  std::optional<JobId> job;  // whose output met it first; none: the program's own stdout or stderr
  Error error;               // says what was tried, and where
  std::string consequence;   // what happens now and what can be done, as a sentence
};

// The program's own stdout or stderr can't be written any more.
struct Lost {
  Side side{};
  Error error;  // std::errc::broken_pipe: the reader has gone
};

// What becomes of the output of jobs, told as it happens.
class OutputObserver {
 public:
  OutputObserver() = default;
  OutputObserver(const OutputObserver&) = delete;
  OutputObserver& operator=(const OutputObserver&) = delete;
  virtual ~OutputObserver() = default;

  // How much an attempt has written, where Capture::finish() could not say so yet.
  virtual void on_received(const Ended& ended) = 0;
  // A disk is full, a file can't be made. Output waits or goes on without, as the text says.
  virtual void on_trouble(const Trouble& trouble) = 0;
  // Nobody reads the program's own stdout or stderr any more (`plimsoll batch | head`). What goes
  // there is thrown away from now on; told once for each of the two.
  virtual void on_lost(const Lost& lost) = 0;
  // After Collector::drain().
  virtual void on_drained() = 0;
};

}  // namespace plimsoll::output

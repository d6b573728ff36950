#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "base/loop/loop.h"
#include "base/units.h"
#include "supervisor/output/stream.h"
#include "supervisor/output/traffic.h"

namespace plimsoll::output {

struct Attempt;

// Which of the two outputs of a program.
enum class Side : std::uint8_t { out, err };

// What becomes of an attempt's output when it is over.
enum class Disposition : std::uint8_t {
  keep,
  // The job runs again, or never mattered. What is not printed yet is thrown away.
  discard,
};

// Whether Capture::finish() could say by itself how much was received.
enum class TrafficTold : std::uint8_t { no, yes };

// One output of an attempt: the stream, and what the collector's thread does about it.
struct Channel {
  Attempt* attempt = nullptr;
  Side side{};
  Stream stream;
  loop::Watch watch;    // of the pipe; none while it is not to be read
  bool queued = false;  // stands in a queue of what is to be printed
};

// One attempt of a job as the collector's thread knows it.
struct Attempt {
  enum class State : std::uint8_t {
    running,
    leaving,  // finish() has come; what is left in the pipes is awaited
    over,     // both streams have ended
  };

  std::uint64_t serial = 0;  // names it in messages between the threads
  JobId job{};
  unsigned number = 0;  // of the attempt
  std::string name;     // of the job
  Form form;
  std::shared_ptr<Traffic> traffic;
  Channel out, err;
  State state = State::running;
  Disposition disposition = Disposition::keep;
  TrafficTold told = TrafficTold::no;

  [[nodiscard]] bool ended() const { return out.stream.ended() && err.stream.ended(); }

  // What is to be printed next of it, if anything: stdout before stderr, but no line is left
  // half printed for the other's sake.
  Channel* printable() {
    if (err.stream.printable() && err.stream.in_line() == InLine::middle) return &err;
    if (out.stream.printable()) return &out;
    return err.stream.printable() ? &err : nullptr;
  }
};

}  // namespace plimsoll::output

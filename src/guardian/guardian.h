#pragma once

#include <sys/resource.h>
#include <sys/types.h>

#include <cstdint>
#include <string>

#include "base/result.h"
#include "guardian/channel.h"
#include "guardian/heartbeat.h"

namespace plimsoll::guardian {

// The supervisor's side of the pair.
struct Link {
  Channel channel;
  pid_t guardian{};  // to be moved into the run's own group
  // RLIMIT_NOFILE as the user had it, for the jobs: both processes have raised theirs, as each
  // group of a job takes some 25 descriptors.
  rlimit descriptors{};
  Heartbeat heartbeat;  // the supervisor's side
};

// As loop::notify() of base/loop, which this room does not know.
using NotifyManager = void (*)(const std::string& state);

// When the supervisor has things to clean up, and hears signals. Until then it may do what takes
// long, such as reading: a signal that would end the guardian ends both at once.
enum class Begins : std::uint8_t { at_once, by_itself };  // by Heartbeat::begin()

// Splits the process that the user started in two. The caller goes on as the supervisor, in a child
// with a process group of its own, and gets the link. The first process stays as the guardian and
// never returns from here: it spawns and waits as the supervisor asks (protocol.h), hands on the
// signals it is sent, but for those that were ignored when it was started (by nohup(1), or Ctrl-C
// by `&` in a script), and exits with the supervisor's exit status, or dies of a signal (DieOf).
// When the supervisor ends, in whatever way, the guardian reaps what was handed over to it first;
// after a death by a signal it says so on standard error and exits with 125.
//
// Call it first thing in main(), before any thread. The guardian becomes a subreaper (prctl(2)), so
// that orphans of jobs come to it.
//
// `notify` is called in the guardian with what the supervisor wants the service's manager to hear
// (Notify): that one listens to the main process alone.
Result<Link> become_guardian(NotifyManager notify = nullptr, Begins begins = Begins::at_once);

}  // namespace plimsoll::guardian

#pragma once

#include <sys/resource.h>
#include <sys/types.h>

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "base/result.h"
#include "base/unique_fd.h"
#include "guardian/channel.h"
#include "guardian/spawn_request.h"
#include "guardian/spawner.h"
#include "kernel/cgroup/controller.h"
#include "kernel/procfs/membership.h"

// What guardian and supervisor say to each other: one packet a message, a tag byte first. Both are
// the same program file, so the layout is that of the compiler and has no version.
namespace plimsoll::guardian {

// How a main process ended, decoded once.
struct WaitStatus {
  enum class Kind : std::uint8_t { exited, signalled };
  Kind kind = Kind::exited;
  int value = 0;  // exit code or signal number
  bool operator==(const WaitStatus&) const = default;
};

// Where a signal to the guardian came from. The terminal's own go to its whole foreground process
// group, so that a command in the same group has had them too; so has it those of a job that
// signals its process group (`kill 0`).
enum class SignalOrigin : std::uint8_t { terminal, job, process };

// Whether a signal asks who gets it to end, as the terminal, a shell or an init does.
bool asks_to_end(int signal);

// From the guardian.
struct Started {
  ChildId id{};
  pid_t pid{};  // for display; identity is the pidfd
  Birth birth{};
  UniqueFd pidfd;
};
struct StartFailed {
  ChildId id{};
  SpawnStep step{};
  std::errc code{};
};
struct Exited {
  ChildId id{};
  WaitStatus status;
  rusage usage{};
  // Some of its descendants live, or may: Over is to follow when its group is empty. Without a
  // group: who they are is for the supervisor to find.
  bool leaves_others = false;
};
// A process that had left the group of its job.
struct Escapee {
  pid_t pid{};
  std::string comm;
  bool lives = false;  // it could not be killed
};
// The answer to Over.
struct Escaped {
  ChildId id{};
  std::vector<Escapee> processes;
};
struct Signalled {
  int number{};
  SignalOrigin origin{};
};
struct Resumed {};  // the guardian had stopped itself and was continued
using FromGuardian = std::variant<Started, StartFailed, Exited, Escaped, Signalled, Resumed>;

// From the supervisor.

// What is to be reaped when the supervisor is gone: in each hierarchy the directory `name` below
// the base, and where the guardian goes back to before its own leaf is removed. The lock
// descriptors keep the tree from being taken for a dead one's (cgroup/tree.h).
struct HandOver {
  struct Place {
    cgroup::Version version{};
    cgroup::ControllerSet controllers;  // of the hierarchy
    UniqueFd base;
    UniqueFd lock;        // of base/name; absent before it is made
    std::string named{};  // as cgroup::Base::named: what runs made of it goes
  };
  std::string name;
  std::vector<Place> places;
  UniqueFd home_procs;  // cgroup.procs to go back to; absent when the guardian was not moved
};
// The same in process mode, where there are no groups: whose processes are to be ended. The
// guardian in it is the receiver.
struct HandOverFamilies {
  procfs::Membership::Config run;
};
// The group of this job is empty: who is left of it has left its group, and is to be killed.
struct Over {
  ChildId id{};
};
struct StopYourself {};  // SIGSTOP, in answer to SIGTSTP; answered by Resumed when continued
// The pool of the tree that was handed over has a wall, and the supervisor beats (heartbeat.h):
// from now on both need protection, and the pool a second watcher.
struct StandWatch {};
// The run was ended by this signal: when the supervisor has exited and all is cleaned up, the
// guardian dies of it, so that a shell sees it and ends its loop as well.
struct DieOf {
  int signal{};
};
// For the manager of the service that this is, which hears its main process only: as sd_notify(3).
struct Notify {
  std::string state;
};
// Not sent: a spawn request whose descriptors were lost, as the guardian had none left.
struct LostSpawn {
  ChildId id{};
};
using FromSupervisor = std::variant<ReceivedSpawn, LostSpawn, HandOver, HandOverFamilies, Over,
                                    StopYourself, StandWatch, DieOf, Notify>;

// Does not wait: resource_unavailable_try_again while the supervisor has much to read. Were both
// sides to wait for each other, neither would ever go on.
Result<void> send(const Channel& channel, const FromGuardian& message);
Result<FromGuardian> decode_from_guardian(Packet packet);

Result<void> send(const Channel& channel, const SpawnRequest& request);
Result<void> send(const Channel& channel, const HandOver& message);
Result<void> send(const Channel& channel, const HandOverFamilies& message);
Result<void> send(const Channel& channel, Over message);
Result<void> send(const Channel& channel, StopYourself message);
Result<void> send(const Channel& channel, StandWatch message);
Result<void> send(const Channel& channel, DieOf message);
Result<void> send(const Channel& channel, const Notify& message);
// The ReceivedSpawn points into packet.bytes, which must outlive it.
Result<FromSupervisor> decode_from_supervisor(Packet& packet);

}  // namespace plimsoll::guardian

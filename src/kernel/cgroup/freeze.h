#pragma once

#include <cstdint>
#include <string_view>

#include "base/result.h"
#include "kernel/cgroup/directory.h"
#include "kernel/cgroup/group.h"

// Stopping and resuming all processes of a group by the kernel's freezer: cgroup.freeze of the v2
// directory, or freezer.state of the v1 freezer where the group has no v2 directory.
//
// Freezing is asynchronous: ask, then look at the state. It takes 25 to 160 us for processes that
// run or sleep, up to seconds for those that memory.high or cpu.max holds up, and does not end
// while one waits for a disk. On v1 a process that sleeps at a memory limit without the kernel's
// killer never freezes, and a state of `freezing` is lasting.
namespace plimsoll::cgroup {

enum class FreezeState : std::uint8_t {
  thawed,
  freezing,  // asked for; some process is not parked yet
  frozen,    // all are parked, by this group's freezer or by one above it
};
std::string_view name_of(FreezeState state);

// The directory that freezes a group: its v2 one, else its v1 freezer; null if it has neither.
const Directory* freezer_of(const Group& group);

// These act on one directory, of v2 or of the v1 freezer. They do not wait for the effect. thaw()
// takes back request_freeze() of the same directory alone: what a group above or below has frozen
// stays so.
Result<void> request_freeze(const Directory& freezer);
Result<void> thaw(const Directory& freezer);
Result<FreezeState> freeze_state(const Directory& freezer);

// Keeps a group frozen; its destructor thaws. Has a handle of its own on the group, so the Group
// need not live on. A supervisor that dies runs no destructor: then the guardian thaws.
class FreezeGuard {
 public:
  // Asks for the freeze. Not supported (Error) if the group has no freezer. Lift cpu.max first: a
  // throttled process freezes only when its quota comes round.
  static Result<FreezeGuard> freeze(const Group& group);

  FreezeGuard(FreezeGuard&&) noexcept = default;
  FreezeGuard& operator=(FreezeGuard&& other) noexcept;
  ~FreezeGuard();

  [[nodiscard]] Result<FreezeState> state() const { return freeze_state(freezer_); }

 private:
  explicit FreezeGuard(Directory freezer) : freezer_(std::move(freezer)) {}
  void thaw_if_held() const;

  Directory freezer_;  // without a descriptor after being moved from: nothing to thaw
};

}  // namespace plimsoll::cgroup

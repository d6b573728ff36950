#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "base/units.h"
#include "kernel/cgroup/backoff.h"
#include "kernel/cgroup/processes.h"
#include "kernel/cgroup/remove.h"

namespace plimsoll::reap {

// How far a group has been reaped.
enum class State : std::uint8_t {
  live,      // not begun
  killing,   // somebody lived there at the last look, and was sent the kill
  stuck,     // killing for longer than a healthy machine takes
  removing,  // nobody lives there; the directories are being removed
  draining,  // the removal was refused: a process has died but not yet left, or came back
  left,      // given up: it can't be removed, or who lives there can't be killed
  gone,
};
std::string_view name_of(State state);

enum class Occupancy : std::uint8_t { empty, populated };

// Decides the steps of reaping one group, by what was seen and when. Pure: whoever asks looks,
// kills, removes and waits (reaper.h).
//
// The way is live -> killing -> removing -> gone; an ordinary end leaves out killing, killing may
// turn into stuck, and removing into draining, from where it goes back to killing or removing. What
// can't be removed, however long it waits, is left; so is what whoever waits has given up.
class Course {
 public:
  enum class Act : std::uint8_t {
    kill,    // take a kill step, look again at `look_again`
    wait,    // look again at `look_again`
    remove,  // read the last counters, remove the group, call removed()
    finish,  // nothing is left to do, or to be done (State::left)
  };
  struct Next {
    Act act = Act::wait;
    Instant look_again{};       // of kill and wait
    bool report_stuck = false;  // tell the owner who is still there
  };

  explicit Course(Instant begun) : begun_(begun), report_at_(begun + kStuckReports[0]) {}

  // After a look at the group: the first, one that is due, or one that an event of the group
  // suggested, which kills nobody anew before the next is due. Not while removing or gone.
  Next looked(Occupancy seen, Instant now);

  // After an attempt to remove the group.
  Next removed(cgroup::Removal removal, Instant now);

  // After an attempt that failed of what no waiting changes.
  Next denied();

  // Whoever waits will not wait for ever: the group is left when it refuses its removal the next
  // time, or somebody still lives in it at the next look, if a healthy machine would have ended
  // that by then.
  void give_up() { gives_up_ = true; }

  // After a kill step that sent what the steps before had to hold back: waiting starts over at the
  // shortest.
  Next struck_late(Instant now);

  [[nodiscard]] State state() const { return state_; }
  [[nodiscard]] Instant begun() const { return begun_; }

  // Where the next look has to look: a removal that was refused shows that the v2 directory alone
  // does not tell.
  [[nodiscard]] cgroup::Scope scope() const { return scope_; }

  // When a group that is not gone is reported, from the beginning; after the last of these, every
  // kStuckEvery. The first is far beyond what a kill takes on a loaded machine (p99 0.1 s), and
  // left out where nobody lives in the group: the kernel may be slow to release it.
  static constexpr Duration kStuckReports[] = {std::chrono::seconds(1), std::chrono::seconds(5),
                                               std::chrono::seconds(30)};
  static constexpr Duration kStuckEvery = std::chrono::minutes(1);

 private:
  Next wait_on(Act act, Instant now);
  [[nodiscard]] bool gives_up(Instant now) const {
    return gives_up_ && now - begun_ >= kStuckReports[0];
  }
  bool report_is_due(Instant now);

  Instant begun_;
  bool gives_up_ = false;
  State state_ = State::live;
  cgroup::Scope scope_ = cgroup::Scope::v2_first;
  cgroup::Backoff backoff_;
  Instant look_again_{};
  std::size_t reports_ = 0;
  Instant report_at_;
};

}  // namespace plimsoll::reap

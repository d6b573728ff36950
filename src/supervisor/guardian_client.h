#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>

#include "base/loop/loop.h"
#include "base/result.h"
#include "base/unique_fd.h"
#include "guardian/guardian.h"
#include "guardian/protocol.h"

namespace plimsoll::supervisor {

class ChildObserver;
class SignalObserver;

// The supervisor's end of the link to the guardian: asks it to start children, and hands on what it
// tells of them and of signals. That it is gone is noticed when its messages are taken; what it is
// told then is lost.
class GuardianClient {
 public:
  explicit GuardianClient(guardian::Link link) : link_(std::move(link)) {}

  // From now on `loop`, which must outlive this, takes the messages in its turns.
  Result<void> attach(loop::Loop& loop);
  // Takes those that are there, and no more than others can wait for.
  void take_messages();
  static constexpr std::size_t kMessagesMax = 64;
  [[nodiscard]] bool is_gone() const { return is_gone_; }

  // For display, and to be moved into the run's own group.
  [[nodiscard]] pid_t pid() const { return link_.guardian; }
  [[nodiscard]] guardian::Channel& channel() { return link_.channel; }
  [[nodiscard]] guardian::Heartbeat& heartbeat() { return link_.heartbeat; }
  [[nodiscard]] const guardian::Heartbeat& heartbeat() const { return link_.heartbeat; }

  // `request.id` is filled in here. `observer` as ChildObserver says.
  Result<guardian::ChildId> spawn(guardian::SpawnRequest request, ChildObserver& observer);
  // As AttemptHost has them.
  void over(guardian::ChildId child, ChildObserver& observer);
  void forget(guardian::ChildId child);

  // As RunHost::tell_signals().
  void tell_signals(SignalObserver* observer) { signals_ = observer; }
  // The first signal that has asked Plimsoll to end, if one has.
  [[nodiscard]] const std::optional<int>& asked_to_end() const { return asked_to_end_; }

  // A message without an answer: guardian::DieOf, Notify, StopYourself, StandWatch.
  template <class Message>
  void tell(const Message& message) {
    [[maybe_unused]] const auto sent = guardian::send(link_.channel, message);
  }

 private:
  [[nodiscard]] bool take_message();
  void handle(guardian::FromGuardian message);
  void guardian_ended();

  guardian::Link link_;
  loop::Watch watch_;
  // The channel stays open while a child has it that was frozen before its exec: what the guardian
  // had frozen when it was killed would stand for ever.
  UniqueFd pidfd_;
  loop::Watch death_watch_;
  std::unordered_map<guardian::ChildId, ChildObserver*> children_;  // that live, or may
  std::unordered_map<guardian::ChildId, ChildObserver*> over_;      // asked about by over()
  std::uint64_t last_child_ = 0;
  SignalObserver* signals_ = nullptr;
  std::optional<int> asked_to_end_;
  bool is_gone_ = false;
};

}  // namespace plimsoll::supervisor

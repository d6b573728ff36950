#pragma once

#include <atomic>
#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <mutex>

#include "base/loop/loop.h"
#include "daemon/grpc/call_pace.h"
#include "policy/job/tenant.h"

namespace plimsoll::daemon {

// Bytes, counted from any thread.
using ByteCount = std::atomic<std::size_t>;

// The way from the threads of gRPC to the loop's, which owns all state. What goes through is
// bounded: beyond, or once the gate is closed, whoever knocks answers by himself. Users take turns:
// one call of each, and of one user in the order in which they came; how much of the loop's time
// the calls of one take is bounded while others call too (CallPace).
class Gate {
 public:
  explicit Gate(loop::Loop& loop);
  Gate(const Gate&) = delete;
  Gate& operator=(const Gate&) = delete;
  ~Gate();

  // So many closures wait for the loop at most: calls of some thousand clients at once. Of one user
  // so many that memory bounds them, not time: others don't wait for them. The host's are beyond
  // the whole.
  static constexpr std::size_t kWaitingMax = 10'000;
  static constexpr std::size_t kOfUserMax = 2'000;
  // The same of the bytes that come with one user's: eight of the longest messages. Whatever they
  // have, one passes.
  static constexpr std::size_t kBytesOfUserMax = 32 << 20;

  // What came with a call.
  struct Message {
    std::size_t bytes = 0;  // that wait with it
    Duration reading{};     // CPU time that it took to read it
  };

  // Runs `call` of this user on the loop's thread; false, and it never runs: too many wait, or it
  // is closed. From any thread.
  [[nodiscard]] bool post(policy::Tenant user, std::function<void()> call, Message message);
  [[nodiscard]] bool post(policy::Tenant user, std::function<void()> call) {
    return post(user, std::move(call), Message{});
  }
  // Whether post() would take a call with so many bytes now: asked before it is read, as that costs
  // more than to refuse it. From any thread.
  [[nodiscard]] bool has_room(policy::Tenant user, std::size_t bytes);
  // The same for what belongs to something that came through before and must not be lost: its end.
  // Bounded by what it belongs to. It counts as one of the user's, not as one of all.
  void post_always(policy::Tenant user, std::function<void()> call);

  // For those who are heard otherwise, on the loop's thread: what that takes counts with the calls
  // of their user. When he may go on; `now` at the earliest.
  [[nodiscard]] Instant next_beside(policy::Tenant user);
  void spent_beside(policy::Tenant user, Duration cost);

  // A call of this user was refused: so long it waits to be told. From any thread.
  [[nodiscard]] Duration refused(policy::Tenant user);

  void close();
  // What came through and has not run yet.
  [[nodiscard]] std::size_t waiting() const;

  // The way back: bytes of messages that this user's clients have not taken. From any thread.
  [[nodiscard]] std::shared_ptr<ByteCount> outgoing(policy::Tenant user);

 private:
  class Queues;
  std::shared_ptr<Queues> queues_;
  std::mutex refusals_mutex_;
  RefusalPace refusals_;
  std::mutex outgoing_mutex_;
  std::map<policy::Tenant, std::weak_ptr<ByteCount>> outgoing_;
};

}  // namespace plimsoll::daemon

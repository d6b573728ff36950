#pragma once

#include <atomic>
#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <mutex>

#include "loop/loop.h"
#include "policy/tenant.h"

namespace plimsoll::rpc {

// The way from the threads of gRPC to the loop's, which owns all state. What goes through is
// bounded: beyond, or once the gate is closed, whoever knocks answers by himself.
class Gate {
 public:
  explicit Gate(const loop::Loop& loop);

  // So many closures wait for the loop at most: calls of some thousand clients at once. Of one user
  // so many that the others' wait for a fraction of a second; the host's are beyond the whole.
  static constexpr std::size_t kWaitingMax = 10'000;
  static constexpr std::size_t kOfUserMax = 2'000;

  // Runs `call` of this user on the loop's thread; false, and it never runs: too many wait, or it
  // is closed. From any thread.
  [[nodiscard]] bool post(policy::Tenant user, std::function<void()> call);
  // The same for what belongs to something that came through before and must not be lost: its end.
  // Bounded by what it belongs to.
  void post_always(std::function<void()> call);

  void close() { closed_ = true; }
  // What came through and has not run yet.
  [[nodiscard]] std::size_t waiting() const { return waiting_->in_all; }

 private:
  struct Waiting {
    std::atomic<std::size_t> in_all = 0;
    std::mutex mutex;
    std::map<policy::Tenant, std::size_t> of_user{};  // none is 0; under the mutex

    [[nodiscard]] bool enter(policy::Tenant user);
    void leave(policy::Tenant user);
  };

  std::function<void(std::function<void()>)> post_;
  std::shared_ptr<Waiting> waiting_;
  std::atomic<bool> closed_ = false;
};

}  // namespace plimsoll::rpc

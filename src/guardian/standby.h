#pragma once

#include <pthread.h>
#include <semaphore.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>

#include "base/units.h"

namespace plimsoll::guardian {

// Two threads that take turns at the same work, where one of them may be held up in a call for as
// long as it likes: one leads, and the other stands by. If the leader does not come back from such
// a call soon, the other goes on with the work in its place, and it stands by from then on.
//
// All that the work uses is used by the leader alone, so it needs no locks of its own.
class Standby {
 public:
  // `go_on` does the work and never returns. Called by a thread that takes the lead, in the state
  // in which the other has lent it. Null: no thread could be made. The caller leads.
  [[nodiscard]] static std::unique_ptr<Standby> start(std::function<void()> go_on,
                                                      Duration patience);
  Standby(const Standby&) = delete;
  Standby& operator=(const Standby&) = delete;
  // Only where nobody was ever held up: by the thread that has called start(), which leads.
  ~Standby();

  // By the leader, around a call that may take long: nothing that the work uses is touched between
  // the two. Whether it still leads; else it is to call stand_by(), in place of all that it has
  // left to do.
  [[nodiscard]] std::uint64_t lend();
  [[nodiscard]] bool regain(std::uint64_t lent);
  [[noreturn]] void stand_by();

  // The other does stand by, and may take the lead: it does not without end, as both stacks grow.
  [[nodiscard]] bool is_ready();

  // A call that takes longer than `patience` costs the lead: at a look, and there is one each so
  // often. This is that of a guardian.
  static constexpr Duration kPatience = std::chrono::milliseconds(50);
  static constexpr unsigned kChangesMax = 32;
  // So long after the last call the thread looks on, before it sleeps until the next.
  static constexpr Duration kLooksAfter = std::chrono::seconds(1);

 private:
  Standby(std::function<void()> go_on, Duration patience)
      : go_on_(std::move(go_on)), patience_(patience) {}
  static void* run(void* self);
  void watch();
  // What to do after a look.
  enum class Next : std::uint8_t { look, sleep, lead, end };
  [[nodiscard]] Next look();

  std::function<void()> go_on_;
  Duration patience_;
  pthread_t thread_{};
  sem_t wanted_{};   // somebody is to look
  std::mutex lock_;  // of all that follows
  bool stands_by_ = false;
  bool looks_ = false;
  bool ends_ = false;
  bool is_lent_ = false;
  std::uint64_t lent_ = 0;  // how often
  Instant begun_{};         // when last
  unsigned changes_ = 0;
};

}  // namespace plimsoll::guardian

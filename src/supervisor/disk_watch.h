#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/loop/clock.h"
#include "base/loop/loop.h"
#include "base/units.h"
#include "policy/job/observation.h"

namespace plimsoll::supervisor {

// Looks at the free space of file systems, each on a thread of its own, as statfs(2) does not come
// back from one that hangs; such a thread is left behind. A file system is held by an open
// directory, whatever is mounted over its path later.
//
// Of the loop's thread.
class DiskWatch {
 public:
  // Who is told, from the loop. One that has not answered for kStale is absent.
  using Tell = std::function<void(const policy::DiskSample&)>;

  // The file systems of these paths, every `interval`. `clock` and `loop` must outlive this; both
  // are of the same thread.
  DiskWatch(loop::Clock& clock, loop::Loop& loop, const std::vector<std::string>& paths,
            Duration interval, Tell tell);
  DiskWatch(const DiskWatch&) = delete;
  DiskWatch& operator=(const DiskWatch&) = delete;
  ~DiskWatch();

  // The first look: waits kFirstLook at most. Before start().
  [[nodiscard]] policy::DiskSample look();

  // From now on, until stop(): the first look comes at once, unless there was one within the
  // interval. Either does nothing the second time.
  void start();
  void stop();
  // As start(), but seldom, where nothing depends on it but what is known when that is over.
  void rest();
  static constexpr Duration kRest = std::chrono::seconds(2);
  // The next look comes now, but so long after the one before; unless it is stopped.
  void look_soon();
  static constexpr Duration kSoonGap = std::chrono::milliseconds(10);

  // What takes longer is not a disk that is only busy. Guesses.
  static constexpr Duration kFirstLook = std::chrono::seconds(1);
  static constexpr Duration kStale = std::chrono::seconds(5);

 private:
  class Lane;
  void ask();
  void answered();
  [[nodiscard]] policy::DiskSample sample() const;

  loop::Clock& clock_;
  Duration interval_;
  Tell tell_;
  // What a lane posts finds nobody when this is gone.
  std::shared_ptr<DiskWatch*> self_ = std::make_shared<DiskWatch*>(this);
  std::vector<std::shared_ptr<Lane>> lanes_;
  std::unique_ptr<loop::Clock::Timer> timer_;
  Instant asked_{};
  enum class Pace : std::uint8_t { off, resting, on } pace_ = Pace::off;
};

}  // namespace plimsoll::supervisor

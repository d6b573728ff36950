#include "supervisor/pool_limits.h"

#include <algorithm>
#include <atomic>

#include "kernel/cgroup/freeze.h"
#include "supervisor/capacity.h"

namespace plimsoll::supervisor {
namespace {

using namespace plimsoll::literals;
using cgroup::Controller;
using cgroup::Directory;
using cgroup::Version;

// v2: past memory.high allocators creep at 1-2 MB/s each (measured, 16 at once: 3 MB/s), after
// standing 2-3 % above it in the first second. Before memory.max is reached the governor has had
// ten seconds to act.
constexpr std::uint64_t kMaxShare = 16;  // one in so many above the line
constexpr Bytes kMaxLeast = 64_MiB;
// v1: nothing slows anybody down, and at the limit the kernel kills. A job at 1 GB/s that was not
// seen at the line must be stopped by the governor before it gets there, if it can be.
constexpr std::uint64_t kV1Share = 4;
constexpr Bytes kV1Least = 256_MiB;
// The machine's own end is as good a last resort as a limit so near to it.
constexpr Bytes kRoomLeast = 16_MiB;

}  // namespace

// What the worker writes, and whether it is still wanted: a number that moves with each change of
// mind. Shared because a write that blocks may outlive the wall.
struct PoolLimits::Writing {
  explicit Writing(Directory pool) : memory(std::move(pool)) {}
  Directory memory;
  std::atomic<std::uint64_t> wanted{0};
};

cgroup::PoolBounds wall_for(Version version, Bytes line, Bytes capacity) {
  const bool is_v2 = version == Version::v2;
  const Bytes wanted = is_v2 ? std::max(Bytes{line.count / kMaxShare}, kMaxLeast)
                             : std::max(Bytes{line.count / kV1Share}, kV1Least);
  // Half of what others have is theirs in any case.
  const Bytes room{(capacity - line).count / 2};
  cgroup::PoolBounds limits;
  if (is_v2) limits.high = line;
  if (room >= kRoomLeast) limits.max = line + std::min(wanted, room);
  return limits;
}

PoolLimits::PoolLimits(RunHost& host, Bytes line, StallObserver& observer)
    : host_(host), observer_(observer) {
  const Directory* memory = host.pool().of(Controller::memory);
  if (memory == nullptr) {
    why_not_ = "the pool has no memory controller";
    return;
  }
  auto own = memory->clone();
  if (!own) {
    why_not_ = own.error().message();
    return;
  }
  writing_ = std::make_shared<Writing>(std::move(*own));
  capacity_ = memory_capacity(*memory, host.memory());
  const cgroup::PoolBounds limits = wall_for(memory->version(), line, capacity_);
  // Nothing is in the pool yet, so that nothing has to be taken back.
  if (auto set = cgroup::set_pool_limits(writing_->memory, limits); !set) {
    why_not_ = set.error().message();
    [[maybe_unused]] const auto removed = cgroup::remove_pool_limits(writing_->memory);
    return;
  }
  limits_ = limits;
  stalls_.count = host_.heartbeat().stalls();
  beat_timer_ = host.loop().timer([this] { on_beat(); });
  host_.be_watched();
  beat_timer_.set(loop::now() + guardian::kBeatInterval);
}

PoolLimits::~PoolLimits() {
  if (writing_ == nullptr) return;
  ++writing_->wanted;
  const auto left = host_.heartbeat().release(loop::now());
  [[maybe_unused]] const auto removed = cgroup::remove_pool_limits(writing_->memory);
  const Directory* freezer = cgroup::freezer_of(host_.pool());
  if (left == guardian::Heartbeat::Left::held && freezer != nullptr) {
    [[maybe_unused]] const auto thawed = cgroup::thaw(*freezer);
  }
}

void PoolLimits::set_line(Bytes line) {
  if (!limits_) return;
  limits_ = wall_for(writing_->memory.version(), line, capacity_);
  if (stands()) write_later();
}

void PoolLimits::write_later() {
  const std::uint64_t mine = ++writing_->wanted;
  host_.slow_worker().submit(
      [writing = writing_, limits = *limits_, mine] {
        if (writing->wanted != mine) return;
        // Whatever is not as it should be shows in the samples, and the governor holds the line.
        [[maybe_unused]] const auto set = cgroup::set_pool_limits(writing->memory, limits);
        if (writing->wanted == mine) return;
        [[maybe_unused]] const auto lifted = cgroup::lift_throttle(writing->memory);
      },
      [] {});
}

// Whoever changed the mind of a write under way has lifted the throttle before it was written: so
// the writer lifts it again, and the one that comes after puts it back.
void PoolLimits::lift() {
  if (!stands()) return;
  lifted_ = true;
  beat_timer_.off();
  [[maybe_unused]] const auto left = host_.heartbeat().release(loop::now());
  ++writing_->wanted;
  [[maybe_unused]] const auto lifted = cgroup::lift_throttle(writing_->memory);
}

void PoolLimits::restore() {
  if (!limits_ || !lifted_) return;
  lifted_ = false;
  host_.heartbeat().watch();
  beat_timer_.set(loop::now() + guardian::kBeatInterval);
  write_later();
}

void PoolLimits::on_beat() {
  const Instant now = loop::now();
  beat_timer_.set(now + guardian::kBeatInterval);
  const std::uint32_t count = host_.heartbeat().stalls();
  if (count == stalls_.count || host_.heartbeat().is_held()) return;
  stalls_.count = count;
  const Duration time = host_.heartbeat().stalled(now);
  const Duration latest = time - std::exchange(stalls_.time, time);
  write_later();
  observer_.on_stall(latest);
}

}  // namespace plimsoll::supervisor

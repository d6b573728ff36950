#include "guardian/heartbeat.h"

#include <sys/mman.h>
#include <time.h>

#include <algorithm>
#include <new>

namespace plimsoll::guardian {
namespace {

std::int64_t ns_of(Instant at) { return at.time_since_epoch().count(); }

constexpr Duration kLittle = std::chrono::microseconds(100);

void wait_a_little() {
  constexpr timespec kTime{.tv_sec = 0, .tv_nsec = kLittle.count()};
  ::clock_nanosleep(CLOCK_MONOTONIC, 0, &kTime, nullptr);
}

}  // namespace

Result<Heartbeat> Heartbeat::make() {
  void* const memory =
      ::mmap(nullptr, sizeof(Page), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return fail_errno("map a page that two processes share");
  return Heartbeat(
      std::shared_ptr<Page>(new (memory) Page, [](Page* page) { ::munmap(page, sizeof(Page)); }));
}

bool Heartbeat::change(Course from, Course to) {
  return page_->course.compare_exchange_strong(from, to, std::memory_order_acq_rel);
}

bool Heartbeat::change(Hold from, Hold to) {
  return page_->hold.compare_exchange_strong(from, to, std::memory_order_acq_rel);
}

void Heartbeat::watch() {
  beat();
  [[maybe_unused]] const bool was_off = change(Hold::unwatched, Hold::watched);
}

Heartbeat::Left Heartbeat::release(Instant now) {
  for (Duration waited{};; waited += kLittle) {
    if (change(Hold::held, Hold::unwatched)) {
      end_stall(now);
      return Left::held;
    }
    if (change(Hold::watched, Hold::unwatched)) return Left::alone;
    const Hold hold = page_->hold.load(std::memory_order_acquire);
    if (hold == Hold::unwatched) return Left::alone;
    if (hold != Hold::acting) continue;
    if (waited >= kActMax) {
      page_->hold.store(Hold::unwatched, std::memory_order_release);
      end_stall(now);
      return Left::held;
    }
    wait_a_little();
  }
}

bool Heartbeat::is_held() const {
  const Hold hold = page_->hold.load(std::memory_order_acquire);
  return hold == Hold::held || hold == Hold::acting;
}

std::uint32_t Heartbeat::stalls() const { return page_->stalls.load(std::memory_order_acquire); }

Duration Heartbeat::stalled(Instant now) const {
  const std::int64_t word = page_->stalled_ns.load(std::memory_order_acquire);
  if (word >= 0) return Duration(word);
  return std::max(Duration(ns_of(now) - (-1 - word)), Duration{});
}

bool Heartbeat::is_watched() const {
  return page_->hold.load(std::memory_order_acquire) != Hold::unwatched;
}

bool Heartbeat::begin_hold(Instant now) {
  if (!change(Hold::watched, Hold::acting)) return false;
  const std::int64_t stands_at = ns_of(now) - stalled(now).count();
  page_->stalled_ns.store(-1 - stands_at, std::memory_order_release);
  return true;
}

void Heartbeat::hold() { [[maybe_unused]] const bool ours = change(Hold::acting, Hold::held); }

bool Heartbeat::begin_let_go() { return change(Hold::held, Hold::acting); }

void Heartbeat::end_stall(Instant now) {
  page_->stalled_ns.store(stalled(now).count(), std::memory_order_release);
  page_->stalls.fetch_add(1, std::memory_order_release);
}

void Heartbeat::let_go(Instant now) {
  end_stall(now);
  [[maybe_unused]] const bool ours = change(Hold::acting, Hold::watched);
}

}  // namespace plimsoll::guardian

#include "guardian/standby.h"

#include <malloc.h>
#include <time.h>

#include <cerrno>
#include <utility>

#include "guardian/clock.h"

namespace plimsoll::guardian {
namespace {

// Of the work, and of some changes of the lead.
constexpr std::size_t kStackBytes = 512 << 10;

// Until it is posted, or so long.
void wait_for(sem_t& semaphore, Duration time) {
  const auto since_boot = (clock_now() + time).time_since_epoch();
  const auto ns = std::chrono::duration_cast<std::chrono::nanoseconds>(since_boot).count();
  const timespec until{.tv_sec = ns / 1'000'000'000, .tv_nsec = ns % 1'000'000'000};
  ::sem_clockwait(&semaphore, CLOCK_MONOTONIC, &until);
}

}  // namespace

std::unique_ptr<Standby> Standby::start(std::function<void()> go_on, Duration patience) {
  ::mallopt(M_ARENA_MAX, 1);  // one heap for both, as one works
  std::unique_ptr<Standby> made(new Standby(std::move(go_on), patience));
  ::sem_init(&made->wanted_, 0, 0);
  pthread_attr_t attributes;
  ::pthread_attr_init(&attributes);
  ::pthread_attr_setstacksize(&attributes, kStackBytes);
  const int failed = ::pthread_create(&made->thread_, &attributes, &run, made.get());
  ::pthread_attr_destroy(&attributes);
  if (failed == 0) return made;
  made->thread_ = {};
  return nullptr;
}

Standby::~Standby() {
  if (thread_ != pthread_t{}) {
    {
      const std::lock_guard held(lock_);
      ends_ = true;
    }
    ::sem_post(&wanted_);
    ::pthread_join(thread_, nullptr);
  }
  ::sem_destroy(&wanted_);
}

void* Standby::run(void* self) {
  static_cast<Standby*>(self)->watch();
  return nullptr;
}

void Standby::stand_by() {
  for (;;) watch();
}

// Returns only at the end.
void Standby::watch() {
  Next next = Next::sleep;
  {
    const std::lock_guard held(lock_);
    stands_by_ = true;
    looks_ = false;
  }
  for (;;) {
    if (next == Next::sleep) {
      while (::sem_wait(&wanted_) != 0) {
      }
    }
    next = look();
    if (next == Next::end) return;
    if (next == Next::lead) go_on_();
    if (next == Next::look) wait_for(wanted_, patience_);
  }
}

Standby::Next Standby::look() {
  const std::lock_guard held(lock_);
  if (ends_) return Next::end;
  const Duration since = clock_now() - begun_;
  if (is_lent_ && since >= patience_) {
    is_lent_ = false;
    stands_by_ = false;
    ++changes_;
    return Next::lead;
  }
  looks_ = is_lent_ || since <= kLooksAfter;
  return looks_ ? Next::look : Next::sleep;
}

std::uint64_t Standby::lend() {
  const std::lock_guard held(lock_);
  is_lent_ = true;
  begun_ = clock_now();
  if (!std::exchange(looks_, true)) ::sem_post(&wanted_);
  return ++lent_;
}

bool Standby::regain(std::uint64_t lent) {
  const std::lock_guard held(lock_);
  return lent == lent_ && std::exchange(is_lent_, false);
}

bool Standby::is_ready() {
  const std::lock_guard held(lock_);
  return stands_by_ && changes_ < kChangesMax;
}

}  // namespace plimsoll::guardian

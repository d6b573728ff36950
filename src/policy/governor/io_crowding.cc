#include "policy/governor/io_crowding.h"

#include <algorithm>
#include <cmath>
#include <iterator>

#include "policy/job/words.h"

namespace plimsoll::policy {
namespace {

bool is_bound(const std::optional<IoNeed>& need) {
  return need && need->waited >= kIoBoundWaits && need->bytes_per_second >= kIoBoundMoves;
}

bool is_long(double seconds) { return seconds >= to_seconds(kIoLong); }

bool has_just_started(const Member& member) { return member.sample.ran < kIoUnshownMost; }

bool is_long(const Member& member) {
  return is_long(to_seconds(member.sample.ran) + member.estimate.remaining.mean);
}

// What it could move if it were alone, as far as that is known.
double could_move(const Member& member) {
  return member.estimate.io ? member.estimate.io->bytes_per_second : member.io.most_moved();
}

// With one more than are of use the devices have work until the next has started, when one ends.
bool is_over_limit(const IoRoom& room) {
  if (!room.is_busy || !room.limit) return false;
  const std::size_t tried = room.limit->is_stale ? 1 : 0;
  return room.running > room.limit->fewer + tried;
}

}  // namespace

bool is_io_bound(const Estimate& estimate) { return is_bound(estimate.io); }

bool is_io_bound(const Member& member) {
  const auto lately = member.io.need();
  if (!lately) return is_io_bound(member.estimate);
  return lately->waited >= kIoBoundWaits &&
         (is_io_bound(member.estimate) || member.io.most_moved() >= kIoBoundMoves);
}

bool moves(const Member& member) {
  return member.state == MemberState::running && !member.waits_for_commands && is_io_bound(member);
}

bool is_held_for_io(const IoRoom& room, const Estimate& candidate) {
  if (!room.is_told || room.running == 0 || !is_io_bound(candidate)) return false;
  if (is_over_limit(room)) return true;
  if (room.limit && room.running > room.limit->fewer && room.unseen > 0) return true;
  if (!is_long(candidate.remaining.mean)) return false;
  if (room.limit) return room.unshown > 0;
  // Each that has shown what it moves makes room for one more.
  const std::size_t shown = room.running - std::min(room.running, room.unshown);
  return room.unshown >= std::max<std::size_t>(shown, 1);
}

void count_in(IoRoom& room, const Estimate& admitted) {
  if (!is_io_bound(admitted)) return;
  ++room.running;
  ++room.unseen;
  if (is_long(admitted.remaining.mean)) ++room.unshown;
}

std::string io_reason(const IoRoom& room) {
  if (!is_over_limit(room)) {
    const std::size_t started = std::max(room.unshown, room.unseen);
    const std::string who = started == 1
                                ? "the job just started keeps"
                                : "the " + std::to_string(started) + " jobs just started keep";
    return "waits to see how busy " + who + " the disk: " + std::to_string(room.running) +
           (room.running == 1 ? " job" : " jobs") + " bound by I/O at once";
  }
  const IoLimit& limit = *room.limit;
  const std::string fewer = limit.fewer == 1 ? "1 job alone" : std::to_string(limit.fewer);
  return "waits for the disk: " + std::to_string(limit.more) + " jobs bound by I/O moved " +
         words::bytes(limit.moved_by_more) + " a second together, and " + fewer + " moved " +
         words::bytes(limit.moved_by_fewer);
}

Numbers io_numbers(const IoRoom& room) {
  Numbers numbers{{"io_waited_share", room.waited},
                  {"io_running", static_cast<double>(room.running)},
                  {"io_unshown", static_cast<double>(room.unshown)}};
  if (!room.limit) return numbers;
  numbers.emplace_back("io_fewer", static_cast<double>(room.limit->fewer));
  numbers.emplace_back("fewer_moved_bytes_per_s", room.limit->moved_by_fewer);
  numbers.emplace_back("io_more", static_cast<double>(room.limit->more));
  numbers.emplace_back("more_moved_bytes_per_s", room.limit->moved_by_more);
  return numbers;
}

IoCrowding::Change IoCrowding::observe(const MachineSample& sample, const RunningSet& running_set,
                                       Instant now) {
  const bool was_told = is_told_;
  const bool was_busy = is_busy_;
  const double seconds = looked_ ? to_seconds(now - *looked_) : 0;
  if (!sample.io) *this = {};
  looked_ = now;
  is_told_ = sample.io.has_value();
  if (!is_told_) return was_told ? Change::freed : Change::none;
  waited_ += (sample.io->waited - waited_) * (1 - std::exp(-seconds / to_seconds(kIoShown)));
  is_busy_ = waited_ >= (is_busy_ ? kIoFree : kIoBusy);
  if (limit_ && !is_busy_ && !is_fresh(limit_->at, now)) limit_.reset();
  std::size_t jobs = 0;
  double could = 0;
  for (const Member* member : running_set.members()) {
    if (!moves(*member)) continue;
    ++jobs;
    could += could_move(*member);
  }
  measure(sample.io->bytes_per_second, could, jobs, seconds, now);
  return was_busy && !is_busy_ ? Change::freed : Change::none;
}

void IoCrowding::measure(double moved, double could, std::size_t jobs, double seconds,
                         Instant now) {
  if (jobs != jobs_ || !is_busy_) {
    if (jobs != jobs_) since_ = now;
    jobs_ = jobs;
    moved_ = seconds_ = 0;
    return;
  }
  if (jobs == 0 || jobs > kIoCountsMax || now - since_ < kIoSettles) return;
  moved_ += moved * seconds;
  seconds_ += seconds;
  if (seconds_ < to_seconds(kIoMeasured)) return;
  const Measured news{.jobs = jobs, .moved = moved_ / seconds_, .could = could, .at = now};
  measured_[jobs] = news;
  moved_ = seconds_ = 0;
  judge(news);
}

// What fewer moved is seldom seen again while a limit holds, so it counts on: else every count
// would in time be compared with the one just below it alone, and the limit would creep.
void IoCrowding::judge(const Measured& news) {
  if (limit_ && news.jobs > limit_->fewer.jobs) {
    if (is_of_no_use(limit_->fewer, news)) {
      // One more than usual was tried.
      if (news.jobs > limit_->fewer.jobs + 1) limit_->at = news.at;
      limit_->more = news;
      return;
    }
    limit_.reset();
  }
  if (limit_ && news.jobs == limit_->fewer.jobs) limit_->fewer = news;
  if (const auto found = find_limit(news.at)) limit_ = found;
}

// What each of the fewer moved is what each one more could bring at most.
bool IoCrowding::is_of_no_use(const Measured& fewer, const Measured& more) {
  const double each = fewer.moved / static_cast<double>(fewer.jobs);
  const double ideal = std::min(each * static_cast<double>(more.jobs - fewer.jobs),
                                std::max(0.0, more.could - fewer.could));
  return more.moved - fewer.moved < std::max(kIoGain * ideal, kIoNoise * fewer.moved);
}

// The fewest beyond which the next count that was measured was of no use, and no greater one was.
std::optional<IoCrowding::Limit> IoCrowding::find_limit(Instant now) const {
  const auto is_late = [now](const auto& one) { return !is_fresh(one.second.at, now); };
  for (auto fewer = measured_.begin(); fewer != measured_.end(); ++fewer) {
    if (is_late(*fewer) || fewer->second.moved < kIoMovedLeast) continue;
    const Measured* next = nullptr;
    bool is_refuted = false;
    for (auto more = std::next(fewer); more != measured_.end() && !is_refuted; ++more) {
      if (is_late(*more)) continue;
      is_refuted = !is_of_no_use(fewer->second, more->second);
      if (next == nullptr) next = &more->second;
    }
    if (next != nullptr && !is_refuted) {
      return Limit{.fewer = fewer->second, .more = *next, .at = fewer->second.at};
    }
  }
  return std::nullopt;
}

IoRoom IoCrowding::room(const RunningSet& running_set, Instant now) const {
  IoRoom room{.is_told = is_told_, .waited = waited_, .is_busy = is_busy_};
  if (!is_told_) return room;
  if (limit_) {
    room.limit = IoLimit{.fewer = limit_->fewer.jobs,
                         .more = limit_->more.jobs,
                         .moved_by_fewer = limit_->fewer.moved,
                         .moved_by_more = limit_->more.moved,
                         .is_stale = !is_fresh(limit_->at, now)};
  }
  for (const Member* member : running_set.members()) {
    if (!moves(*member)) continue;
    ++room.running;
    if (looked_ && member->started >= *looked_) ++room.unseen;
    if (has_just_started(*member) && is_long(*member)) ++room.unshown;
  }
  const auto same = measured_.find(room.running);
  if (same != measured_.end() && is_fresh(same->second.at, now)) room.unshown = 0;
  return room;
}

}  // namespace plimsoll::policy

#include "policy/governor/io_crowding.h"

#include <algorithm>
#include <cmath>

#include "policy/job/words.h"

namespace plimsoll::policy {
namespace {

bool is_bound(const std::optional<IoNeed>& need) {
  return need && need->waited >= kIoBoundWaits && need->bytes_per_second >= kIoBoundMoves;
}

bool is_long(double seconds) { return seconds >= to_seconds(kIoLong); }

bool is_long_and_unshown(const Member& member) {
  const double ran = to_seconds(member.sample.ran);
  return member.sample.ran < kIoSettles + kIoMeasured &&
         is_long(ran + member.estimate.remaining.mean);
}

// What each of the fewer moved is what each one more could bring at most.
bool is_of_no_use(std::size_t fewer, double moved_by_fewer, std::size_t more,
                  double moved_by_more) {
  const double ideal =
      moved_by_fewer / static_cast<double>(fewer) * static_cast<double>(more - fewer);
  return moved_by_more - moved_by_fewer < kIoGain * ideal;
}

// With one more than are of use the devices have work until the next has started, when one ends.
bool is_over_limit(const IoRoom& room) {
  return room.is_busy && room.limit && room.running > room.limit->fewer;
}

}  // namespace

bool is_io_bound(const Estimate& estimate) { return is_bound(estimate.io); }

bool is_io_bound(const Member& member) {
  const JobSample& sample = member.sample;
  if (sample.ran >= kIoSettles + kIoMeasured) {
    if (const auto shown = io_need(sample.io_wait, sample.io, sample.ran)) return is_bound(shown);
  }
  return is_io_bound(member.estimate);
}

bool moves(const Member& member) {
  return member.state == MemberState::running && !member.waits_for_commands && is_io_bound(member);
}

bool is_held_for_io(const IoRoom& room, const Estimate& candidate) {
  if (!room.is_told || room.running == 0 || !is_io_bound(candidate)) return false;
  if (is_over_limit(room)) return true;
  if (!is_long(candidate.remaining.mean)) return false;
  if (room.limit) return room.unshown > 0;
  // Each that has shown what it moves makes room for one more.
  const std::size_t shown = room.running - std::min(room.running, room.unshown);
  return room.unshown >= std::max<std::size_t>(shown, 1);
}

void count_in(IoRoom& room, const Estimate& admitted) {
  if (!is_io_bound(admitted)) return;
  ++room.running;
  if (is_long(admitted.remaining.mean)) ++room.unshown;
}

std::string io_reason(const IoRoom& room) {
  if (!is_over_limit(room)) {
    const std::string who = room.unshown == 1
                                ? "the job just started keeps"
                                : "the " + std::to_string(room.unshown) + " jobs just started keep";
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
  const auto& members = running_set.members();
  const auto jobs = static_cast<std::size_t>(
      std::count_if(members.begin(), members.end(), [](const Member* one) { return moves(*one); }));
  measure(sample.io->bytes_per_second, jobs, seconds, now);
  return was_busy && !is_busy_ ? Change::freed : Change::none;
}

void IoCrowding::measure(double moved, std::size_t jobs, double seconds, Instant now) {
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
  measured_[jobs] = {.moved = moved_ / seconds_, .at = now};
  moved_ = seconds_ = 0;
}

// The fewest beyond which the next count that was measured was of no use.
std::optional<IoLimit> IoCrowding::limit(Instant now) const {
  const std::pair<const std::size_t, Measured>* fewer = nullptr;
  for (const auto& more : measured_) {
    if (now - more.second.at > kIoRemembered) continue;
    if (fewer != nullptr && fewer->second.moved >= kIoMovedLeast &&
        is_of_no_use(fewer->first, fewer->second.moved, more.first, more.second.moved)) {
      return IoLimit{.fewer = fewer->first,
                     .more = more.first,
                     .moved_by_fewer = fewer->second.moved,
                     .moved_by_more = more.second.moved};
    }
    fewer = &more;
  }
  return std::nullopt;
}

IoRoom IoCrowding::room(const RunningSet& running_set, Instant now) const {
  IoRoom room{.is_told = is_told_, .waited = waited_, .is_busy = is_busy_, .limit = limit(now)};
  if (!is_told_) return room;
  for (const Member* member : running_set.members()) {
    if (!moves(*member)) continue;
    ++room.running;
    if (is_long_and_unshown(*member)) ++room.unshown;
  }
  return room;
}

}  // namespace plimsoll::policy

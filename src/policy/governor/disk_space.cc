#include "policy/governor/disk_space.h"

#include <algorithm>
#include <utility>

#include "base/check.h"
#include "policy/governor/writing.h"
#include "policy/job/words.h"

namespace plimsoll::policy {
namespace {

// It runs and nobody looks at it, as its client has not said where it is, so it will never show
// what it writes; or its user has paused it, for as long as he likes.
bool is_unseen(const Member& member, Instant now) {
  if (member.state != MemberState::running) return member.paused;
  const bool is_looked_at = member.seen != member.started && !member.sample.claimed;
  return !is_looked_at && now - member.started >= kWriteShown;
}

bool is_unshown(const Member& member, Instant now) {
  return member.state != MemberState::dying && !member.estimate.written &&
         !has_shown_writing(member) && !is_unseen(member, now);
}

// By its end, as far as looks at it tell: where space is only told of they are far apart.
bool may_leave_space(const Member& member, const DiskRoom& room, Instant now) {
  if (written(member) >= kWritesLeast) return true;
  if (member.state == MemberState::dying) return false;
  const bool is_seldom_seen = !member.sample.written || room.disk->rule == DiskRule::tell;
  return is_unshown(member, now) || is_writer(member) ||
         (!member.estimate.written && is_seldom_seen && !is_unseen(member, now));
}

const Member* largest_writer(const RunningSet& running_set) {
  const Member* largest = nullptr;
  for (const Member* member : running_set.members()) {
    if (written(*member) < kWritesLeast) continue;
    if (largest == nullptr || written(*member) > written(*largest)) largest = member;
  }
  return largest;
}

// Why writers are paused.
std::string shortage_text(const DiskFloor& disk, double free) {
  const std::string floor = "the floor of " + words::bytes(to_double(disk.floor));
  const std::string place = " are free on the file system of " + disk.path;
  if (free < to_double(disk.floor)) {
    return "only " + words::bytes(free) + place + ", less than " + floor;
  }
  return words::bytes(free) + place + " and, at this rate, soon less than " + floor;
}

DiskNews news_of(const DiskFloor& disk, double free, const RunningSet& running_set) {
  DiskNews news{.writer = {},
                .tenant = kHost,
                .reason = "only " + words::bytes(free) + " are free on the file system of " +
                          disk.path + ", " + words::bytes(to_double(disk.floor) - free) +
                          " less than the floor of " + words::bytes(to_double(disk.floor)),
                .numbers = {{"free_bytes", free}, {"floor_bytes", to_double(disk.floor)}}};
  if (const Member* writer = largest_writer(running_set)) {
    news.writer = writer->ready.job;
    news.tenant = writer->ready.tenant;
    news.reason += "; of the running jobs, job " +
                   std::to_string(static_cast<std::uint64_t>(writer->ready.job)) +
                   " has written most: " + words::bytes(written(*writer));
    news.numbers.emplace_back("job_written_bytes", written(*writer));
  }
  return news;
}

}  // namespace

std::optional<std::size_t> short_of_space(const std::vector<DiskRoom>& rooms,
                                          const Estimate& candidate) {
  const auto whole = to_write(candidate);
  if (whole && *whole < kWritesLeast) return std::nullopt;
  for (std::size_t i = 0; i < rooms.size(); ++i) {
    if (rooms[i].is_for(candidate) && rooms[i].left() < whole.value_or(0)) return i;
  }
  return std::nullopt;
}

std::optional<std::size_t> refuse_for_space(const std::vector<DiskRoom>& rooms,
                                            const Estimate& candidate) {
  const auto whole = to_write(candidate);
  if (whole && *whole < kWritesLeast) return std::nullopt;
  for (std::size_t i = 0; i < rooms.size(); ++i) {
    const DiskRoom& room = rooms[i];
    if (!room.is_for(candidate)) continue;
    if (room.has_paused || room.is_awaited) return i;
    if (room.writers > 0 && room.left() < whole.value_or(0)) return i;
    if (!whole && room.unshown >= kUnshownMost) return i;
  }
  return std::nullopt;
}

void count_in(std::vector<DiskRoom>& rooms, const Estimate& admitted) {
  const auto whole = to_write(admitted);
  for (DiskRoom& room : rooms) {
    if (!whole || *whole >= kWritesLeast) ++room.writers;
    if (!room.is_for(admitted)) continue;
    room.promised += whole.value_or(0);
    if (!whole) ++room.unshown;
  }
}

std::string space_state(const DiskRoom& room, const Estimate& candidate) {
  std::string text;
  if (const auto whole = to_write(candidate)) text += "it may write " + words::bytes(*whole) + ", ";
  if (room.promised >= kWritesLeast) {
    text += text.empty() ? "the running jobs may write " : "the running jobs ";
    text += words::bytes(room.promised) + " more, ";
  }
  return text + (text.empty() ? "" : "and ") + words::bytes(room.free) +
         " are free on the file system of " + room.disk->path + ", of which " +
         words::bytes(to_double(room.disk->floor)) + " are to stay free";
}

std::string space_reason(const DiskRoom& room, const Estimate& candidate) {
  const std::string state = space_state(room, candidate);
  if (room.has_paused) return "waits for disk space until paused jobs go on: " + state;
  if (room.is_awaited) return "waits for disk space behind another job: " + state;
  const bool is_unknown = !to_write(candidate) && room.left() >= 0;
  if (!is_unknown) return "waits for disk space: " + state;
  return "waits to see how much the jobs just started write to the file system of " +
         room.disk->path + "; jobs of this kind have not run before";
}

Numbers space_numbers(const DiskRoom& room, const Estimate& candidate) {
  Numbers numbers{{"free_bytes", room.free},
                  {"floor_bytes", to_double(room.disk->floor)},
                  {"promised_bytes", room.promised}};
  if (const auto whole = to_write(candidate)) numbers.emplace_back("to_write_bytes", *whole);
  return numbers;
}

DiskSpace::DiskSpace(std::vector<DiskFloor> disks)
    : disks_(std::move(disks)), looks_(disks_.size()) {
  PLIMSOLL_CHECK(disks_.size() <= kDisksMax);
}

std::vector<DiskNews> DiskSpace::observe(const DiskSample& sample, const RunningSet& running_set,
                                         Instant now) {
  PLIMSOLL_CHECK(sample.free.size() == disks_.size());
  std::vector<DiskNews> news;
  for (std::size_t i = 0; i < disks_.size(); ++i) {
    const DiskFloor& disk = disks_[i];
    Look& look = looks_[i];
    const auto before = look.free;
    look.free.reset();
    if (!sample.free[i]) continue;
    const double free = to_double(*sample.free[i]);
    const double floor = to_double(disk.floor);
    look.free = free;
    take_fall(look, before, now);
    if (look.is_below && free >= floor * (1 + kSpaceCushion)) look.is_below = false;
    if (look.is_below || free >= floor) {
      look.is_unexplained = false;
      continue;
    }
    DiskNews one = news_of(disk, free, running_set);
    const bool holds = disk.rule == DiskRule::hold;
    // A process that has written and ended is in no sum until its parent has waited for it. Where
    // space is only told of, the next look is too far.
    const bool may_be_explained = holds && !one.writer && running_set.size() > 0;
    if (may_be_explained && !std::exchange(look.is_unexplained, true)) continue;
    look.is_below = true;
    // That it was full before is no news to whoever has not asked.
    if (before || holds) news.push_back(std::move(one));
  }
  is_new_ = true;
  return news;
}

// One that could not be seen for a while begins anew; and what falls after a rise falls from there.
void DiskSpace::take_fall(Look& look, const std::optional<double>& before, Instant now) {
  const Duration span = now - look.since;
  const bool has_risen = *look.free > look.from;
  if (before && span < kFallSpan && !has_risen) return;
  if (!before || span >= kFallSpan) {
    look.fall = before && !has_risen ? (look.from - *look.free) / to_seconds(span) : 0;
  }
  look.from = *look.free;
  look.since = now;
}

std::vector<DiskRoom> DiskSpace::rooms(const RunningSet& running_set, Instant now) const {
  std::vector<DiskRoom> rooms;
  for (std::size_t i = 0; i < disks_.size(); ++i) {
    if (looks_[i].free) rooms.push_back({.disk = &disks_[i], .free = *looks_[i].free});
  }
  for (DiskRoom& room : rooms) {
    for (const Member* member : running_set.members()) {
      if (member->held && member->held_for == Shortage::space) room.has_paused = true;
      if (may_leave_space(*member, room, now)) ++room.writers;
      if (!room.is_for(member->estimate)) continue;
      room.promised += left_to_write(*member);
      if (is_unshown(*member, now)) ++room.unshown;
    }
    if (room.disk->rule == DiskRule::tell) room.has_paused = false;
  }
  return rooms;
}

std::vector<DiskTenancy> DiskSpace::tenancies(const RunningSet& running_set, std::size_t tenants,
                                              Instant now) const {
  std::vector<DiskTenancy> tenancies;
  for (std::size_t i = 0; i < disks_.size(); ++i) {
    if (!looks_[i].free) continue;
    const DiskRoom room{.disk = &disks_[i], .free = *looks_[i].free};
    DiskTenancy tenancy(disks_[i], room.free, tenants);
    for (const Member* member : running_set.members()) {
      const bool counts = room.is_for(member->estimate);
      const double promised = counts ? left_to_write(*member) : 0;
      const bool is_fresh = now - member->started < kSpaceKept;
      const bool is_paused = member->held && member->held_for == Shortage::space;
      tenancy.add(member->ready.tenant,
                  {.written = written(*member),
                   .promised = promised,
                   .fresh = is_fresh ? promised : 0,
                   .unshown = counts && is_unshown(*member, now) ? std::size_t{1} : 0,
                   .writers = may_leave_space(*member, room, now) ? std::size_t{1} : 0,
                   .has_paused = is_paused && room.disk->rule == DiskRule::hold});
    }
    tenancies.push_back(std::move(tenancy));
  }
  return tenancies;
}

bool DiskSpace::is_near(std::size_t disk) const {
  const Look& look = looks_[disk];
  if (!look.free || disks_[disk].rule == DiskRule::tell) return false;
  return *look.free - look.fall * to_seconds(kSpaceAhead) < to_double(disks_[disk].floor);
}

void DiskSpace::relieve(RunningSet& running_set, Instant now, std::vector<Decision>& rulings) {
  if (!is_new_) return;
  is_new_ = false;
  for (std::size_t i = 0; i < disks_.size(); ++i) {
    if (is_near(i)) stop_writers(i, running_set, now, rulings);
  }
}

// As many go on, in their order, as there is space for what they are still to write.
void DiskSpace::stop_writers(std::size_t disk, RunningSet& running_set, Instant now,
                             std::vector<Decision>& rulings) {
  const DiskFloor& floor = disks_[disk];
  const double free = *looks_[disk].free;
  const Member* keel = running_set.keel();
  double left = free - to_double(floor.floor);
  const Member* first = nullptr;
  const SpaceClaims claims(running_set, floor, free);
  for (const auto& [member, excess] : claims.writers()) {
    if (member->state != MemberState::running) continue;
    const double more = left_to_write(*member);
    const bool is_first = std::exchange(first, first == nullptr ? member : first) == nullptr;
    const bool gives_way = first->ready.tenant != member->ready.tenant;
    const bool may_stop = (member != keel || gives_way) && member->may_be_paused(now);
    // Who has written more than was said may write on, whatever is believed of him.
    const bool is_believed = left > 0 || excess == 0 || is_quiet(*member);
    const bool fits = more <= std::max(left, 0.0) && is_believed;
    if (is_first || fits || !may_stop) {
      left -= more;
      continue;
    }
    if (!running_set.hold(*member, now)) continue;
    member->held_for = Shortage::space;
    member->gave_way = gives_way;
    rulings.push_back({.action = Freeze{member->ready.job},
                       .reason = shortage_text(floor, free) +
                                 (gives_way ? "; jobs with which their user has less of it go first"
                                            : "; jobs that began to write before it go first"),
                       .numbers = {{"free_bytes", free},
                                   {"floor_bytes", to_double(floor.floor)},
                                   {"job_written_bytes", written(*member)}}});
  }
}

std::vector<SpaceClaims> DiskSpace::claims(const RunningSet& running_set) const {
  std::vector<SpaceClaims> claims;
  for (std::size_t i = 0; i < disks_.size(); ++i) {
    if (!looks_[i].free || disks_[i].rule == DiskRule::tell) continue;
    claims.emplace_back(running_set, disks_[i], *looks_[i].free);
  }
  return claims;
}

std::vector<DiskStatus> DiskSpace::status() const {
  std::vector<DiskStatus> all;
  for (std::size_t i = 0; i < disks_.size(); ++i) {
    DiskStatus& one = all.emplace_back(DiskStatus{.floor = disks_[i]});
    if (looks_[i].free) one.free = to_bytes(*looks_[i].free);
  }
  return all;
}

}  // namespace plimsoll::policy

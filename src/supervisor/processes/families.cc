#include "supervisor/processes/families.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "base/loop/loop.h"

namespace plimsoll::supervisor {
namespace {

using procfs::FamilyId;
using procfs::kStrays;

Duration time_of(const timeval& time) {
  return std::chrono::seconds(time.tv_sec) + std::chrono::microseconds(time.tv_usec);
}

// ru_inblock and ru_oublock are in units of 512 bytes, whatever the device has (getrusage(2)).
Bytes bytes_of_blocks(long blocks) {
  return {static_cast<std::uint64_t>(std::max(blocks, 0L)) * 512};
}

}  // namespace

Families::Families(procfs::ProcessScanner process_scanner, loop::Loop& loop)
    : process_scanner_(std::move(process_scanner)),
      count_timer_(loop.timer([this] { count_for_all(); })),
      timer_(loop.timer([this] { keep_looking(); })) {
  follow(kStrays, Counts::in_pool);
}

void Families::follow(FamilyId family, Counts counts) {
  const int guardian = process_scanner_.membership().config().guardian.pid;
  members_.emplace(family, Member(procfs::Meter(guardian), counts));
}

FamilyId Families::begin(const std::string& job, Counts counts) {
  const FamilyId family = process_scanner_.membership().begin(job);
  follow(family, counts);
  return family;
}

void Families::born(FamilyId family, int main) {
  process_scanner_.membership().born(family, main);
  Member& member = members_.at(family);
  member.meter.main_is(main);
  if (member.freezes > 0) process_scanner_.stop(family, member.stopped);
}

void Families::main_ended(FamilyId family, const rusage* usage) {
  process_scanner_.membership().main_ended(family);
  if (usage == nullptr) return;
  members_.at(family).meter.main_ended(
      time_of(usage->ru_utime), time_of(usage->ru_stime),
      {.read = bytes_of_blocks(usage->ru_inblock), .written = bytes_of_blocks(usage->ru_oublock)});
}

bool Families::left_nobody(FamilyId family) {
  procfs::Membership& membership = process_scanner_.membership();
  const auto& members = membership.members(family);
  const auto lives = [this](const auto& member) {
    const auto now = process_scanner_.proc().read_stat(member.first);
    return now && now->id == member.second.id && !now->is_dead();
  };
  return std::none_of(members.begin(), members.end(), lives) && membership.left_nobody(family);
}

void Families::main_ended(FamilyId family, const procfs::Stat& dead) {
  members_.at(family).meter.main_ended(
      procfs::time_of_ticks(dead.user_ticks + dead.waited_user_ticks),
      procfs::time_of_ticks(dead.system_ticks + dead.waited_system_ticks), {});
}

void Families::end(FamilyId family) {
  process_scanner_.membership().end(family);
  if (members_.at(family).freezes > 0) --frozen_;
  members_.erase(family);
  frozen_together_.erase(family);
}

// Whoever has forked meanwhile, and is not known by a living parent, has to be found before.
void Families::give(FamilyId from, FamilyId to) {
  count();
  process_scanner_.membership().give(from, to);
}

std::string Families::mark_of(const std::string& job) const {
  const procfs::Membership::Config& run = process_scanner_.membership().config();
  return procfs::to_text({.run = run.run,
                          .space = run.space,
                          .guardian = run.guardian,
                          .supervisor = run.supervisor,
                          .job = job});
}

void Families::look(Instant now) {
  if (now >= due_) measure(now);
}

void Families::count() {
  // What can't be counted now is at the next look; until then the last membership stands.
  [[maybe_unused]] const auto ignored = process_scanner_.look();
  ++counts_;
}

std::shared_ptr<const Families::Told> Families::tell_counted(Told then) {
  auto asks = std::make_shared<const Told>(std::move(then));
  if (asked_.empty()) count_timer_.set(std::max(loop::now(), count_due_));
  asked_.push_back(asks);
  return asks;
}

// Who is told may ask again.
void Families::count_for_all() {
  const Duration before = procfs::thread_time();
  count();
  const Duration cost = procfs::thread_time() - before;
  count_due_ = loop::now() + (kEndsShare - 1) * cost;
  for (const auto& asked : std::exchange(asked_, {})) {
    if (const auto asks = asked.lock()) (*asks)();
  }
}

std::string Families::place_in_pool(const procfs::Id& process) const {
  const procfs::Membership& membership = process_scanner_.membership();
  const auto family = membership.family_of(process);
  const bool is_in_pool = family && members_.at(*family).counts == Counts::in_pool;
  return is_in_pool ? membership.job_of(*family) : std::string();
}

void Families::settle(FamilyId family, Instant now) {
  members_.at(family).meter.look(process_scanner_.proc(),
                                 process_scanner_.membership().members(family), now);
}

void Families::measure(Instant now) {
  const Duration before = procfs::thread_time();
  count();
  for (auto& [family, member] : members_) {
    settle(family, now);
    if (member.freezes > 0) keep_stopped(family, member);
  }
  const Duration cost = procfs::thread_time() - before;
  due_ = loop::now() + std::clamp(kCostShare * cost, kGapMin, kGapMax);
}

// Who was born or continued since.
void Families::keep_stopped(FamilyId family, Member& member) {
  const auto& living = process_scanner_.membership().members(family);
  const auto runs = [](const auto& entry) { return !entry.second.is_stopped(); };
  if (std::any_of(living.begin(), living.end(), runs))
    process_scanner_.stop(family, member.stopped);
}

const procfs::Usage& Families::usage(FamilyId family) const {
  return members_.at(family).meter.usage();
}

Bytes Families::used() const {
  Bytes sum;
  for (const auto& [family, member] : members_) {
    if (member.counts == Counts::in_pool) sum += member.meter.usage().used;
  }
  return sum;
}

void Families::begin_freeze(Member& member) {
  if (member.freezes++ > 0) return;
  if (frozen_++ == 0) timer_.set(loop::now() + kGapMin);
}

void Families::freeze(FamilyId family) {
  Member& member = members_.at(family);
  begin_freeze(member);
  process_scanner_.stop(family, member.stopped);
}

void Families::freeze_all() {
  for (const FamilyId family : process_scanner_.membership().families()) {
    if (frozen_together_.insert(family).second) freeze(family);
  }
}

void Families::thaw_all() {
  for (const FamilyId family : std::exchange(frozen_together_, {})) thaw(family);
}

void Families::hold(FamilyId family) {
  Member& member = members_.at(family);
  begin_freeze(member);
  process_scanner_.stop_known(family, member.stopped);
}

bool Families::keep_held(FamilyId family) {
  return process_scanner_.stop_again(members_.at(family).stopped);
}

// Nobody else may look while all wait.
void Families::keep_looking() {
  if (frozen_ == 0) return;
  const Instant now = loop::now();
  look(now);
  timer_.set(std::max(due_, now + kGapMin));
}

void Families::thaw(FamilyId family) {
  Member& member = members_.at(family);
  if (member.freezes == 0 || --member.freezes > 0) return;
  --frozen_;
  process_scanner_.resume(std::exchange(member.stopped, {}));
}

}  // namespace plimsoll::supervisor

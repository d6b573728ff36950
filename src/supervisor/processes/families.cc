#include "supervisor/processes/families.h"

#include <algorithm>
#include <chrono>

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

Families::Families(procfs::ProcessScanner process_scanner)
    : process_scanner_(std::move(process_scanner)) {
  follow(kStrays);
}

void Families::follow(FamilyId family) {
  const int guardian = process_scanner_.membership().config().guardian.pid;
  members_.emplace(family, Member(procfs::Meter(guardian)));
}

FamilyId Families::begin(const std::string& job) {
  const FamilyId family = process_scanner_.membership().begin(job);
  follow(family);
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

void Families::end(FamilyId family) {
  process_scanner_.membership().end(family);
  members_.erase(family);
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
  for (const auto& [family, member] : members_) sum += member.meter.usage().used;
  return sum;
}

void Families::freeze(FamilyId family) {
  Member& member = members_.at(family);
  ++member.freezes;
  process_scanner_.stop(family, member.stopped);
}

void Families::thaw(FamilyId family) {
  Member& member = members_.at(family);
  if (member.freezes == 0 || --member.freezes > 0) return;
  count();
  process_scanner_.resume(family, member.stopped);
  member.stopped.clear();
}

}  // namespace plimsoll::supervisor

#include "supervisor/processes/family_place.h"

#include <optional>
#include <utility>
#include <vector>

#include "kernel/procfs/table.h"
#include "supervisor/processes/procfs_process_set.h"

namespace plimsoll::supervisor {

FamilyPlace::FamilyPlace(ChildSpawner& spawner, loop::Loop& loop, Families& families,
                         std::string name, Families::Counts counts)
    : spawner_(spawner),
      loop_(loop),
      family_(std::make_shared<Family>(families, std::move(name), counts)) {}

FamilyPlace::~FamilyPlace() { let_go(); }

void FamilyPlace::take_in(Newcomer process, std::function<void(const Result<void>&)> done) {
  std::vector<int> pids = {process.pid};
  if (process.below == Below::come) pids = procfs::family_of(process.pid, process.apart);
  const procfs::Membership& membership = family_->all().process_scanner().membership();
  std::optional<procfs::FamilyId> its;
  std::vector<procfs::Stat> family;
  for (const int pid : pids) {
    auto stat = procfs::stat_of(pid);
    if (!stat) continue;
    const auto now_in = membership.family_of(stat->id);
    if (pid == process.pid) its = now_in;
    const bool is_elsewhere = now_in && now_in != its;
    if (!is_elsewhere) family.push_back(std::move(*stat));
  }
  // Looked at last: whose number it was meanwhile is told by that.
  if (procfs::has_ended(process.pidfd.get())) {
    return done(fail(std::errc::no_such_process, "take in process " + std::to_string(process.pid)));
  }
  family_->all().adopt(family_->id(), family);
  family_->all().main_is(family_->id(), process.pid);
  done({});
}

void FamilyPlace::has_seen(const procfs::Id& process) {
  auto stat = procfs::stat_of(process.pid);
  if (stat && stat->id == process) family_->all().adopt(family_->id(), {std::move(*stat)});
}

void FamilyPlace::move_all(const std::shared_ptr<const Place>& other, std::function<void()> done) {
  const auto& into = static_cast<const FamilyPlace&>(*other);  // of the same run
  family_->all().give(family_->id(), into.family_->id());
  done();
}

bool FamilyPlace::has(int pid) const {
  const auto stat = procfs::stat_of(pid);
  if (!stat) return false;
  const procfs::Membership& membership = family_->all().process_scanner().membership();
  if (!membership.family_of(stat->id)) family_->all().count();  // it is younger than the last look
  return membership.family_of(stat->id) == family_->id();
}

bool FamilyPlace::is_populated() const {
  if (!family_->is_populated()) return false;  // who comes is known at once (Families::adopt())
  family_->all().count();
  return family_->is_populated();
}

bool FamilyPlace::hold() {
  if (!std::exchange(is_held_, true)) family_->all().hold(family_->id());
  return true;
}

void FamilyPlace::let_go() {
  if (std::exchange(is_held_, false)) family_->all().thaw(family_->id());
}

std::unique_ptr<ProcessSet> FamilyPlace::process_set(ProcessSetObserver& observer) {
  return std::make_unique<ProcfsProcessSet>(spawner_, loop_, observer, family_);
}

}  // namespace plimsoll::supervisor

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>

#include "base/file.h"
#include "kernel/cgroup/directory.h"
#include "kernel/cgroup/freeze.h"
#include "kernel/cgroup/limits.h"
#include "kernel/procfs/kill_all.h"
#include "kernel/procfs/table.h"
#include "supervisor/processes/cgroup_process_set.h"
#include "supervisor/processes/families.h"
#include "supervisor/processes/family_place.h"
#include "supervisor/processes/group_place.h"
#include "supervisor/processes/procfs_process_set.h"
#include "supervisor/supervisor.h"

// Where the jobs of a machine live: in groups of the run's tree, or in process mode as families.
namespace plimsoll::supervisor {
namespace {

// Whether the group has a directory in the hierarchy of this part of its parent.
bool has_part(const cgroup::Group& group, const cgroup::Group::Part& of_parent) {
  return std::any_of(
      cgroup::kControllers.begin(), cgroup::kControllers.end(), [&](cgroup::Controller controller) {
        return of_parent.controllers.has(controller) && group.of(controller) != nullptr;
      });
}

}  // namespace

Result<void> Supervisor::enter_process_mode(std::string why) {
  // For the cores and the memory that this process itself may have.
  if (auto found = cgroup::discover_hierarchies()) hierarchies_ = std::move(*found);
  tree_name_ = cgroup::run_name(run_id_);
  pool_ = &no_pool_;
  oom_.emplace(loop_, nullptr);
  network_.emplace("process mode: network traffic is counted for groups only");
  auto proc = procfs::ProcDir::open();
  if (!proc) return pass(std::move(proc));
  auto guardian = procfs::id_of(*proc, guardian_.pid());
  auto supervisor = procfs::id_of(*proc, ::getpid());
  auto children = procfs::children_of(*proc, guardian_.pid());
  if (!guardian) return pass(std::move(guardian));
  if (!supervisor) return pass(std::move(supervisor));
  if (!children) return pass(std::move(children));
  const auto space = proc->pid_space(::getpid());
  std::erase(*children, *supervisor);
  procfs::Membership::Config run{.guardian = *guardian,
                                 .supervisor = *supervisor,
                                 .run = run_id_,
                                 .space = space.value_or(0),
                                 .foreign = std::move(*children)};
  if (auto told = guardian::send(guardian_.channel(), guardian::HandOverFamilies{run}); !told) {
    return told;
  }
  auto process_scanner = procfs::ProcessScanner::open(std::move(run));
  if (!process_scanner) return pass(std::move(process_scanner));
  families_ = std::make_unique<Families>(std::move(*process_scanner), loop_);
  why_process_mode_ = std::move(why);
  auto sweep = [] {
    [[maybe_unused]] const auto swept =
        procfs::kill_abandoned(loop::now() + kSweepPatience, &loop::now);
  };
  worker_->submit(std::move(sweep), [] {});
  return {};
}

Result<std::unique_ptr<ProcessSet>> Supervisor::make_process_set(const std::string& name,
                                                                 const Limits& limits, uid_t uid,
                                                                 ProcessSetObserver& observer) {
  if (families_ != nullptr) {
    Limits demanded = limits;
    demanded.weight.reset();  // kept as far as the host can
    if (demanded != Limits()) {
      return fail("its limits need a cgroup, and none can be made: " + *why_process_mode_);
    }
    return std::make_unique<ProcfsProcessSet>(*this, loop_, observer, *families_, name);
  }
  std::shared_ptr<cgroup::Inner> of_user;
  if (users_) {
    auto found = users_->of(uid);
    if (!found) return pass(std::move(found));
    of_user = std::move(*found);
  }
  GroupStock* stock = of_user == nullptr && uid == ::geteuid() ? &group_stock_ : nullptr;
  auto used = stock == nullptr ? std::nullopt : stock->take(limits, name);
  auto group = used ? Result<JobGroup>(std::move(*used))
                    : new_group(of_user ? *of_user : *pool_, name, limits);
  if (!group) return pass(std::move(group));
  return std::make_unique<CgroupProcessSet>(
      CgroupProcessSet::Deps{*this, loop_, *worker_, *network_}, observer, std::move(*group),
      CgroupProcessSet::Around{.above = std::move(of_user), .stock = stock});
}

Result<JobGroup> Supervisor::new_group(cgroup::Inner& parent, const std::string& name,
                                       const Limits& limits) {
  auto made = make_group_in(parent, name, limits);
  if (!made) return pass(std::move(made));
  auto group = std::make_shared<const cgroup::Leaf>(std::move(*made));
  // What can't be opened is told when it is to be entered.
  auto entrances = entrances_of(*group).value_or(std::vector<UniqueFd>());
  counters::GroupFiles files(*group);
  return JobGroup{.group = std::move(group),
                  .limits = limits,
                  .entrances = std::move(entrances),
                  .files = std::move(files)};
}

Result<std::unique_ptr<Place>> Supervisor::make_place_in_pool(const std::string& name,
                                                              Mover& mover) {
  if (families_ != nullptr) return make_family(name, Families::Counts::in_pool);
  auto group = pool_->make_leaf(name, adopting_);
  if (!group) return pass(std::move(group));
  return std::make_unique<GroupPlace>(CgroupProcessSet::Deps{*this, loop_, *worker_, *network_},
                                      mover, std::move(*group),
                                      "/" + tree_name_ + "/" + cgroup::kPoolName + "/" + name);
}

Result<std::unique_ptr<Place>> Supervisor::make_place_beside_pool(const std::string& name,
                                                                  Mover& mover) {
  if (families_ != nullptr) return make_family(name, Families::Counts::beside_pool);
  auto group = tree_->make_beside_pool(name, adopting_);
  if (!group) return pass(std::move(group));
  return std::make_unique<GroupPlace>(CgroupProcessSet::Deps{*this, loop_, *worker_, *network_},
                                      mover, std::move(*group), "/" + tree_name_ + "/" + name);
}

std::unique_ptr<Place> Supervisor::make_family(const std::string& name, Families::Counts counts) {
  return std::make_unique<FamilyPlace>(*this, loop_, *families_, name, counts);
}

void Supervisor::prefer(const Place& beside_pool) const {
  if (tree_) tree_->prefer(static_cast<const GroupPlace&>(beside_pool).group());
}

std::string Supervisor::place_in_pool(int pid) const {
  if (families_ != nullptr) {
    const auto stat = procfs::stat_of(pid);
    return stat ? families_->place_in_pool(stat->id) : std::string();
  }
  const auto text = read_text_at(AT_FDCWD, "/proc/" + std::to_string(pid) + "/cgroup");
  return text ? group_stock_.job_in(cgroup::group_in_pool(*text, tree_name_)) : std::string();
}

Result<cgroup::Leaf> Supervisor::make_group(const std::string& name, const Limits& limits) {
  return make_group_in(*pool_, name, limits);
}

Result<cgroup::Leaf> Supervisor::make_group_in(cgroup::Inner& parent, const std::string& name,
                                               const Limits& limits) {
  auto leaf = parent.make_leaf(name, wanted_);
  if (!leaf) return leaf;
  if (auto applied = cgroup::apply_limits(*leaf, limits); !applied) {
    [[maybe_unused]] const auto ignored = parent.remove_child(name);
    return pass(std::move(applied));
  }
  return leaf;
}

// Those of the group, and of the pool where the group has no part, as jobs are only weighed
// together there.
Result<std::vector<UniqueFd>> Supervisor::entrances_of(const cgroup::Group& group) const {
  std::vector<UniqueFd> entrances;
  const auto add = [&](const cgroup::Directory& directory) -> Result<void> {
    if (directory.version() == cgroup::Version::v2) return {};
    auto file = cgroup::open_v1_entrance(directory);
    if (!file) return pass(std::move(file));
    entrances.push_back(std::move(*file));
    return {};
  };
  for (const cgroup::Group::Part& part : group.parts()) {
    if (auto added = add(part.directory); !added) return pass(std::move(added));
  }
  for (const cgroup::Group::Part& part : pool_->parts()) {
    if (has_part(group, part)) continue;
    if (auto added = add(part.directory); !added) return pass(std::move(added));
  }
  return entrances;
}

Result<guardian::ChildId> Supervisor::spawn_in(const cgroup::Group& group,
                                               guardian::SpawnRequest request,
                                               ChildObserver& observer) {
  std::vector<UniqueFd> entrances;  // open until the request is on its way
  if (request.v1_entrances.empty()) {
    auto opened = entrances_of(group);
    if (!opened) return pass(std::move(opened));
    entrances = std::move(*opened);
    for (const UniqueFd& entrance : entrances) request.v1_entrances.push_back(entrance.get());
  }
  if (const cgroup::Directory* v2 = group.v2()) request.v2_group = v2->fd();
  return spawn(std::move(request), observer);
}

void Supervisor::freeze_all() {
  if (families_ != nullptr) {
    families_->freeze_all();
  } else if (!all_frozen_) {
    auto frozen = cgroup::FreezeGuard::freeze(*pool_);
    if (frozen) all_frozen_ = std::move(*frozen);
  }
}

void Supervisor::thaw_all() {
  all_frozen_.reset();
  if (families_ != nullptr) families_->thaw_all();
}

}  // namespace plimsoll::supervisor

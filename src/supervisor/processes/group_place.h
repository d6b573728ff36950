#pragma once

#include <memory>
#include <optional>
#include <string>

#include "kernel/cgroup/freeze.h"
#include "kernel/cgroup/group.h"
#include "supervisor/processes/cgroup_process_set.h"
#include "supervisor/processes/mover.h"
#include "supervisor/processes/place.h"

namespace plimsoll::supervisor {

// A cgroup that processes are moved into.
class GroupPlace : public Place {
 public:
  // What `deps` names and `mover` must outlive this. `path`: of the group, as /proc/PID/cgroup
  // ends.
  GroupPlace(const CgroupProcessSet::Deps& deps, Mover& mover, cgroup::Leaf group,
             std::string path);
  ~GroupPlace() override;

  [[nodiscard]] const std::string& name() const override { return group_->name(); }
  void take_in(Newcomer process, std::function<void(const Result<void>&)> done) override;
  void move_all(const std::shared_ptr<const Place>& other, std::function<void()> done) override;
  // The process itself, in every hierarchy that the group is in: one that is elsewhere in any
  // belongs to somebody else as well.
  [[nodiscard]] bool has(int pid) const override;
  [[nodiscard]] bool is_populated() const override;
  bool hold() override;
  [[nodiscard]] bool keep_held() override;
  void let_go() override { frozen_.reset(); }
  void kill() override;
  [[nodiscard]] bool stops_are_seen() const override { return false; }
  [[nodiscard]] std::unique_ptr<ProcessSet> process_set(ProcessSetObserver& observer) override;
  void remove() override { mover_.remove(group_); }

  [[nodiscard]] const cgroup::Leaf& group() const { return *group_; }

 private:
  CgroupProcessSet::Deps deps_;
  Mover& mover_;
  std::shared_ptr<const cgroup::Leaf> group_;
  std::string path_;
  std::optional<cgroup::FreezeGuard> frozen_;
};

}  // namespace plimsoll::supervisor

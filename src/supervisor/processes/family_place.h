#pragma once

#include <memory>
#include <string>

#include "base/loop/loop.h"
#include "supervisor/processes/child_spawner.h"
#include "supervisor/processes/family.h"
#include "supervisor/processes/place.h"

namespace plimsoll::supervisor {

// A family of processes, stopped by SIGSTOP, where no cgroup can be made. Nothing here waits.
class FamilyPlace : public Place {
 public:
  // All must outlive this.
  FamilyPlace(ChildSpawner& spawner, loop::Loop& loop, Families& families, std::string name,
              Families::Counts counts);
  ~FamilyPlace() override;

  [[nodiscard]] const std::string& name() const override { return family_->job(); }
  void take_in(Newcomer process, std::function<void(const Result<void>&)> done) override;
  void has_seen(const procfs::Id& process) override;
  void move_all(const std::shared_ptr<const Place>& other, std::function<void()> done) override;
  [[nodiscard]] bool has(int pid) const override;
  [[nodiscard]] bool is_populated() const override;
  bool hold() override;
  [[nodiscard]] bool keep_held() override { return family_->all().keep_held(family_->id()); }
  void let_go() override;
  void kill() override { family_->all().process_scanner().kill(family_->id()); }
  [[nodiscard]] bool stops_are_seen() const override { return true; }
  void exempt() override { family_->exempt(); }
  [[nodiscard]] std::unique_ptr<ProcessSet> process_set(ProcessSetObserver& observer) override;
  void remove() override {}

 private:
  ChildSpawner& spawner_;
  loop::Loop& loop_;
  std::shared_ptr<Family> family_;
  bool is_held_ = false;
};

}  // namespace plimsoll::supervisor

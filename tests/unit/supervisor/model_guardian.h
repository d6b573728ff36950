#pragma once

#include <fcntl.h>
#include <unistd.h>

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "supervisor/processes/child_spawner.h"
#include "supervisor/processes/process_set.h"

// A guardian that does as the test says: what it was asked for is there to be read, and what it
// tells of its child it tells when the test says so.
namespace plimsoll::supervisor::model {

class Guardian : public ChildSpawner {
 public:
  Result<guardian::ChildId> spawn(guardian::SpawnRequest request,
                                  ChildObserver& observer) override {
    if (no_spawn) return tl::unexpected(*no_spawn);
    asked.push_back(std::move(request));
    observer_ = &observer;
    return guardian::ChildId{asked.size()};
  }
  Result<guardian::ChildId> spawn_in(const cgroup::Group& group, guardian::SpawnRequest request,
                                     ChildObserver& observer) override {
    into.push_back(group.name());
    return spawn(std::move(request), observer);
  }

  void born(int pid = 4711) {
    observer_->on_started({.id = child(),
                           .pid = pid,
                           .birth = guardian::Birth::in_group,
                           .pidfd = UniqueFd(::open("/dev/null", O_RDONLY | O_CLOEXEC))});
  }
  void not_born() {
    observer_->on_start_failed({.id = child(),
                                .step = guardian::SpawnStep::exec,
                                .code = std::errc::no_such_file_or_directory});
  }
  void exited(int code) { end(code, false); }
  // Somebody has come to the guardian, of this job or another.
  void exited_beside_others(int code) { end(code, true); }

  std::vector<guardian::SpawnRequest> asked;
  std::vector<std::string> into;  // the groups of spawn_in()
  std::optional<Error> no_spawn;  // why it can't be

 private:
  [[nodiscard]] guardian::ChildId child() const { return guardian::ChildId{asked.size()}; }
  void end(int code, bool leaves_others) {
    observer_->on_exited({.id = child(),
                          .status = {guardian::WaitStatus::Kind::exited, code},
                          .usage = {},
                          .leaves_others = leaves_others});
  }

  ChildObserver* observer_ = nullptr;
};

// What a process set has told, in order.
struct Listener : ProcessSetObserver {
  void on_started(guardian::Started started) override {
    told.push_back("started " + std::to_string(started.pid));
  }
  void on_start_failed(const guardian::StartFailed&) override { told.emplace_back("not started"); }
  void on_exited(const guardian::Exited& exited) override {
    told.push_back("exited " + std::to_string(exited.status.value));
  }
  void on_oom() override { told.emplace_back("oom"); }
  void on_vacated(std::optional<guardian::WaitStatus> /*main*/) override {
    told.emplace_back("vacated");
  }
  void on_empty() override { told.emplace_back("empty"); }
  void on_stuck(const reap::Stuck& stuck) override {
    told.push_back("stuck " + std::to_string(stuck.processes.size()));
  }
  void on_gone(const reap::Reaped& reaped) override {
    told.emplace_back("gone");
    end = reaped;
  }
  // Takes what was told so far.
  std::vector<std::string> take() { return std::exchange(told, {}); }

  std::vector<std::string> told;
  std::optional<reap::Reaped> end;
};

}  // namespace plimsoll::supervisor::model

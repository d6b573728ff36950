#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "base/result.h"
#include "base/unique_fd.h"
#include "guardian/spawner.h"
#include "kernel/cgroup/group.h"
#include "supervisor/child_observer.h"
#include "supervisor/supervisor.h"

// Self-tests of the kernel run on a process of their own, in a group of their own in the pool of a
// run: what they leave goes with the run.
namespace plimsoll::supervisor {

// How long a probe waits for what takes well under a millisecond on an idle machine: an emulated
// one that reads the shell from a slow disk takes seconds.
inline constexpr Duration kProbePatience = std::chrono::seconds(10);

// Turns the machine's loop until `holds()`; false after kProbePatience. Looks without a pause in
// the first millisecond, so that short times come out right.
Result<bool> turn_until(Supervisor& supervisor, const std::function<bool()>& holds);

// A process that does nothing in a leaf until it is killed or this is destroyed.
class ProbeChild {
 public:
  // Through the guardian, as every job; returns when its program has started. The leaf must live as
  // long as this.
  static Result<ProbeChild> start(Supervisor& supervisor, const cgroup::Leaf& leaf);

  ProbeChild(ProbeChild&&) noexcept = default;
  ProbeChild& operator=(ProbeChild&&) = delete;
  ~ProbeChild();

  [[nodiscard]] guardian::Birth birth() const { return told_->started->birth; }

 private:
  // What the guardian has told so far.
  struct Told : ChildObserver {
    void on_started(guardian::Started with) override { started = std::move(with); }
    void on_start_failed(const guardian::StartFailed& failure) override { failed = failure; }
    void on_exited(const guardian::Exited& /*exited*/) override {}
    std::optional<guardian::Started> started;
    std::optional<guardian::StartFailed> failed;
  };

  ProbeChild(Supervisor& supervisor, guardian::ChildId child, std::unique_ptr<Told> told,
             UniqueFd input)
      : machine_(&supervisor), child_(child), told_(std::move(told)), input_(std::move(input)) {}

  Supervisor* machine_;
  guardian::ChildId child_;
  std::unique_ptr<Told> told_;  // null after being moved from
  UniqueFd input_;              // closing it ends the process
};

}  // namespace plimsoll::supervisor

#pragma once

#include <functional>
#include <memory>
#include <string>

#include "supervisor/host_scheduler.h"
#include "supervisor/external/guests.h"
#include "supervisor/external/process_look.h"
#include "supervisor/machine.h"

namespace plimsoll::daemon {

// Guests as part of a host scheduler: what they ask for goes to the host scheduler, what the host scheduler decides about them
// comes back.
class GuestDesk : public supervisor::JobOwner {
 public:
  // All must outlive this; `next_id` gives numbers that are new to the host scheduler. Before the host scheduler's
  // first guest.
  GuestDesk(supervisor::Machine& machine, supervisor::HostScheduler& host_scheduler, std::function<JobId()> next_id,
            std::function<void(const report::JobReport&)> ended);

  [[nodiscard]] supervisor::Guests& guests() { return guests_; }
  [[nodiscard]] const supervisor::Guests& guests() const { return guests_; }

  supervisor::Prepared prepare(const policy::Start& start) override;
  void on_event(const policy::Event& event) override { guests_.on_event(event); }
  void on_job_over(const policy::JobOver& over) override { guests_.on_job_over(over); }
  void on_gone(const supervisor::AttemptGone& /*gone*/) override {}
  void on_stuck(supervisor::AttemptKey /*key*/, const reap::Stuck& /*stuck*/) override {}

 private:
  [[nodiscard]] supervisor::GuestHooks hooks(std::function<JobId()> next_id,
                                             std::function<void(const report::JobReport&)> ended);
  Result<std::unique_ptr<supervisor::Habitat>> open_place(const supervisor::GuestPlace& place,
                                                          const supervisor::Peer& peer);

  supervisor::Machine& machine_;
  supervisor::HostScheduler& host_scheduler_;
  std::shared_ptr<supervisor::ProcessLook> processes_;  // of all places; from the first one on
  supervisor::Guests guests_;
};

}  // namespace plimsoll::daemon

#pragma once

#include <functional>
#include <memory>
#include <string>

#include "engine/crew.h"
#include "engine/guests.h"
#include "engine/machine.h"
#include "engine/process_look.h"

namespace plimsoll::daemon {

// Guests as part of a crew: what they ask for goes to the crew, what the crew decides about them
// comes back.
class GuestDesk : public engine::JobOwner {
 public:
  // All must outlive this; `next_id` gives numbers that are new to the crew. Before the crew's
  // first guest.
  GuestDesk(engine::Machine& machine, engine::Crew& crew, std::function<JobId()> next_id,
            std::function<void(const record::JobReport&)> ended);

  [[nodiscard]] engine::Guests& guests() { return guests_; }
  [[nodiscard]] const engine::Guests& guests() const { return guests_; }

  engine::Prepared prepare(const policy::Start& start) override;
  void on_event(const policy::Event& event) override { guests_.on_event(event); }
  void on_conducted(const engine::JobOver& over) override { guests_.on_conducted(over); }
  void on_gone(const engine::AttemptGone& /*gone*/) override {}
  void on_stuck(engine::AttemptKey /*key*/, const reap::Stuck& /*stuck*/) override {}

 private:
  [[nodiscard]] engine::GuestHooks hooks(std::function<JobId()> next_id,
                                         std::function<void(const record::JobReport&)> ended);
  Result<std::unique_ptr<engine::Habitat>> open_place(const engine::GuestPlace& place,
                                                      const engine::Peer& peer);

  engine::Machine& machine_;
  engine::Crew& crew_;
  std::shared_ptr<engine::ProcessLook> processes_;  // of all places; from the first one on
  engine::Guests guests_;
};

}  // namespace plimsoll::daemon

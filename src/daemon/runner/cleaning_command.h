#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "daemon/runner/lanes.h"
#include "supervisor/attempt.h"
#include "supervisor/supervisor.h"

namespace plimsoll::daemon {

// The command that cleans between actions. It is nobody's job.
class CleaningCommand {
 public:
  virtual ~CleaningCommand() = default;
  // Tells how it went in a turn of the loop of its own, once nothing of it is left. One at a time.
  virtual void run(const std::vector<std::string>& argv, Lanes::Done done) = 0;
};

// As a process of this machine, in a group of its own beside those of jobs.
class CleaningAttempt : public CleaningCommand, private supervisor::AttemptObserver {
 public:
  // `supervisor` must outlive this.
  explicit CleaningAttempt(supervisor::Supervisor& supervisor);
  void run(const std::vector<std::string>& argv, Lanes::Done done) override;

 private:
  // The attempt is destroyed when the next is made: not from within this call.
  void on_gone(const supervisor::AttemptResult& result) override;
  void on_stuck(const reap::Stuck& /*stuck*/) override {}

  supervisor::Supervisor& supervisor_;
  UniqueFd null_input_;
  std::unique_ptr<supervisor::Attempt> last_;
  Lanes::Done done_;  // of that
  std::uint64_t runs_ = 0;
};

}  // namespace plimsoll::daemon

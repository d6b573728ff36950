#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "kernel/procfs/parse.h"
#include "policy/job/job.h"
#include "report/report.h"

namespace plimsoll::govern {

class StepsObserver {
 public:
  StepsObserver() = default;
  StepsObserver(const StepsObserver&) = delete;
  StepsObserver& operator=(const StepsObserver&) = delete;
  virtual ~StepsObserver() = default;
  // A step with a group of its own has ended. Not of one that has turned out to be a driver, nor of
  // one that its launcher runs again.
  virtual void on_step_ended(const policy::JobSpec& step, const report::JobReport& report) = 0;
  virtual void on_notice(const std::string& text) = 0;
  // As ExecObserver::on_blind().
  virtual void on_blind(const Error& why) = 0;
  // Whether the process, which was found by a look, is the command itself.
  [[nodiscard]] virtual bool is_command(int pid) const = 0;
  // The step that was found has ended before it had a place: these processes, which were told as
  // within it, are to be told again as far as they live.
  virtual void on_missed(const std::vector<procfs::Id>& processes) = 0;
};

// One in which somebody lives and that does not wait.
struct RunningStep {
  std::optional<int> pid;  // of its first process; absent: a launcher's
  std::string command;
};

// How many there were, without those that have turned out to be drivers.
struct StepCounts {
  std::uint64_t begun = 0;
  std::uint64_t small = 0;  // that had no group of their own
  std::uint64_t held = 0;   // that did not start at once
  std::uint64_t again = 0;  // times that a launcher was to run one again; they are begun once
};

// The numbers of steps, from 1.
class StepNumbers {
 public:
  [[nodiscard]] JobId next() { return JobId{++last_}; }

 private:
  std::uint64_t last_ = 0;
};

}  // namespace plimsoll::govern

#pragma once

#include <memory>
#include <string>

#include "cli/progress/notices.h"
#include "policy/estimator/attempt_summary.h"
#include "policy/job/event.h"
#include "report/report.h"
#include "store/runs/run_recorder.h"
#include "supervisor/run/knowledge.h"

namespace plimsoll::cli {

// What a run knows of earlier ones and leaves for later ones: the history and its own record. What
// goes wrong with them is told and costs the run nothing else.
class RunMemory {
 public:
  // Reads the history, as Knowledge::remember(). A run without jobs is not recorded. `notices`
  // must outlive this. Starts threads: after the guardian has split off.
  RunMemory(report::RunStart start, Notices& notices);
  ~RunMemory();

  [[nodiscard]] policy::Estimator& estimator() { return knowledge_.estimator(); }

  void learnt(const policy::AttemptSummary& attempt_summary) { knowledge_.learnt(attempt_summary); }
  void event(const policy::Event& event);
  void job(const report::JobReport& report);
  // The run has another line.
  void line(Bytes line);
  // Waits for the disk.
  void finish(const report::RunSummary& summary);

 private:
  void pass_notices();

  Notices& notices_;  // where what goes wrong is told
  supervisor::Knowledge knowledge_;
  std::unique_ptr<report::RunRecorder> recorder_;
};

}  // namespace plimsoll::cli

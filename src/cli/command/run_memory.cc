#include "cli/command/run_memory.h"

#include "store/history/state_dir.h"

namespace plimsoll::cli {

RunMemory::RunMemory(report::RunStart start, Notices& notices)
    : notices_(notices), knowledge_([&notices](const std::string& text) { notices.note(text); }) {
  const auto directory = history::state_dir(history::state_environment());
  if (!directory) {
    notices_.note("this run is not recorded: " + directory.error().message());
    return;
  }
  knowledge_.remember(*directory);
  // There would be nothing to tell, and `last` would be no longer the run that people mean.
  if (start.meta.jobs == 0 && start.meta.kind != report::RunKind::governed) return;
  recorder_ =
      std::make_unique<report::RunRecorder>(history::runs_dir(*directory), std::move(start));
}

RunMemory::~RunMemory() = default;

void RunMemory::event(const policy::Event& event) {
  if (recorder_) recorder_->event(event);
}

void RunMemory::job(const report::JobReport& report) {
  if (recorder_) recorder_->job(report);
  pass_notices();
}

void RunMemory::line(Bytes line) {
  if (recorder_) recorder_->line(line);
}

void RunMemory::finish(const report::RunSummary& summary) {
  if (recorder_) {
    recorder_->finish(summary);
    recorder_->close();
  }
  knowledge_.finish();
  pass_notices();
}

void RunMemory::pass_notices() {
  if (!recorder_) return;
  while (const auto told = recorder_->take_notice()) notices_.note(*told);
}

}  // namespace plimsoll::cli

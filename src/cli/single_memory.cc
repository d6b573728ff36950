#include "cli/single_memory.h"

#include "base/loop/loop.h"
#include "cli/command/diagnostics.h"
#include "policy/job/attempt.h"
#include "store/history/state_dir.h"
#include "supervisor/run/input_sizes.h"
#include "supervisor/run/lesson.h"
#include "supervisor/wall_clock.h"

namespace plimsoll::cli {

SingleMemory::SingleMemory(loop::Loop& loop, const policy::JobSpec& job, SingleStart start,
                           Verbosity verbosity)
    : job_(job),
      start_(std::move(start)),
      verbosity_(verbosity),
      timer_(loop.timer([this] { begin(); })) {
  timer_.set(start_.begun + kFrom);
}

SingleMemory::~SingleMemory() = default;

void SingleMemory::begin() {
  begun_ = true;
  input_ = supervisor::InputSizes().of(job_);
  const auto directory = history::state_dir(history::state_environment());
  if (!directory) {
    notice("this run is not recorded: " + directory.error().message());
    return;
  }
  if (start_.kind == SingleKind::run) {
    report::RunStart record{.meta = {.run = start_.run_id,
                                     .kind = report::RunKind::single,
                                     .command_line = start_.command_line,
                                     .started = start_.started,
                                     .jobs = 1},
                            .begun = start_.begun,
                            .names = {}};
    if (start_.whole) {
      record.meta.line = start_.whole->line;
      record.meta.cores = start_.whole->cores;
    }
    recorder_ =
        std::make_unique<report::RunRecorder>(history::runs_dir(*directory), std::move(record));
    recorder_->event(event(policy::EventKind::started, start_.begun, "attempt 1"));
  }
  directory_ = *directory;
}

void SingleMemory::open_history() {
  if (!directory_) return;
  auto opened = history::Store::open(history::history_path(*directory_), supervisor::wall_now());
  if (!opened)
    return notice("this command is not added to the history: " + opened.error().message());
  if (opened->notice) notice(*opened->notice);
  history_.emplace(std::move(opened->store));
}

policy::Event SingleMemory::event(policy::EventKind kind, Instant at, std::string reason) const {
  return {.at = at, .kind = kind, .job = job_.id, .reason = std::move(reason)};
}

void SingleMemory::ended(const supervisor::AttemptResult& result, const report::JobReport& report,
                         const std::vector<counters::SystemSample>& system) {
  timer_.off();
  const bool is_worth_it = !job_.job_class.empty() || !policy::succeeded(result.end);
  if (!begun_ && is_worth_it) begin();
  open_history();
  if (auto lesson = supervisor::lesson_of(job_, result, input_); history_ && lesson) {
    history_->add(std::move(*lesson), supervisor::wall_now());
  }
  if (recorder_) {
    const Instant now = loop::now();
    recorder_->event(event(policy::EventKind::ended, now, policy::describe(result.end)));
    recorder_->job(report);
    report::RunSummary summary;
    summary.run = start_.run_id;
    summary.makespan = now - start_.begun;
    summary.jobs = 1;
    summary.succeeded = policy::succeeded(result.end) ? 1 : 0;
    summary.outcomes = {{report.outcome, 1}};
    summary.used_peak = result.usage.totals.memory.peak;
    summary.started = start_.begun;
    summary.system_samples = system;
    summary.cpu_usage = result.usage.totals.cpu.usage;
    summary.machine = report.machine;
    recorder_->finish(std::move(summary));
    recorder_->close();
  }
  if (history_) history_->finish();
  pass_notices();
}

void SingleMemory::notice(const std::string& text) const {
  if (verbosity_ != Verbosity::quiet) complain("run: " + text);
}

void SingleMemory::pass_notices() {
  while (const auto told = recorder_ ? recorder_->take_notice() : std::nullopt) notice(*told);
  while (const auto told = history_ ? history_->take_notice() : std::nullopt) notice(*told);
}

}  // namespace plimsoll::cli

#include "cli/govern/governed_command.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <string_view>
#include <utility>

#include "base/quantity.h"
#include "base/text.h"
#include "cli/command/diagnostics.h"
#include "cli/command/exit_status.h"
#include "cli/command/meeting.h"
#include "cli/progress/frame.h"
#include "cli/progress/terminal.h"
#include "policy/job/attempt.h"
#include "report/json.h"
#include "report/plain.h"
#include "report/summary.h"
#include "supervisor/capacity.h"
#include "supervisor/reporting.h"
#include "supervisor/sharing/ledger_place.h"
#include "supervisor/sharing/runtime_dir.h"
#include "supervisor/wall_clock.h"

namespace plimsoll::cli {
namespace {

// Of `plimsoll exec`, as the kernel has it.
constexpr std::string_view kOwnName = "plimsoll";

std::string outcome_text(const supervisor::AttemptResult& ended) {
  const bool says_more = ended.end.outcome != policy::Outcome::signalled && !ended.reason.empty();
  return policy::describe(ended.end) + (says_more ? ": " + ended.reason : "");
}

}  // namespace

void PlainNotices::note(const std::string& text) { complain(text); }

GovernedCommand::GovernedCommand(supervisor::Supervisor& supervisor, const GovernOptions& options,
                                 std::optional<report::OutputFile> report,
                                 govern::GovernConfig config,
                                 const std::vector<std::string>& command_line)
    : supervisor_(supervisor),
      options_(options),
      whole_{.line = config.scheduler.governor.line, .cores = config.scheduler.governor.cores},
      run_id_(config.run_id),
      begun_(loop::now()),
      top_jobs_(report::kHeaviestListed),
      memory_({.meta = {.run = run_id_,
                        .kind = report::RunKind::governed,
                        .command_line = command_line,
                        .started = supervisor::wall_now(),
                        .line = whole_.line,
                        .cores = whole_.cores},
               .begun = begun_,
               .names = {}},
              notices_),
      run_(supervisor, memory_.estimator(), std::move(config), *this) {
  if (!report) return;
  report_.emplace(std::move(*report));
  report_->begin(supervisor.loop());
}

GovernedCommand::~GovernedCommand() = default;

Result<int> GovernedCommand::run() {
  Meeting meeting{.ledger = lease()};
  meeting.control = start_control();
  tell_missed(meeting, notices_);
  hear_launchers();
  start_progress();
  auto end = run_.run();
  progress_.reset();
  control_.reset();
  if (!end) return pass(std::move(end));
  if (lease_) end->summary.line = lease_->shared().line;
  memory_.finish(end->summary);
  finish_report(end->summary);
  tell_left(end->command);
  print_end(*end);
  const supervisor::AttemptResult& ended = end->command;
  const auto asked = supervisor_.asked_to_end();
  const bool of_it = ended.end.outcome == policy::Outcome::signalled && ended.end.signal == asked;
  return asked && of_it ? supervisor_.die_of(*asked) : exit_status_of(ended);
}

// Alone on the machine until somebody else comes.
Result<void> GovernedCommand::lease() {
  if (options_.standalone) return {};
  auto ledger = supervisor::Ledger::join(supervisor::open_ledger(), run_id_);
  if (!ledger) return pass(std::move(ledger));
  lease_.emplace(supervisor_.loop(), std::move(*ledger), whole_, supervisor::LeaseRole::run,
                 holder_);
  return {};
}

Result<void> GovernedCommand::start_control() {
  auto control = supervisor::Control::start(
      supervisor_.loop(), {.run_id = run_id_, .directory = supervisor::runtime_dir()}, *this);
  if (!control) return pass(std::move(control));
  control_ = std::move(*control);
  return {};
}

// Told here, once: launchers find nobody then, and say nothing. What is wrong with the directory
// has been told by then.
void GovernedCommand::hear_launchers() {
  const auto hears = run_.hear_launchers();
  if (hears || control_ == nullptr || options_.verbosity == Verbosity::quiet) return;
  notices_.note("`plimsoll exec` starts at once what it launches: " + hears.error().message());
}

void GovernedCommand::start_progress() {
  if (!options_.progress) return;
  auto line = ProgressLine::start(supervisor_.loop(), [this] { return status_line(status()); });
  if (line) {
    progress_ = std::move(*line);
  } else {
    notices_.note("--progress shows nothing here: " + line.error().message() +
                  "; `plimsoll top` in another terminal shows the steps");
  }
}

supervisor::RunStatus GovernedCommand::status() const {
  const govern::StepCounts& counts = run_.counts();
  return supervisor::run_status(run_.scheduler().status(),
                                {.run = run_id_,
                                 .elapsed = loop::now() - begun_,
                                 .ended = {.total = counts.begun - counts.small,
                                           .succeeded = top_jobs_.succeeded(),
                                           .failed = top_jobs_.jobs() - top_jobs_.succeeded()},
                                 .commands = top_jobs_.commands()},
                                *this);
}

const policy::JobSpec& GovernedCommand::spec_of(JobId step) const {
  const policy::JobSpec* spec = run_.spec_of(step);
  return spec == nullptr ? unknown_ : *spec;
}

Result<JobId> GovernedCommand::find(std::string_view job) const {
  const auto number = to_u64(job);
  if (number && run_.spec_of(JobId{*number}) != nullptr) return JobId{*number};
  return fail("there is no step \"" + std::string(job) + "\" that runs or waits");
}

Result<Bytes> GovernedCommand::set_line(std::string_view size) {
  auto amount = supervisor::parse_memory_amount(size);
  if (!amount) return pass(std::move(amount));
  auto line = supervisor::line_of(*amount, supervisor_);
  if (!line) return line;
  whole_.line = *line;
  memory_.line(*line);
  const std::string reason = "the user set the line to " + format_bytes(*line);
  if (lease_) lease_->set_line(*line, reason);
  if (!lease_) run_.scheduler().set_line(*line, reason);
  return *line;
}

Result<void> GovernedCommand::set_jobs_max(unsigned jobs) {
  if (auto fits = supervisor::check_jobs_at_once(jobs); !fits) return fits;
  run_.scheduler().set_jobs_max(jobs);
  return {};
}

void GovernedCommand::on_event(const policy::Event& event) {
  memory_.event(event);
  if (lease_ && event.kind == policy::EventKind::started) lease_->has_grown();
}

void GovernedCommand::on_step_ended(const policy::JobSpec& /*step*/,
                                    const report::JobReport& report) {
  top_jobs_.add(report);
  memory_.job(report);
  if (!report_) return;
  if (const auto told = report_->add(report)) notices_.note(*told);
}

void GovernedCommand::finish_report(const report::RunSummary& summary) {
  if (!report_) return;
  if (const auto told = report_->finish(summary)) notices_.note(*told);
}

// Drivers that ran on when the command had ended; of steps the run tells, and so it does of what
// launchers had started.
void GovernedCommand::tell_left(const supervisor::AttemptResult& ended) {
  std::vector<report::LeftBehind> drivers = ended.left_behind;
  std::erase_if(drivers, [](const auto& left) { return left.comm == kOwnName; });
  const bool is_quiet = options_.verbosity == Verbosity::quiet;
  if (drivers.empty() || is_quiet || supervisor_.asked_to_end()) return;
  constexpr std::size_t kNamed = 5;
  std::string text = "the command left " + counted(drivers.size(), "process", "processes") +
                     " running, killed now: ";
  for (std::size_t i = 0; i < drivers.size() && i < kNamed; ++i) {
    const report::LeftBehind& left = drivers[i];
    text +=
        (i == 0 ? "" : ", ") + report::printable(left.comm) + " (" + std::to_string(left.pid) + ")";
  }
  notices_.note(text + (drivers.size() > kNamed ? ", ..." : ""));
}

void GovernedCommand::print_end(const govern::GovernEnd& end) const {
  const policy::Outcome outcome = end.command.end.outcome;
  const bool is_quiet = options_.verbosity == Verbosity::quiet;
  if (outcome == policy::Outcome::failed_to_start || is_quiet) {
    if (outcome != policy::Outcome::exited) complain("the command " + outcome_text(end.command));
    return;
  }
  const std::string text =
      run_.has_steps() ? summary_text(end.summary) : measured_text(end.command);
  std::fwrite(text.data(), 1, text.size(), stderr);
}

std::string GovernedCommand::summary_text(const report::RunSummary& summary) const {
  // Command lines of compilers have thousands of characters.
  constexpr std::size_t kWidthMax = 160;
  report::TextStyle style = stderr_style();
  style.width = std::min(style.width, kWidthMax);
  const Bytes least{summary.line.value_or(Bytes{}).count / report::kHeavyShare};
  return report::heaviest_table(top_jobs_, {.by = report::Weight::memory, .from = least}, style) +
         report::run_text(summary, top_jobs_, style);
}

// As `plimsoll run` tells it.
std::string GovernedCommand::measured_text(const supervisor::AttemptResult& ended) const {
  policy::JobSpec job;
  job.command = options_.command;
  const report::JobReport report = supervisor::report_of({.job = job,
                                                          .attempts = {},
                                                          .last = &ended,
                                                          .outcome = ended.end.outcome,
                                                          .reason = ended.reason,
                                                          .machine = {}},
                                                         supervisor_.describe());
  return report::job_summary(report, stderr_style());
}

}  // namespace plimsoll::cli

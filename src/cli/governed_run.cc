#include "cli/governed_run.h"

#include <unistd.h>

#include <cstdio>

#include "base/quantity.h"
#include "base/text.h"
#include "cli/command/exit_status.h"
#include "cli/command/meeting.h"
#include "cli/progress/terminal.h"
#include "kernel/cgroup/run_tree.h"
#include "policy/job/attempt.h"
#include "report/json.h"
#include "report/plain.h"
#include "report/summary.h"
#include "supervisor/capacity.h"
#include "supervisor/light/group_members.h"
#include "supervisor/light/light_protocol.h"
#include "supervisor/reporting.h"
#include "supervisor/sharing/ledger_place.h"
#include "supervisor/sharing/runtime_dir.h"
#include "supervisor/wall_clock.h"

namespace plimsoll::cli {
namespace {

// Where the display draws on the terminal that jobs write to as well, they write through it.
std::optional<output::Screen> screen_of(Display& display, int out) {
  output::Screen screen{.print =
                            [&display](std::string piece, std::function<void(Result<void>)> done) {
                              display.print_above(std::move(piece), std::move(done));
                            },
                        .shows_out = display.owns(out),
                        .shows_err = display.owns(STDERR_FILENO)};
  if (!screen.shows_out && !screen.shows_err) return std::nullopt;
  return screen;
}

// Ends that a job's own output says nothing of.
bool is_plimsolls(policy::Outcome outcome) {
  using policy::Outcome;
  return outcome == Outcome::failed_to_start || outcome == Outcome::over_limit ||
         outcome == Outcome::over_line || outcome == Outcome::timed_out;
}

bool has_limits(const Limits& limits) {
  return limits.memory_max || limits.memory_high || limits.swap_max || limits.cpus ||
         limits.cpuset || limits.pids_max || !limits.io_max.empty();
}

// How to run what a halt or Ctrl-C has left; nothing if all have come to an end of their own.
std::string left_text(const report::RunSummary& summary, const BatchOptions& options) {
  std::uint64_t unstarted = 0, killed = 0;
  for (const auto& [outcome, jobs] : summary.outcomes) {
    if (outcome == policy::Outcome::skipped) unstarted += jobs;
    if (outcome == policy::Outcome::cancelled || policy::was_lost(outcome)) killed += jobs;
  }
  const std::uint64_t left = unstarted + killed;
  if (left == 0) return {};
  std::string text = "plimsoll: " + counted(left, "job is left: ", "jobs are left: ");
  const bool was_killed = killed > 0;  // and is in the job log, as failed
  const char* again = was_killed ? "--resume-failed" : "--resume";
  if (!options.joblog) {
    return text + "a run with --joblog FILE can be continued with " + again + "\n";
  }
  const bool goes_on =
      options.again == Again::failed_as_well || (options.again == Again::unlogged && !was_killed);
  text += "the same command";
  if (!goes_on) text += std::string(" with ") + again;
  return text + (left == 1 ? " runs it\n" : " runs them\n");
}

}  // namespace

GovernedRun::GovernedRun(supervisor::Supervisor& supervisor, const BatchOptions& options,
                         BatchFiles files, supervisor::BatchRunConfig config,
                         std::vector<std::string> command_line)
    : supervisor_(supervisor),
      options_(options),
      files_(std::move(files)),
      config_(std::move(config)),
      jobs_(config_.jobs),
      command_line_(std::move(command_line)),
      begun_(loop::now()),
      run_id_(config_.run_id),
      whole_{.line = config_.scheduler.governor.line, .cores = config_.scheduler.governor.cores},
      top_jobs_(options.heaviest.value_or(report::kHeaviestListed)) {
  for (const policy::JobSpec& job : jobs_) commands_.add(policy::command_line(job.command));
}

GovernedRun::~GovernedRun() = default;

Result<int> GovernedRun::run() {
  if (auto shown = start_display(); !shown) return pass(std::move(shown));
  memory_ = std::make_unique<RunMemory>(run_start(), *display_);
  config_.output.screen = screen_of(*display_, config_.output.out);
  // Set in any case, as it may be that of a run that this one is part of.
  config_.environment.emplace_back(supervisor::kLightVariable, light_socket());
  supervisor::BatchRunObserver& observer = *this;
  batch_ = std::make_unique<supervisor::BatchRun>(supervisor_, memory_->estimator(),
                                                  std::move(config_), observer);
  Meeting meeting{.ledger = lease()};
  meeting.control = start_control();
  tell_missed(meeting, *display_);
  serve_commands();
  auto summary = batch_->run();
  control_.reset();
  service_.reset();
  end_files();
  if (!summary) return pass(std::move(summary));
  summary->line = lease_ ? lease_->shared().line : whole_.line;
  memory_->finish(*summary);
  const auto trouble = files_.run_ended(*summary);
  if (trouble) display_->note(*trouble);
  display_->finish();
  print_end(*summary);
  if (const auto signal = supervisor_.asked_to_end()) return supervisor_.die_of(*signal);
  const auto& halted = batch_->scheduler().halted();
  const int status = halted ? exit_status_of(*halted)
                            : policy::batch_exit_status(top_jobs_.jobs() - top_jobs_.succeeded());
  return status == kSuccess && trouble ? kPlimsollFailed : status;
}

Result<void> GovernedRun::start_display() {
  const auto style = options_.quiet ? ProgressStyle::none : *parse_progress("auto");
  auto display = Display::start(supervisor_.loop(), {.style = options_.progress.value_or(style),
                                                     .begun = begun_,
                                                     .jobs = jobs_.size(),
                                                     .run = *this,
                                                     .commands = commands_});
  if (!display) return pass(std::move(display));
  display_ = std::move(*display);
  files_.begin_report(supervisor_.loop());
  if (EndsFile& ends = *this; files_.forces_ends()) synced_ends_.emplace(supervisor_.loop(), ends);
  return {};
}

const policy::JobSpec& GovernedRun::spec_of(JobId job) const {
  const policy::JobSpec* command = service_ ? service_->spec_of(job) : nullptr;
  return command != nullptr ? *command : batch_->spec_of(job);
}

void GovernedRun::on_force_failed(const Error& error) {
  display_->note(
      error.message() +
      "; the jobs continue, but a power failure may remove their lines from the job log");
}

report::RunStart GovernedRun::run_start() const {
  report::RunStart start{.meta = {.run = run_id_,
                                  .command_line = command_line_,
                                  .started = supervisor::wall_now(),
                                  .jobs = jobs_.size(),
                                  .line = whole_.line,
                                  .cores = whole_.cores},
                         .begun = begun_,
                         .names = {}};
  for (const policy::JobSpec& job : jobs_) {
    if (job.name != std::to_string(static_cast<std::uint64_t>(job.id))) {
      start.names.emplace(job.id, job.name);
    }
  }
  return start;
}

Result<void> GovernedRun::on_ready() { return files_.begin(options_); }

void GovernedRun::on_progress(const supervisor::Progress& /*progress*/) { display_->changed(); }

void GovernedRun::on_learnt(const policy::AttemptSummary& what) { memory_->learnt(what); }

void GovernedRun::on_stopping() { display_->suspend(); }

void GovernedRun::on_resumed() { display_->resume(); }

void GovernedRun::on_attempt_over(JobId job) {
  if (service_) service_->end_those_of(job);
}

const policy::JobSpec* GovernedRun::command(const policy::Event& event) const {
  return service_ && event.job ? service_->spec_of(*event.job) : nullptr;
}

// What becomes of commands of jobs is told to their launchers.
void GovernedRun::on_event(const policy::Event& event) {
  if (command(event) != nullptr) {
    display_->changed();
  } else {
    memory_->event(event);
    display_->event(event);
    trace(event);
  }
  if (lease_ && event.kind == policy::EventKind::started) lease_->has_grown();
}

void GovernedRun::on_notice(const std::string& text) { display_->note(text); }

void GovernedRun::trace(const policy::Event& event) {
  const bool traces = options_.trace || options_.verbose;
  if (!traces || event.kind != policy::EventKind::started || !event.job) return;
  display_->say(report::printable(policy::command_line(batch_->spec_of(*event.job).command)));
}

void GovernedRun::on_ended(const policy::JobSpec& job, const report::JobReport& report,
                           Bytes received) {
  top_jobs_.add(report);
  memory_->job(report);
  if (auto told = files_.job_ended(job, report, received)) display_->note(*told);
  // What never started has no line that could be lost.
  if (!synced_ends_ || report.outcome == policy::Outcome::skipped) return tell_end(job, report);
  report::JobReport kept = report;
  if (kept.usage) kept.usage->samples.clear();
  synced_ends_->add([this, &job, kept = std::move(kept)] { tell_end(job, kept); });
}

void GovernedRun::tell_end(const policy::JobSpec& job, const report::JobReport& report) {
  display_->ended(job, report);
  if (options_.quiet && is_plimsolls(report.outcome)) {
    display_->note("job " + report::printable(job.name) + ": " + report::printable(report.reason));
  }
}

void GovernedRun::end_files() {
  if (synced_ends_) synced_ends_->finish();
  if (auto told = files_.jobs_ended()) display_->note(*told);
  if (!synced_ends_ || synced_ends_->unforced() == 0) return;
  display_->note(counted(synced_ends_->unforced(), "job", "jobs") +
                 " may be missing from the job log after a power failure");
}

supervisor::RunStatus GovernedRun::status() const {
  const supervisor::Progress& progress = batch_->progress();
  return supervisor::run_status(batch_->scheduler().status(),
                                {.run = run_id_,
                                 .elapsed = loop::now() - begun_,
                                 .ended = {.total = progress.jobs,
                                           .succeeded = progress.succeeded,
                                           .failed = progress.failed,
                                           .skipped = progress.skipped},
                                 .commands = commands_},
                                *this);
}

// Alone on the machine until somebody else comes.
Result<void> GovernedRun::lease() {
  if (options_.standalone) return {};
  auto ledger = supervisor::Ledger::join(supervisor::open_ledger(), run_id_);
  if (!ledger) return pass(std::move(ledger));
  lease_.emplace(supervisor_.loop(), std::move(*ledger), whole_, supervisor::LeaseRole::run,
                 holder_.emplace(batch_->scheduler()));
  return {};
}

// Empty: this run governs no commands. In process mode a process can't leave its job.
std::string GovernedRun::light_socket() const {
  if (supervisor_.why_process_mode()) return {};
  return supervisor::runtime_dir() + "/" + supervisor::light_socket_name(run_id_);
}

void GovernedRun::serve_commands() {
  const std::string socket = light_socket();
  if (socket.empty()) return;
  small_commands_ =
      std::make_unique<supervisor::SmallCommands>(supervisor_.loop(), batch_->scheduler());
  supervisor::CommandsOwner& owner = *this;
  auto service =
      std::make_unique<supervisor::CommandService>(supervisor_, batch_->host_scheduler(), owner);
  if (auto listens = service->listen(socket); !listens) {
    // Told here, once: launchers find nobody then, and say nothing. What is wrong with the
    // directory has been told by then.
    if (control_ == nullptr || options_.quiet) return;
    return display_->note("`plimsoll exec` does not wait in jobs of this run: " +
                          listens.error().message());
  }
  service_ = std::move(service);
}

// A job with limits of its own keeps its commands, as they are to stay within them.
Result<const policy::JobSpec*> GovernedRun::job_of(int pid) {
  const auto& executor = batch_->host_scheduler().executor();
  const auto id = supervisor::running_job_of(pid, supervisor_.place_in_pool(pid),
                                             cgroup::run_name(run_id_), executor);
  const policy::JobSpec* job = id ? batch_->find_job(*id) : nullptr;
  if (job == nullptr) {
    return fail(std::errc::permission_denied, "the process is not part of a running job");
  }
  if (has_limits(job->limits)) {
    return fail(std::errc::permission_denied,
                "the job has limits of its own, which hold for its commands too");
  }
  return job;
}

bool GovernedRun::command_passes(const policy::JobSpec& command, int pid) {
  if (!small_commands_->passes(command, pid)) return false;
  batch_->command_passed();
  return true;
}

void GovernedRun::command_stuck(const std::string& name, const reap::Stuck& stuck) {
  display_->note("command " + report::printable(name) + ": " + supervisor::stuck_text(stuck));
}

Result<void> GovernedRun::start_control() {
  auto control = supervisor::Control::start(
      supervisor_.loop(), {.run_id = run_id_, .directory = supervisor::runtime_dir()}, *this);
  if (!control) return pass(std::move(control));
  control_ = std::move(*control);
  return {};
}

Result<JobId> GovernedRun::find(std::string_view job) const {
  return supervisor::find_job(jobs_, job);
}

Result<void> GovernedRun::pause(JobId job) { return batch_->scheduler().pause(job); }

Result<void> GovernedRun::resume(JobId job) { return batch_->scheduler().resume(job); }

Result<void> GovernedRun::kill(JobId job) {
  return batch_->scheduler().kill(job, "killed by the user");
}

Result<Bytes> GovernedRun::set_line(std::string_view size) {
  auto amount = supervisor::parse_memory_amount(size);
  if (!amount) return pass(std::move(amount));
  auto line = supervisor::line_of(*amount, supervisor_);
  if (!line) return line;
  whole_.line = *line;
  memory_->line(*line);
  const std::string reason = "the user set the line to " + format_bytes(*line);
  if (lease_) lease_->set_line(*line, reason);
  if (!lease_) batch_->scheduler().set_line(*line, reason);
  return *line;
}

Result<void> GovernedRun::set_jobs_max(unsigned jobs) {
  if (auto fits = supervisor::check_jobs_at_once(jobs); !fits) return fits;
  batch_->scheduler().set_jobs_max(jobs);
  return {};
}

void GovernedRun::print_end(const report::RunSummary& summary) const {
  if (options_.quiet) return;
  if (options_.progress == ProgressStyle::json) {
    const std::string line = report::to_json(summary, report::JsonForm::line);
    std::fwrite(line.data(), 1, line.size(), stderr);
    return;
  }
  if (jobs_.empty()) return;  // that was said at the start
  report::TextStyle style = stderr_style();
  if (options_.verbose) style.detail = report::Detail::verbose;
  std::string text;
  if (options_.heaviest) {
    text = report::heaviest_tables(top_jobs_, style);
  } else if (top_jobs_.jobs() > 1) {
    const Bytes least{summary.line.value_or(Bytes{}).count / report::kHeavyShare};
    text = report::heaviest_table(top_jobs_, {.by = report::Weight::memory, .from = least}, style);
  }
  text += report::run_text(summary, top_jobs_, style);
  const auto& halted = batch_->scheduler().halted();
  const bool is_enough = halted && exit_status_of(*halted) == kSuccess;
  if (batch_->scheduler().is_stopping() && !is_enough) text += left_text(summary, options_);
  std::fwrite(text.data(), 1, text.size(), stderr);
}

}  // namespace plimsoll::cli

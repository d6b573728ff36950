#include "supervisor/run/batch_run.h"

#include <fcntl.h>
#include <signal.h>

#include <algorithm>
#include <map>
#include <utility>

#include "base/quantity.h"
#include "supervisor/borrowed_rights.h"
#include "supervisor/reporting.h"
#include "supervisor/run/input_sizes.h"
#include "supervisor/run/run_summary.h"
#include "supervisor/wall_clock.h"

// A batch and its wall: what is told of it, and how the terminal stops the run.
namespace plimsoll::supervisor {
namespace {

std::string group_name(JobId job, unsigned attempt) {
  std::string name = "job-" + std::to_string(static_cast<std::uint64_t>(job));
  return attempt == 1 ? name : name + "." + std::to_string(attempt);
}

}  // namespace

// One attempt: live from its start until its group is removed and its output received.
struct BatchRun::AttemptRecord {
  unsigned number = 1;
  std::optional<output::Capture> capture;
  std::optional<policy::Requeue> requeue;         // set by its end, if the job is tried again
  std::optional<AttemptResult> result;            // once its group is removed
  std::optional<counters::MachineUsage> machine;  // likewise
  std::optional<Bytes> received;                  // once its pipes have ended
};

// What has to be known of a job until its end.
struct BatchRun::JobRecord {
  [[nodiscard]] AttemptRecord* live_one(unsigned number) {
    const auto found = live.find(number);
    return found == live.end() ? nullptr : found->second.get();
  }

  WallTime queued{};
  Instant waiting_since{};
  Duration held{}, paused{};
  std::map<unsigned, std::unique_ptr<AttemptRecord>> live;  // by number, as the next
  std::map<unsigned, report::AttemptReport> attempts;       // that are live no more
  std::unique_ptr<AttemptRecord> last;                      // the latest of those
  bool is_over = false;                                     // `last` was its end
};

BatchRun::BatchRun(RunHost& host, policy::Estimator& estimator, BatchRunConfig config,
                   BatchRunObserver& observer)
    : host_(host),
      config_(std::move(config)),
      observer_(observer),
      host_info_(host.describe()),
      begun_(host.now()),
      host_scheduler_(host, estimator, config_.scheduler, *this),
      guardian_watch_(host.loop(), [this](const std::string& text) { on_notice(text); }) {
  InputSizes sizes;
  for (const policy::JobSpec& job : config_.jobs) {
    places_.emplace(job.id, places_.size());
    config_.output.jobs.push_back(job.id);
    last_id_ = std::max(last_id_, static_cast<std::uint64_t>(job.id));
    JobRecord& record = records_[job.id];
    record.queued = wall_now();
    record.waiting_since = begun_;
    // Kept for its start, which must not wait for it.
    [[maybe_unused]] const auto account = accounts_.of(job.uid);
    host_scheduler_.enter(job, *this, sizes.of(job));
  }
  progress_.jobs = config_.jobs.size();
  summary_.run = config_.run_id;
  summary_.started = begun_;
  summary_.jobs = config_.jobs.size();
  summary_.oom_kills = 0;
}

BatchRun::~BatchRun() = default;

const policy::JobSpec& BatchRun::spec_of(JobId job) const { return config_.jobs[places_.at(job)]; }

const policy::JobSpec* BatchRun::find_job(JobId job) const {
  const auto found = places_.find(job);
  return found == places_.end() ? nullptr : &config_.jobs[found->second];
}

Result<report::RunSummary> BatchRun::run() {
  null_input_ = UniqueFd(::open("/dev/null", O_RDONLY | O_CLOEXEC));
  if (!null_input_) return fail_errno("open /dev/null");
  if (auto started = start_collector(); !started) return pass(std::move(started));
  if (auto ready = observer_.on_ready(); !ready) return pass(std::move(ready));
  host_.tell_signals(this);
  host_scheduler_.begin();
  Result<void> ran{};
  while (ran && (!host_scheduler_.is_idle() || live_ > 0)) {
    ran = host_scheduler_.run_once(Duration(-1));
    finished_.clear();
  }
  collector_->drain();
  while (ran && !drained_) ran = host_scheduler_.run_once(Duration(-1));
  host_.tell_signals(nullptr);
  add_pool_limits(summary_, host_scheduler_.wall(), host_.pool());
  host_scheduler_.end();
  if (!ran) return pass(std::move(ran));
  return summarise();
}

Result<void> BatchRun::start_collector() {
  auto collector = output::Collector::start(host_.loop(), config_.output, *this);
  if (!collector) return pass(std::move(collector));
  collector_ = std::move(*collector);
  return {};
}

void BatchRun::on_trouble(const output::Trouble& trouble) {
  const std::string whose =
      trouble.job ? "output of job " + spec_of(*trouble.job).name + ": " : "output: ";
  on_notice(whose + trouble.error.message() + "; " + trouble.consequence);
}

// As a command in a pipe ends when its reader has.
void BatchRun::on_lost(const output::Lost& lost) {
  on_notice("the output cannot be written: " + lost.error.message() + "; killing the running jobs");
  if (!host_scheduler_.scheduler().is_interrupted()) interrupt();
  interrupt();
}

Result<output::Opened> BatchRun::open_output(const policy::JobSpec& job, unsigned attempt,
                                             const std::optional<guardian::Identity>& identity) {
  output::AttemptSpec spec{
      .job = job.id, .attempt = attempt, .name = job.name, .tag = {}, .out = {}, .err = {}};
  if (config_.tag) {
    spec.tag = job.arguments.empty() ? job.name : std::string();
    for (const std::string& argument : job.arguments) {
      if (!spec.tag->empty()) *spec.tag += ' ';
      *spec.tag += argument;
    }
  }
  if (!job.stdout_path.empty()) spec.out = job.stdout_path;
  if (!job.stderr_path.empty()) spec.err = job.stderr_path;
  if (!identity || (!spec.out && !spec.err)) return collector_->open(spec);
  const auto rights = BorrowedRights::of(*identity);
  if (!rights) return tl::unexpected(rights.error());
  return collector_->open(spec);
}

// Its last attempt was its end after all: what that has written is its output. Its group may still
// be on its way out.
void BatchRun::give_up_on(JobId job) {
  JobRecord& record = records_.at(job);
  const bool is_settled =
      record.live.empty() ||
      (record.last != nullptr && record.last->number > record.live.rbegin()->first);
  AttemptRecord& latest = is_settled ? *record.last : *record.live.rbegin()->second;
  latest.requeue.reset();
  if (latest.capture) latest.capture->finish(output::Disposition::keep);
  record.is_over = is_settled;
  end_if_over(job);
}

// Its next attempt starts: what the earlier ones have written is nobody's output.
void BatchRun::discard_output_of(JobId job) {
  JobRecord& record = records_.at(job);
  if (record.last != nullptr) record.last->capture.reset();
  for (auto& [number, attempt] : record.live) attempt->capture.reset();
}

void BatchRun::on_job_over(const policy::JobOver& over) {
  if (over.gave_up) return give_up_on(over.job);
  if (!over.end) return end_job(over.job, policy::Outcome::skipped, over.reason, nullptr);
  JobRecord& record = records_.at(over.job);
  record.waiting_since = host_.now();
  AttemptRecord& latest = *record.live.rbegin()->second;
  latest.requeue = over.requeue;
  if (!latest.capture) {
    latest.received = Bytes{};
  } else if (latest.requeue) {
    // Kept until the next attempt starts: a halt can make this one the last.
    const output::Received received = latest.capture->so_far();
    latest.received = received.out + received.err;
  } else if (const auto received = latest.capture->finish(output::Disposition::keep)) {
    receive({over.job, latest.number}, *received);
  }
}

Prepared BatchRun::prepare(const policy::Start& start) {
  if (start.attempt > 1) discard_output_of(start.job);
  policy::JobSpec job = spec_of(start.job);
  job.command = policy::fill_slot(std::move(job.command), start.slot);
  job.env.emplace_back("PLIMSOLL_JOB", job.name);
  job.env.emplace_back("PLIMSOLL_SLOT", std::to_string(start.slot));
  // GNU parallel's names for the same two.
  job.env.emplace_back("PARALLEL_SEQ", std::to_string(static_cast<std::uint64_t>(start.job)));
  job.env.emplace_back("PARALLEL_JOBSLOT", std::to_string(start.slot));
  job.env.emplace_back("PLIMSOLL_ATTEMPT", std::to_string(start.attempt));
  job.env.insert(job.env.end(), config_.environment.begin(), config_.environment.end());

  JobRecord& record = records_.at(start.job);
  record.held += host_.now() - record.waiting_since;
  Prepared prepared;
  const auto known = accounts_.of(job.uid);
  const auto user = known ? *known : std::nullopt;
  AttemptRequest& request = prepared.request;
  request = request_for(job, group_name(start.job, start.attempt), user);
  request.spawn.plain = plain_commands_.words_of(job.command, request.spawn);
  request.kill_after = config_.kill_after;
  request.spawn.session = guardian::Session::own;
  request.spawn.descriptors = guardian::Descriptors::close;
  request.spawn.signals = guardian::Signals::set_default;
  request.spawn.stdio[0] = null_input_.get();
  auto attempt = std::make_unique<AttemptRecord>();
  attempt->number = start.attempt;
  if (!known) {
    prepared.refusal = known.error().message();
  } else if (auto output = open_output(job, start.attempt, request.spawn.identity)) {
    request.spawn.stdio[1] = output->out.get();
    request.spawn.stdio[2] = output->err.get();
    prepared.out = std::move(output->out);
    prepared.err = std::move(output->err);
    attempt->capture = std::move(output->capture);
  } else {
    prepared.refusal = output.error().message();
  }
  record.live.emplace(start.attempt, std::move(attempt));
  ++live_;
  ++progress_.running;
  tell_progress();
  return prepared;
}

void BatchRun::on_received(const output::Ended& ended) {
  receive({ended.job, ended.attempt}, ended.received);
}

void BatchRun::receive(AttemptKey key, const output::Received& received) {
  const auto record = records_.find(key.job);
  if (record == records_.end()) return;
  AttemptRecord* attempt = record->second.live_one(key.attempt);
  if (attempt == nullptr) return;
  attempt->received = received.out + received.err;
  settle(key);
}

void BatchRun::on_gone(const AttemptGone& gone) {
  AttemptRecord& attempt = *records_.at(gone.key.job).live_one(gone.key.attempt);
  attempt.result = gone.result;
  attempt.machine = gone.machine;
  settle(gone.key);
}

void BatchRun::on_stuck(AttemptKey key, const reap::Stuck& stuck) {
  on_notice("job " + spec_of(key.job).name + ": " + stuck_text(stuck));
}

// Everything of an attempt may be known now: then its job ends with it, or waits for the next.
void BatchRun::settle(AttemptKey key) {
  JobRecord& record = records_.at(key.job);
  const auto found = record.live.find(key.attempt);
  if (!found->second->result || !found->second->received) return;
  std::unique_ptr<AttemptRecord> attempt = std::move(found->second);
  record.live.erase(found);
  --live_;
  account(*attempt->result);
  const std::string whose = "job " + spec_of(key.job).name + ": ";
  if (const auto& left = attempt->result->usage.left) on_notice(whose + left_text(*left));
  if (const auto& objects = attempt->result->ipc_left; !objects.empty()) {
    on_notice(whose + ipc_text(objects));
  }
  record.attempts.emplace(key.attempt, short_report_of(*attempt->result));
  record.paused += attempt->result->paused;
  if (!attempt->requeue) {
    record.is_over = true;
  } else if (!record.is_over) {
    on_notice(whose + attempt->requeue->reason);
  }
  // One whose group was slow to go comes after the next.
  const bool is_latest = record.last == nullptr || record.last->number < attempt->number;
  if (is_latest) std::swap(record.last, attempt);
  if (attempt != nullptr) finished_.push_back(std::move(attempt));
  end_if_over(key.job);
}

void BatchRun::end_if_over(JobId job) {
  JobRecord& record = records_.at(job);
  if (!record.is_over || !record.live.empty()) return;
  const AttemptRecord& last = *finished_.emplace_back(std::move(record.last));
  end_job(job, last.result->end.outcome, last.result->reason, &last);
}

void BatchRun::account(const AttemptResult& result) {
  const counters::Sample& totals = result.usage.totals;
  if (totals.cpu.usage) {
    summary_.cpu_usage = summary_.cpu_usage.value_or(Duration{}) + *totals.cpu.usage;
  }
  *summary_.oom_kills += oom_kills_of(totals.memory.events);
}

void BatchRun::command_passed() { ++summary_.job_commands; }

void BatchRun::command_ended(const AttemptResult& result) {
  ++summary_.job_commands;
  account(result);
}

void BatchRun::end_job(JobId id, policy::Outcome outcome, const std::string& reason,
                       const AttemptRecord* last) {
  const policy::JobSpec& job = spec_of(id);
  JobRecord& record = records_.at(id);
  if (last == nullptr) record.held += host_.now() - record.waiting_since;
  JobEnd end{.job = job,
             .queued = record.queued,
             .held = record.held,
             .paused = record.paused,
             .attempts = {},
             .last = nullptr,
             .outcome = outcome,
             .reason = reason,
             .machine = {}};
  for (auto& [number, attempt] : record.attempts) end.attempts.push_back(std::move(attempt));
  for (const JobId need : job.needs) end.needs.push_back(spec_of(need).name);
  if (last != nullptr) {
    end.last = &*last->result;
    end.machine = last->machine;
  }
  report::JobReport report = report_of(end, host_info_);
  if (last != nullptr) report.output = output_paths_of(job, config_.output.results_dir);
  records_.erase(id);

  ++summary_.outcomes[outcome];
  if (outcome == policy::Outcome::skipped) {
    ++progress_.skipped;
  } else if (policy::succeeded(outcome, report.exit_code)) {
    ++progress_.succeeded;
  } else {
    ++progress_.failed;
  }
  collector_->close(id);
  observer_.on_ended(job, report, last == nullptr ? Bytes{} : *last->received);
  tell_progress();
}

void BatchRun::interrupt() {
  if (host_scheduler_.scheduler().is_interrupted()) {
    collector_->stop_waiting_for_room();
    host_scheduler_.give_up_removals();
  }
  host_scheduler_.scheduler().interrupt();
}

void BatchRun::on_signal(const guardian::Signalled& signal) {
  switch (signal.number) {
    case SIGINT:
      on_notice(host_scheduler_.scheduler().is_interrupted()
                    ? "interrupted again: killing the running jobs; a further Ctrl-C leaves "
                      "processes that do not die"
                    : "interrupted: no more jobs will start; press Ctrl-C again to kill the "
                      "running jobs");
      return interrupt();
    case SIGTERM:
    case SIGHUP:
    case SIGQUIT:
      on_notice("ended by SIG" + policy::signal_name(signal.number) + ": killing the running jobs");
      if (!host_scheduler_.scheduler().is_interrupted()) interrupt();
      return interrupt();
    case SIGTSTP: return pause_all();
    default: return;
  }
}

void BatchRun::tell_progress() { observer_.on_progress(progress_); }

report::RunSummary BatchRun::summarise() {
  summary_.makespan = host_.now() - begun_;
  summary_.succeeded = progress_.succeeded;
  summary_.line = config_.scheduler.governor.line;
  add_figures(summary_, host_scheduler_);
  return summary_;
}

// The jobs have sessions of their own, which the terminal's stop does not reach.
void BatchRun::pause_all() {
  if (!std::exchange(is_stopped_, true)) host_scheduler_.suspend_all();
  guardian_watch_.pause();
  observer_.on_stopping();
  host_.stop_guardian();
}

void BatchRun::on_resumed() {
  if (!std::exchange(is_stopped_, false)) return;
  guardian_watch_.resume();
  host_scheduler_.resume_all();
  observer_.on_resumed();
}

}  // namespace plimsoll::supervisor

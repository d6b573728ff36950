#include "supervisor/batch_run.h"

#include <fcntl.h>
#include <signal.h>

#include <climits>

#include "base/quantity.h"
#include "kernel/counters/parse_pressure.h"
#include "supervisor/borrowed_rights.h"
#include "supervisor/host.h"
#include "supervisor/input_sizes.h"
#include "supervisor/reporting.h"
#include "supervisor/wall_clock.h"

// A batch and its wall: what is told of it, and how the terminal stops the run.
namespace plimsoll::supervisor {
namespace {

std::string group_name(JobId job, unsigned attempt) {
  std::string name = "job-" + std::to_string(static_cast<std::uint64_t>(job));
  return attempt == 1 ? name : name + "." + std::to_string(attempt);
}

// Processes that the kernel killed in one attempt; of a group killed whole `oom_kill` counts one
// twice (Linux 6.1 and 6.12), so that its own count goes first.
std::uint64_t oom_kills_of(const counters::MemoryEvents& events) {
  const std::uint64_t groups = events.oom_group_kill.value_or(0);
  return groups > 0 ? groups : events.oom_kill.value_or(0);
}

}  // namespace

// One attempt from its start until its group is removed and its output received.
struct BatchRun::Live {
  std::optional<output::Capture> capture;
  std::optional<policy::Requeue> requeue;         // set by its end, if the job is tried again
  std::optional<AttemptResult> result;            // once its group is removed
  std::optional<counters::MachineUsage> machine;  // likewise
  std::optional<Bytes> received;                  // once its pipes have ended
};

// What has to be remembered of a job between its attempts.
struct BatchRun::Book {
  WallTime queued{};
  Instant waiting_since{};
  Duration held{}, paused{};
  std::vector<report::AttemptReport> attempts;
  std::unique_ptr<Live> last;  // only while it waits for another attempt
};

BatchRun::BatchRun(Supervisor& supervisor, policy::Estimator& estimator, BatchRunConfig config,
                   BatchRunObserver observer)
    : supervisor_(supervisor),
      config_(std::move(config)),
      observer_(std::move(observer)),
      host_(describe_host(supervisor)),
      begun_(loop::now()),
      host_scheduler_(supervisor, estimator, config_.scheduler,
                      {.event =
                           [this](const policy::Event& event) {
                             if (observer_.event) observer_.event(event);
                           },
                       .learnt =
                           [this](const policy::AttemptSummary& attempt_summary) {
                             if (observer_.learnt) observer_.learnt(attempt_summary);
                           },
                       .notice = [this](const std::string& text) { notice(text); }}),
      guardian_watch_(supervisor.loop(), [this](const std::string& text) { notice(text); }) {
  InputSizes sizes;
  for (const policy::JobSpec& job : config_.jobs) {
    places_.emplace(job.id, places_.size());
    Book& book = books_[job.id];
    book.queued = wall_now();
    book.waiting_since = begun_;
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

Result<report::RunSummary> BatchRun::run() {
  null_input_ = UniqueFd(::open("/dev/null", O_RDONLY | O_CLOEXEC));
  if (!null_input_) return fail_errno("open /dev/null");
  if (auto started = start_collector(); !started) return pass(std::move(started));
  if (observer_.ready) {
    if (auto ready = observer_.ready(); !ready) return pass(std::move(ready));
  }
  supervisor_.on_signal([this](const guardian::Signalled& signal) { on_signal(signal); });
  supervisor_.on_resumed([this] { resume_all(); });
  host_scheduler_.begin();
  Result<void> ran{};
  while (ran && (!host_scheduler_.is_idle() || !live_.empty())) {
    ran = host_scheduler_.run_once(Duration(-1));
    finished_.clear();
  }
  collector_->drain();
  while (ran && !drained_) ran = host_scheduler_.run_once(Duration(-1));
  supervisor_.on_signal({});
  supervisor_.on_resumed({});
  account_pool_limits();
  host_scheduler_.end();
  if (!ran) return pass(std::move(ran));
  return summarise();
}

Result<void> BatchRun::start_collector() {
  auto collector = output::Collector::start(
      supervisor_.loop(), config_.output,
      {.received =
           [this](const output::Ended& end) { on_received({end.job, end.attempt}, end.received); },
       .trouble =
           [this](const output::Trouble& trouble) {
             const std::string whose =
                 trouble.job ? "output of job " + spec_of(*trouble.job).name + ": " : "output: ";
             notice(whose + trouble.error.message() + "; " + trouble.consequence);
           },
       .lost = [this](const output::Lost& lost) { on_output_lost(lost); },
       .drained = [this] { drained_ = true; }});
  if (!collector) return pass(std::move(collector));
  collector_ = std::move(*collector);
  return {};
}

// As a command in a pipe ends when its reader has.
void BatchRun::on_output_lost(const output::Lost& lost) {
  notice("the output cannot be written: " + lost.error.message() + "; killing the running jobs");
  if (!host_scheduler_.scheduler().is_stopping()) interrupt();
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

// Its last attempt was its end after all: what that has written is its output.
void BatchRun::give_up_on(JobId job) {
  if (const auto last = std::move(books_.at(job).last)) {
    if (last->capture) last->capture->finish(output::Disposition::keep);
    return end_job(job, last->result->end.outcome, last->result->reason, last.get());
  }
  // Its group is still being removed.
  for (auto& [key, live] : live_) {
    if (key.job != job || !live->requeue) continue;
    live->requeue.reset();
    if (live->capture) live->capture->finish(output::Disposition::keep);
  }
}

// Its next attempt starts: what the earlier ones have written is nobody's output.
void BatchRun::discard_output_of(JobId job) {
  if (Book& book = books_.at(job); book.last != nullptr) book.last->capture.reset();
  for (auto& [key, live] : live_) {
    if (key.job == job) live->capture.reset();
  }
}

void BatchRun::on_job_over(const policy::JobOver& over) {
  if (over.gave_up) return give_up_on(over.job);
  if (!over.end) return end_job(over.job, policy::Outcome::skipped, over.reason, nullptr);
  books_.at(over.job).waiting_since = loop::now();
  const auto latest = std::prev(live_.upper_bound({over.job, UINT_MAX}));
  const AttemptKey key = latest->first;
  Live& live = *latest->second;
  live.requeue = over.requeue;
  if (!live.capture) {
    live.received = Bytes{};
  } else if (live.requeue) {
    // Kept until the next attempt starts: a halt can make this one the last.
    const output::Received received = live.capture->so_far();
    live.received = received.out + received.err;
  } else if (const auto received = live.capture->finish(output::Disposition::keep)) {
    on_received(key, *received);
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

  Book& book = books_.at(start.job);
  book.held += loop::now() - book.waiting_since;
  Prepared prepared;
  const auto known = accounts_.of(job.uid);
  const auto user = known ? *known : std::nullopt;
  AttemptRequest& request = prepared.request;
  request = request_for(job, group_name(start.job, start.attempt), user);
  request.kill_after = config_.kill_after;
  request.spawn.session = guardian::Session::own;
  request.spawn.descriptors = guardian::Descriptors::close;
  request.spawn.signals = guardian::Signals::set_default;
  request.spawn.stdio[0] = null_input_.get();
  auto live = std::make_unique<Live>();
  if (!known) {
    prepared.refusal = known.error().message();
  } else if (auto output = open_output(job, start.attempt, request.spawn.identity)) {
    request.spawn.stdio[1] = output->out.get();
    request.spawn.stdio[2] = output->err.get();
    prepared.out = std::move(output->out);
    prepared.err = std::move(output->err);
    live->capture = std::move(output->capture);
  } else {
    prepared.refusal = output.error().message();
  }
  live_.emplace(AttemptKey{start.job, start.attempt}, std::move(live));
  ++progress_.running;
  tell_progress();
  return prepared;
}

void BatchRun::on_over(AttemptKey /*key*/) { --progress_.running; }

void BatchRun::on_received(AttemptKey key, const output::Received& received) {
  const auto found = live_.find(key);
  if (found == live_.end()) return;
  found->second->received = received.out + received.err;
  settle(key);
}

void BatchRun::on_gone(const AttemptGone& gone) {
  Live& live = *live_.at(gone.key);
  live.result = gone.result;
  live.machine = gone.machine;
  settle(gone.key);
}

void BatchRun::on_stuck(AttemptKey key, const reap::Stuck& stuck) {
  notice("job " + spec_of(key.job).name + ": " + stuck_text(stuck));
}

// Everything of an attempt is known: its job ends with it, or waits for the next.
void BatchRun::settle(AttemptKey key) {
  const auto found = live_.find(key);
  if (!found->second->result || !found->second->received) return;
  std::unique_ptr<Live> live = std::move(found->second);
  live_.erase(found);
  account(*live->result);
  if (const auto& left = live->result->usage.left) {
    notice("job " + spec_of(key.job).name + ": " + left_text(*left));
  }
  if (const auto& objects = live->result->ipc_left; !objects.empty()) {
    notice("job " + spec_of(key.job).name + ": " + ipc_text(objects));
  }
  Book& book = books_.at(key.job);
  book.attempts.push_back(short_report_of(*live->result));
  book.paused += live->result->paused;
  if (!live->requeue) {
    end_job(key.job, live->result->end.outcome, live->result->reason, live.get());
    finished_.push_back(std::move(live));
    return;
  }
  notice("job " + spec_of(key.job).name + ": " + live->requeue->reason);
  finished_.push_back(std::exchange(book.last, std::move(live)));
}

void BatchRun::account(const AttemptResult& result) {
  const counters::Sample& totals = result.usage.totals;
  if (totals.cpu.usage) {
    summary_.cpu_usage = summary_.cpu_usage.value_or(Duration{}) + *totals.cpu.usage;
  }
  *summary_.oom_kills += oom_kills_of(totals.memory.events);
}

void BatchRun::end_job(JobId id, policy::Outcome outcome, const std::string& reason,
                       const Live* last) {
  const policy::JobSpec& job = spec_of(id);
  Book& book = books_.at(id);
  if (last == nullptr) book.held += loop::now() - book.waiting_since;
  JobEnd end{.job = job,
             .queued = book.queued,
             .held = book.held,
             .paused = book.paused,
             .attempts = std::move(book.attempts),
             .last = nullptr,
             .outcome = outcome,
             .reason = reason,
             .machine = {}};
  for (const JobId need : job.needs) end.needs.push_back(spec_of(need).name);
  if (last != nullptr) {
    end.last = &*last->result;
    end.machine = last->machine;
  }
  const report::JobReport report = report_of(end, host_);
  if (book.last != nullptr) finished_.push_back(std::move(book.last));
  books_.erase(id);

  ++summary_.outcomes[outcome];
  if (outcome == policy::Outcome::skipped) {
    ++progress_.skipped;
  } else if (policy::succeeded(outcome, report.exit_code)) {
    ++progress_.succeeded;
  } else {
    ++progress_.failed;
  }
  collector_->close(id);
  if (observer_.ended) {
    observer_.ended(job, report, last == nullptr ? Bytes{} : *last->received);
  }
  tell_progress();
}

void BatchRun::interrupt() {
  if (host_scheduler_.scheduler().is_stopping()) {
    collector_->stop_waiting_for_room();
    host_scheduler_.give_up_removals();
  }
  host_scheduler_.scheduler().interrupt();
}

void BatchRun::on_signal(const guardian::Signalled& signal) {
  switch (signal.number) {
    case SIGINT:
      notice(host_scheduler_.scheduler().is_stopping()
                 ? "interrupted again: killing the running jobs; a further Ctrl-C leaves processes "
                   "that do not die"
                 : "interrupted: no more jobs will start; press Ctrl-C again to kill the running "
                   "jobs");
      return interrupt();
    case SIGTERM:
    case SIGHUP:
    case SIGQUIT:
      notice("ended by SIG" + policy::signal_name(signal.number) + ": killing the running jobs");
      if (!host_scheduler_.scheduler().is_stopping()) interrupt();
      return interrupt();
    case SIGTSTP: return pause_all();
    default: return;
  }
}

void BatchRun::tell_progress() {
  if (observer_.progress) observer_.progress(progress_);
}

void BatchRun::notice(const std::string& text) {
  if (observer_.notice) observer_.notice(text);
}

report::RunSummary BatchRun::summarise() {
  summary_.makespan = loop::now() - begun_;
  summary_.succeeded = progress_.succeeded;
  const policy::Counts& counts = host_scheduler_.scheduler().counts();
  summary_.holds = counts.holds;
  summary_.pauses = counts.pauses;
  summary_.evictions = counts.evictions;
  if (counts.lost_cpu > Duration{}) summary_.lost_cpu = counts.lost_cpu;
  summary_.line = config_.scheduler.governor.line;
  summary_.used_peak = host_scheduler_.executor().used_peak();
  for (const monitor::Status& status : host_scheduler_.executor().monitors()) {
    summary_.monitors.push_back(report_of(status));
  }
  summary_.calibration = host_scheduler_.scheduler().calibration();
  summary_.system_samples = host_scheduler_.system().finish().points();
  counters::MachineSpan span(summary_.system_samples.front());
  for (const counters::SystemSample& sample : summary_.system_samples) span.observe(sample);
  summary_.machine = span.usage();
  const Duration sampled = summary_.system_samples.back().at - summary_.system_samples.front().at;
  if (const auto others =
          counters::use_of_others(span.usage(), summary_.cpu_usage.value_or(Duration{}), sampled)) {
    summary_.cores_of_others = others->cores;
    summary_.cores_of_machine = others->of;
  }
  return summary_;
}

void BatchRun::account_pool_limits() {
  const PoolLimits& wall = host_scheduler_.wall();
  if (!wall.limits()) {
    summary_.unavailable.emplace("wall", wall.why_not());
    return;
  }
  summary_.wall = report::PoolLimitsReport{.high = wall.limits()->high,
                                           .max = wall.limits()->max,
                                           .stalls = wall.stalls().count,
                                           .stalled = wall.stalls().time,
                                           .pressure = {}};
  const cgroup::Directory* pool = supervisor_.pool().v2();
  if (pool == nullptr) return;
  if (const auto text = pool->read("memory.pressure")) {
    const counters::Pressure pressure = counters::parse_pressure(*text);
    if (pressure.some) summary_.wall->pressure.some = pressure.some->total;
    if (pressure.full) summary_.wall->pressure.full = pressure.full->total;
  }
}

// The jobs have sessions of their own, which the terminal's stop does not reach.
void BatchRun::pause_all() {
  if (!std::exchange(is_stopped_, true)) host_scheduler_.suspend_all();
  guardian_watch_.pause();
  if (observer_.stopping) observer_.stopping();
  supervisor_.stop_guardian();
}

void BatchRun::resume_all() {
  if (!std::exchange(is_stopped_, false)) return;
  guardian_watch_.resume();
  host_scheduler_.resume_all();
  if (observer_.resumed) observer_.resumed();
}

}  // namespace plimsoll::supervisor

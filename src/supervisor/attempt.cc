#include "supervisor/attempt.h"

#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>

#include "base/quantity.h"
#include "kernel/counters/schedule.h"
#include "supervisor/host.h"
#include "supervisor/wall_clock.h"

namespace plimsoll::supervisor {
namespace {

using policy::Outcome;

// v1 tells of an OOM before it kills: so soon it is looked whether the kill was of this job.
constexpr Duration kOomCheckGap = std::chrono::milliseconds(5);

std::uint64_t count(long number) { return static_cast<std::uint64_t>(std::max(number, 0L)); }

report::RusageReport report_of(const rusage& usage) {
  return {.maxrss = {count(usage.ru_maxrss) * 1024},
          .minor_faults = count(usage.ru_minflt),
          .major_faults = count(usage.ru_majflt),
          .voluntary_switches = count(usage.ru_nvcsw),
          .involuntary_switches = count(usage.ru_nivcsw),
          .in_blocks = count(usage.ru_inblock),
          .out_blocks = count(usage.ru_oublock)};
}

std::string start_failure_text(const guardian::StartFailed& failure,
                               const guardian::SpawnRequest& request) {
  std::string text = "could not " + std::string(guardian::name_of(failure.step));
  if (failure.step == guardian::SpawnStep::exec) text += " \"" + request.argv.front() + "\"";
  if (failure.step == guardian::SpawnStep::working_directory) text += " \"" + request.cwd + "\"";
  return text + ": " + std::make_error_code(failure.code).message();
}

// Who it runs as.
std::uint32_t user_of(const guardian::SpawnRequest& request) {
  return request.identity ? request.identity->uid : ::geteuid();
}

}  // namespace

Attempt::Attempt(Supervisor& supervisor, AttemptRequest request, Callbacks callbacks)
    : supervisor_(supervisor),
      request_(std::move(request)),
      callbacks_(std::move(callbacks)),
      time_(supervisor.job_clock()),
      spawned_(loop::now()) {}

Attempt::~Attempt() {
  if (child_) supervisor_.forget(*child_);
  if (leaver_) supervisor_.forget(*leaver_);
}

void Attempt::start() {
  auto process_set =
      supervisor_.make_process_set(request_.group, request_.limits, user_of(request_.spawn));
  result_.started = wall_now();
  if (!process_set) return refuse(process_set.error().message());
  process_set_ = std::move(*process_set);
  sample_timer_ = supervisor_.loop().timer([this] {
    supervisor_.count_dropped_samples(
        counters::samples_dropped(sample_asked_, sample_due_, loop::now()));
    on_sample_due();
  });
  timeout_timer_ = supervisor_.loop().timer([this] { on_time_out(); });
  is_killed_singly_ = process_set_->watch_oom([this] { on_oom(); }) == OomKills::singly;
  ooms_before_ = supervisor_.oom().counts();
  spawn();
}

void Attempt::refuse(std::string reason) {
  result_.started = wall_now();
  supervisor_.loop().poster()([this, reason = std::move(reason)] { fail_to_start(reason); });
}

void Attempt::spawn() {
  time_ = RunningTime(supervisor_.job_clock());
  spawned_ = loop::now();
  const auto& identity = request_.spawn.identity;
  ipc_watch_ = std::make_shared<IpcWatch>(identity ? identity->uid : ::geteuid());
  auto child = process_set_->spawn(
      request_.spawn,
      {.started = [this](guardian::Started started) { on_started(std::move(started)); },
       .failed = [this](const guardian::StartFailed& failure) { on_start_failed(failure); },
       .exited = [this](const guardian::Exited& exited) { on_exited(exited); }});
  if (!child) return fail_to_start(child.error().message());
  child_ = *child;
  sample_at(process_set_->next_due());
  arm_timeout();
}

void Attempt::on_started(guardian::Started started) {
  main_ = started.pid;
  pidfd_ = std::move(started.pidfd);
  for (const int number : early_signals_) signal_main(number);
  pause_if_wanted();
}

void Attempt::on_start_failed(const guardian::StartFailed& failure) {
  result_.failure = failure;
  fail_to_start(start_failure_text(failure, request_.spawn));
}

void Attempt::fail_to_start(std::string reason) {
  child_.reset();
  set_cause(Outcome::failed_to_start, std::move(reason));
  result_.ended = wall_now();
  if (emptied_) return conclude();  // killed before it was born
  if (process_set_ != nullptr) return reap();
  removed_ = true;
  conclude();
}

void Attempt::on_exited(const guardian::Exited& exited) {
  if (exited.leaves_others) leaver_ = child_;
  child_.reset();
  status_ = exited.status;
  result_.end.wall = loop::now() - spawned_;
  result_.ended = wall_now();
  result_.rusage = report_of(exited.usage);
  result_.kernel_usage = exited.usage;
  if (emptied_) {
    conclude();
  } else {
    reap();
  }
}

void Attempt::arm_timeout() {
  const auto limit = kill_after_ran_ ? kill_after_ran_ : request_.timeout;
  if (!limit || time_.is_paused()) return timeout_timer_.off();
  timeout_timer_.set(supervisor_.on_loop_clock(time_.reaches(*limit)));
}

void Attempt::suspend() {
  time_.pause(supervisor_.job_clock());
  if (!timeout_timer_ || is_reaped_) return;
  arm_timeout();
  sample_timer_.off();
}

void Attempt::resume() {
  time_.resume(supervisor_.job_clock());
  if (!timeout_timer_ || is_reaped_ || time_.is_paused()) return;
  arm_timeout();
  sample_at(loop::now());
}

void Attempt::freeze() {
  if (freeze_wanted_ || is_reaped_) return;
  freeze_wanted_ = true;
  suspend();
  pause_if_wanted();
}

void Attempt::thaw() {
  if (!freeze_wanted_) return;
  freeze_wanted_ = false;
  process_set_->thaw();
  resume();
}

void Attempt::pause_if_wanted() {
  if (freeze_wanted_ && pidfd_ && !is_reaped_) process_set_->freeze();
}

void Attempt::on_time_out() {
  if (is_reaped_) return;
  const Duration limit = kill_after_ran_ ? *kill_after_ran_ : *request_.timeout;
  if (ran() < limit) return arm_timeout();  // the pool has stood still meanwhile
  if (kill_after_ran_) return reap();
  time_out("took longer than " + format_duration(*request_.timeout));
}

void Attempt::time_out(std::string reason) {
  if (is_reaped_ || kill_after_ran_) return;
  if (process_set_ == nullptr || time_.is_paused()) {
    return kill(Outcome::timed_out, std::move(reason));
  }
  set_cause(Outcome::timed_out, std::move(reason));
  process_set_->signal_all(SIGTERM);
  process_set_->signal_all(SIGCONT);  // one that is stopped acts on no TERM
  kill_after_ran_ = ran() + request_.kill_after;
  arm_timeout();
}

// The kernel tells of it before it kills.
void Attempt::on_oom() {
  check_oom();
  if (!is_reaped_) sample_at(loop::now() + kOomCheckGap);
}

void Attempt::check_oom() {
  if (is_reaped_ || process_set_ == nullptr) return;
  const auto& memory = sample(counters::Level::cheap).memory;
  if (memory.events.oom_kill.value_or(0) == 0) return;
  result_.usage.totals.memory = memory;
  result_.oom = policy::blame(oom_evidence());
  if (!result_.oom) return;
  Cause cause = oom_cause();
  kill(cause.outcome, std::move(cause.reason));
}

void Attempt::kill(Outcome cause, std::string reason) {
  if (is_reaped_) return;
  set_cause(cause, std::move(reason));
  if (process_set_ != nullptr) reap();
}

Duration Attempt::ran() const { return time_.ran(supervisor_.job_clock()); }

void Attempt::signal_main(int number) {
  if (pidfd_) {
    ::syscall(SYS_pidfd_send_signal, pidfd_.get(), number, nullptr, 0U);
  } else if (child_) {
    early_signals_.push_back(number);
  }
}

void Attempt::signal_all(int number) {
  if (!pidfd_ || is_reaped_) return signal_main(number);
  process_set_->signal_all(number);
}

void Attempt::set_cause(Outcome outcome, std::string reason) {
  if (!cause_) cause_ = Cause{outcome, std::move(reason)};
}

const counters::Sample& Attempt::sample(counters::Level level) {
  const auto state = is_paused() ? counters::SampleState::paused : counters::SampleState::running;
  return process_set_->sample(loop::now(), wall_now(), level, state);
}

void Attempt::look() {
  if (process_set_ != nullptr && !is_reaped_ && !is_paused()) on_sample_due();
}

void Attempt::sample_at(Instant due) {
  sample_asked_ = loop::now();
  sample_due_ = due;
  sample_timer_.set(due);
}

void Attempt::on_sample_due() {
  const counters::Sample& seen = sample(counters::Level::full);
  if (is_killed_singly_ && seen.memory.events.oom_kill > 0u) return check_oom();
  Instant due = process_set_->next_due();
  if (callbacks_.sampled) {
    due = std::min(
        due, loop::now() + sample_interval_.after(seen.memory.used.value_or(Bytes{}), loop::now()));
    sampled_ = true;
    callbacks_.sampled(seen);
  }
  if (!is_reaped_ && !is_paused()) sample_at(due);
}

}  // namespace plimsoll::supervisor

#include "supervisor/attempt.h"

#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

#include "base/quantity.h"
#include "base/text.h"
#include "kernel/counters/schedule.h"
#include "kernel/procfs/table.h"
#include "supervisor/wall_clock.h"

// How an attempt starts and runs: its process set is made, looked at, paused, signalled and killed.
namespace plimsoll::supervisor {
namespace {

using policy::Outcome;

// v1 tells of an OOM before it kills: so soon it is looked whether the kill was of this job.
constexpr Duration kOomCheckGap = std::chrono::milliseconds(5);

std::uint64_t count(long number) { return static_cast<std::uint64_t>(std::max(number, 0L)); }

// Linux counts a page that becomes dirty as eight blocks of 512 bytes, whatever the device has.
Bytes written_of(const rusage& usage) {
  constexpr std::uint64_t kBlock = 512;
  return {count(usage.ru_oublock) * kBlock};
}

report::RusageReport report_of(const rusage& usage) {
  const std::uint64_t largest = count(usage.ru_maxrss) * 1024;
  return {.maxrss = largest > 0 ? std::optional(Bytes{largest}) : std::nullopt,
          .minor_faults = count(usage.ru_minflt),
          .major_faults = count(usage.ru_majflt),
          .voluntary_switches = count(usage.ru_nvcsw),
          .involuntary_switches = count(usage.ru_nivcsw),
          .in_blocks = count(usage.ru_inblock),
          .out_blocks = count(usage.ru_oublock)};
}

// The beginning of what may be of any length.
std::string beginning_of(std::string_view name) {
  constexpr std::size_t kQuotedMax = 200;
  const std::string_view start = cut_utf8(name, kQuotedMax);
  return "\"" + std::string(start) + (start.size() < name.size() ? "..." : "") + "\"";
}

std::string start_failure_text(const guardian::StartFailed& failure,
                               const guardian::SpawnRequest& request) {
  std::string text = "could not " + std::string(guardian::name_of(failure.step));
  if (failure.step == guardian::SpawnStep::exec) text += " " + beginning_of(request.argv.front());
  if (failure.step == guardian::SpawnStep::working_directory)
    text += " " + beginning_of(request.cwd);
  return text + ": " + std::make_error_code(failure.code).message();
}

// Who it runs as.
std::uint32_t user_of(const guardian::SpawnRequest& request) {
  return request.identity ? request.identity->uid : ::geteuid();
}

}  // namespace

Attempt::Attempt(AttemptHost& host, AttemptRequest request, AttemptObserver& observer)
    : host_(host),
      request_(std::move(request)),
      observer_(observer),
      time_(host.job_clock()),
      spawned_(host.now()) {}

Attempt::~Attempt() {
  if (child_) host_.forget(*child_);
  if (leaver_) host_.forget(*leaver_);
}

void Attempt::start() {
  auto made = make_process_set();
  result_.started = wall_now();
  if (!made) return refuse(made.error().message());
  sample_timer_ = host_.timer([this] {
    host_.count_dropped_samples(counters::samples_dropped(sample_asked_, sample_due_, host_.now()));
    on_sample_due();
  });
  timeout_timer_ = host_.timer([this] { on_time_out(); });
  is_killed_singly_ = process_set_->watch_oom() == OomKills::singly;
  ooms_before_ = host_.oom().counts();
  auto standing = std::exchange(request_.standing, std::nullopt);
  if (standing && standing->process) {
    adopt(std::move(*standing));
  } else {
    spawn();
  }
}

Result<void> Attempt::make_process_set() {
  if (request_.standing) {
    process_set_ = request_.standing->place->process_set(*this);
    return {};
  }
  auto made =
      host_.make_process_set(request_.group, request_.limits, user_of(request_.spawn), *this);
  if (!made) return pass(std::move(made));
  process_set_ = std::move(*made);
  return {};
}

void Attempt::refuse(std::string reason) {
  result_.started = wall_now();
  later_ = host_.timer([this, reason = std::move(reason)] { fail_to_start(reason); });
  later_->set(host_.now());
}

void Attempt::begin() {
  time_ = PausableClock(host_.job_clock());
  spawned_ = host_.now();
}

// What it leaves of IPC is its parent's affair, as its status is.
void Attempt::adopt(StandingPlace standing) {
  AdoptedProcess& process = *standing.process;
  begin();
  is_adopted_ = true;
  on_started({.id = {}, .pid = process.pid, .birth = {}, .pidfd = std::move(process.pidfd)});
  process_set_->adopt(pidfd_.get());
  standing.place->let_go();
  sample_at(process_set_->next_due());
  arm_timeout();
}

void Attempt::on_vacated(std::optional<guardian::WaitStatus> main) {
  status_ = main;
  reap();
}

void Attempt::spawn() {
  begin();
  ipc_watch_ = host_.watch_ipc(user_of(request_.spawn));
  auto child = process_set_->spawn(request_.spawn);
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
  pidfd_ = {};
  status_ = exited.status;
  result_.end.wall = host_.now() - spawned_;
  result_.ended = wall_now();
  result_.rusage = report_of(exited.usage);
  result_.kernel_usage = exited.usage;
  result_.end.written = written_of(exited.usage);
  observer_.on_main_ended();
  if (emptied_) {
    conclude();
  } else {
    reap();
  }
}

void Attempt::arm_timeout() {
  const auto limit = kill_after_ran_ ? kill_after_ran_ : request_.timeout;
  if (!limit || time_.is_paused()) return timeout_timer_->off();
  timeout_timer_->set(host_.on_loop_clock(time_.reaches(*limit)));
}

void Attempt::suspend() {
  time_.pause(host_.job_clock());
  if (timeout_timer_ == nullptr || is_reaped_) return;
  arm_timeout();
  sample_timer_->off();
}

void Attempt::resume() {
  time_.resume(host_.job_clock());
  if (timeout_timer_ == nullptr || is_reaped_ || time_.is_paused()) return;
  arm_timeout();
  sample_at(host_.now());
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
  if (process_set_ != nullptr) process_set_->thaw();
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
  if (!is_reaped_) sample_at(host_.now() + kOomCheckGap);
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

Duration Attempt::ran() const { return time_.ran(host_.job_clock()); }

void Attempt::signal_main(int number) {
  if (pidfd_) {
    ::syscall(SYS_pidfd_send_signal, pidfd_.get(), number, nullptr, 0U);
  } else if (child_) {
    early_signals_.push_back(number);
  }
}

Result<void> Attempt::signal_main(int number, std::uint32_t asker) {
  if (pidfd_ && !procfs::user_may_signal(asker, main_)) {
    return fail(std::errc::permission_denied,
                "the process " + std::to_string(main_) + " of the job runs as another user now");
  }
  signal_main(number);
  return {};
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
  return process_set_->sample(host_.now(), wall_now(), level, state);
}

void Attempt::look() {
  if (process_set_ != nullptr && !is_reaped_ && !is_paused()) on_sample_due();
}

void Attempt::sample_at(Instant due) {
  sample_asked_ = host_.now();
  sample_due_ = due;
  sample_timer_->set(due);
}

void Attempt::on_sample_due() {
  const counters::Sample& seen = sample(counters::Level::full);
  if (is_killed_singly_ && seen.memory.events.oom_kill > 0u) return check_oom();
  Instant due = process_set_->next_due();
  if (request_.sampled_for == SampledFor::decisions) {
    const Bytes used = seen.memory.used.value_or(Bytes{});
    const Duration gap = sample_interval_.after(used, host_.now());
    const bool is_at_rest = process_set_->is_at_rest();
    due = std::min(due, is_at_rest ? counters::rest_due(host_.now()) : host_.now() + gap);
    sampled_ = true;
    observer_.on_sampled(seen);
  }
  if (!is_reaped_ && !is_paused()) sample_at(due);
}

}  // namespace plimsoll::supervisor

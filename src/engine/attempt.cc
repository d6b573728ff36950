#include "engine/attempt.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/syscall.h>

#include "base/quantity.h"
#include "cgroup/signals.h"

namespace plimsoll::engine {
namespace {

using policy::Outcome;

// v1 charges in batches of 32 pages on each CPU, so that a peak at the limit can show less.
constexpr Bytes kV1ChargeSlack{4 << 20};

WallTime wall_now() { return std::chrono::system_clock::now(); }

std::uint64_t count(long number) { return static_cast<std::uint64_t>(std::max(number, 0L)); }

record::RusageReport report_of(const rusage& usage) {
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

}  // namespace

Attempt::Attempt(Machine& machine, AttemptRequest request, Callbacks callbacks)
    : machine_(machine),
      request_(std::move(request)),
      callbacks_(std::move(callbacks)),
      time_(loop::now()) {}

Attempt::~Attempt() {
  if (child_) machine_.forget(*child_);
}

void Attempt::start() {
  auto group = machine_.make_group(request_.group, request_.limits);
  result_.started = wall_now();
  if (!group) return refuse(group.error().message());
  group_ = std::make_shared<cgroup::Leaf>(std::move(*group));
  sampler_.emplace(*group_, loop::now(), machine_.network());
  sample_timer_ = machine_.loop().timer([this] { on_sample_due(); });
  timeout_timer_ = machine_.loop().timer([this] { on_time_out(); });
  watch_v1_oom();
  spawn();
}

void Attempt::refuse(std::string reason) {
  result_.started = wall_now();
  machine_.loop().poster()([this, reason = std::move(reason)] { fail_to_start(reason); });
}

void Attempt::spawn() {
  std::vector<UniqueFd> procs;
  for (const cgroup::Group::Part& part : group_->parts()) {
    if (part.directory.version() == cgroup::Version::v2) {
      request_.spawn.v2_group = part.directory.fd();
      continue;
    }
    auto file = part.directory.open_file("cgroup.procs", O_WRONLY);
    if (!file) return fail_to_start(file.error().message());
    request_.spawn.v1_procs.push_back(file->get());
    procs.push_back(std::move(*file));
  }
  time_ = RunningTime(loop::now());
  auto child = machine_.spawn(
      request_.spawn,
      {.started = [this](guardian::Started started) { on_started(std::move(started)); },
       .failed = [this](const guardian::StartFailed& failure) { on_start_failed(failure); },
       .exited = [this](const guardian::Exited& exited) { on_exited(exited); }});
  if (!child) return fail_to_start(child.error().message());
  child_ = *child;
  sample_timer_.set(sampler_->next_due());
  arm_timeout();
}

// On v2 the kernel kills a group over its own limit whole (memory.oom.group). On v1 it takes one
// process, and the rest is for us.
void Attempt::watch_v1_oom() {
  const cgroup::Directory* memory = group_->of(cgroup::Controller::memory);
  const bool watched = memory != nullptr && memory->version() == cgroup::Version::v1 &&
                       request_.limits.memory_max.has_value();
  if (!watched) return;
  auto event = cgroup::open_v1_oom_event(*memory);
  if (!event) return;
  oom_event_ = std::move(*event);
  auto watch =
      machine_.loop().watch(oom_event_.get(), EPOLLIN, [this](std::uint32_t) { on_v1_oom(); });
  if (watch) oom_watch_ = std::move(*watch);
}

void Attempt::on_started(guardian::Started started) {
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
  if (group_ != nullptr) return reap();
  removed_ = true;
  conclude();
}

void Attempt::on_exited(const guardian::Exited& exited) {
  child_.reset();
  status_ = exited.status;
  result_.end.wall = loop::now() - time_.started();
  result_.ended = wall_now();
  result_.rusage = report_of(exited.usage);
  if (emptied_) {
    conclude();
  } else {
    reap();
  }
}

void Attempt::arm_timeout() {
  const auto limit = kill_after_ran_ ? kill_after_ran_ : request_.timeout;
  if (!limit || time_.is_paused()) return timeout_timer_.off();
  timeout_timer_.set(time_.reaches(*limit));
}

void Attempt::suspend() {
  time_.pause(loop::now());
  if (!timeout_timer_ || reaper_) return;
  arm_timeout();
  sample_timer_.off();
}

void Attempt::resume() {
  time_.resume(loop::now());
  if (!timeout_timer_ || reaper_ || time_.is_paused()) return;
  arm_timeout();
  if (sampler_) sample_timer_.set(loop::now());
}

void Attempt::freeze() {
  if (freeze_wanted_ || reaper_) return;
  freeze_wanted_ = true;
  suspend();
  pause_if_wanted();
}

void Attempt::thaw() {
  if (!freeze_wanted_) return;
  freeze_wanted_ = false;
  paused_.reset();
  resume();
}

void Attempt::pause_if_wanted() {
  if (!freeze_wanted_ || !pidfd_ || reaper_) return;
  auto paused = PauseGuard::pause(group_, request_.limits.cpus);
  if (paused) paused_.emplace(std::move(*paused));
}

void Attempt::on_time_out() {
  if (reaper_) return;
  if (kill_after_ran_) return reap();
  time_out("took longer than " + format_duration(*request_.timeout));
}

void Attempt::time_out(std::string reason) {
  if (reaper_ || kill_after_ran_) return;
  if (group_ == nullptr || time_.is_paused()) return kill(Outcome::timed_out, std::move(reason));
  set_cause(Outcome::timed_out, std::move(reason));
  cgroup::signal_all(*group_, SIGTERM);
  cgroup::signal_all(*group_, SIGCONT);  // one that is stopped acts on no TERM
  kill_after_ran_ = time_.ran(loop::now()) + request_.kill_after;
  arm_timeout();
}

void Attempt::on_v1_oom() {
  std::uint64_t fired = 0;
  [[maybe_unused]] const ssize_t got = ::read(oom_event_.get(), &fired, sizeof fired);
  // The event comes for a limit further up as well: only a peak at the own limit is the job's
  // fault.
  const auto& memory = sample(measure::Level::cheap).memory;
  if (!memory.peak || *memory.peak + kV1ChargeSlack < *request_.limits.memory_max) return;
  kill(Outcome::over_limit, "needed more than its memory limit of " +
                                format_bytes(*request_.limits.memory_max) +
                                "; the kernel's killer took it at " + format_bytes(*memory.peak));
}

void Attempt::kill(Outcome cause, std::string reason) {
  if (reaper_) return;
  set_cause(cause, std::move(reason));
  if (group_ != nullptr) reap();
}

void Attempt::signal_main(int number) {
  if (pidfd_) {
    ::syscall(SYS_pidfd_send_signal, pidfd_.get(), number, nullptr, 0U);
  } else if (child_) {
    early_signals_.push_back(number);
  }
}

void Attempt::set_cause(Outcome outcome, std::string reason) {
  if (!cause_) cause_ = Cause{outcome, std::move(reason)};
}

const measure::Sample& Attempt::sample(measure::Level level) {
  const auto state = is_paused() ? measure::SampleState::paused : measure::SampleState::running;
  return sampler_->sample(loop::now(), wall_now(), level, state);
}

void Attempt::on_sample_due() {
  const measure::Sample& seen = sample(measure::Level::full);
  Instant due = sampler_->next_due();
  if (callbacks_.looked) {
    due = std::min(due, loop::now() + look_gap_.after(seen.memory.used.value_or(Bytes{})));
    looked_at_ = true;
    callbacks_.looked(seen);
  }
  if (!reaper_ && !is_paused()) sample_timer_.set(due);
}

void Attempt::reap() {
  if (reaper_) return;
  sample_timer_.off();
  timeout_timer_.off();
  result_.paused = time_.paused(loop::now());
  reaper_.emplace(
      machine_.loop(), machine_.worker(), group_,
      reap::ReaperOptions{.left_behind =
                              status_ && !cause_ ? reap::LeftBehind::list : reap::LeftBehind::skip},
      reap::ReaperCallbacks{.empty = [this] { on_empty(); },
                            .stuck = [this](const reap::Stuck& stuck) { callbacks_.stuck(stuck); },
                            .gone = [this](const reap::Reaped& reaped) { on_gone(reaped); }});
  reaper_->start();
}

// The main process may not have been waited for yet: its status is what the outcome rests on.
void Attempt::on_empty() {
  emptied_ = true;
  paused_.reset();  // till now, so that nothing runs on between the decision and the kill
  oom_watch_ = {};
  result_.usage = sampler_->finish(loop::now(), wall_now());
  if (callbacks_.looked && status_) callbacks_.looked(result_.usage.totals);
  if (!child_) conclude();
}

void Attempt::on_gone(const reap::Reaped& reaped) {
  for (const cgroup::LeftProcess& process : reaped.left_behind) {
    result_.left_behind.push_back({process.pid, process.comm});
  }
  removed_ = true;
  if (!child_) callbacks_.gone(result_);
}

void Attempt::conclude() {
  const Cause cause = cause_ ? *cause_ : outcome_by_evidence();
  result_.end.outcome = cause.outcome;
  result_.reason = cause.reason;
  if (status_ && status_->kind == guardian::WaitStatus::Kind::exited) {
    result_.end.exit_code = status_->value;
  } else if (status_) {
    result_.end.signal = status_->value;
  }
  callbacks_.over(result_.end);
  if (removed_) callbacks_.gone(result_);
}

Attempt::Cause Attempt::outcome_by_evidence() const {
  const measure::MemoryUsage& memory = result_.usage.totals.memory;
  const measure::MemoryEvents& events = memory.events;
  const bool oom_killed = events.oom_kill.value_or(0) > 0 || events.oom_group_kill.value_or(0) > 0;
  const std::optional<Bytes> limit = request_.limits.memory_max;
  // v2 counts an `oom` at the group that owns the limit; v1 only shows the peak.
  const bool at_own_limit =
      limit &&
      (events.oom ? *events.oom > 0 : memory.peak && *memory.peak + kV1ChargeSlack >= *limit);
  const std::string peak = memory.peak ? " (peak " + format_bytes(*memory.peak) + ")" : "";
  if (oom_killed && at_own_limit) {
    return {Outcome::over_limit,
            "needed more than its memory limit of " + format_bytes(*limit) + peak};
  }
  if (oom_killed && events.oom.value_or(0) == 0) {
    return {Outcome::machine_oom,
            "the kernel ran out of memory outside the job and killed it" + peak + "; try again"};
  }
  if (status_->kind == guardian::WaitStatus::Kind::exited) return {Outcome::exited, {}};
  return {Outcome::signalled, "was ended by signal " + policy::signal_name(status_->value)};
}

}  // namespace plimsoll::engine

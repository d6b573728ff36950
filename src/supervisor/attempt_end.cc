#include <signal.h>

#include <algorithm>
#include <utility>

#include "supervisor/attempt.h"
#include "supervisor/wall_clock.h"

// How an attempt ends: its group is reaped, what has got out of it is looked for, and its outcome
// told.
namespace plimsoll::supervisor {
namespace {

using policy::Outcome;

// What a healthy machine takes at most to end a process that was killed.
constexpr Duration kKillPatience = std::chrono::seconds(1);

Duration duration_of(const timeval& time) {
  return std::chrono::seconds(time.tv_sec) + std::chrono::microseconds(time.tv_usec);
}

// By then an attempt was looked at eight times; later ones are a second apart.
constexpr Duration kLookedAtOften = std::chrono::seconds(2);

// The kernel's peak has page cache in it: no more than what of it is there at the end, and what was
// read and written and may be gone again. Where memory was taken back, nobody knows.
std::optional<Bytes> used_peak_least(const counters::MemoryUsage& end, const rusage& usage) {
  constexpr std::uint64_t kBlock = 512;  // of ru_inblock and ru_oublock
  if (!end.peak || !end.current || end.stat.pgsteal.value_or(0) > 0) return std::nullopt;
  const auto blocks = static_cast<std::uint64_t>(std::max(usage.ru_inblock, 0L)) +
                      static_cast<std::uint64_t>(std::max(usage.ru_oublock, 0L));
  return end.used.value_or(Bytes{}) + (*end.peak - *end.current - Bytes{blocks * kBlock});
}

}  // namespace

void Attempt::reap() {
  if (is_reaped_) return;
  is_reaped_ = true;
  sample_timer_->off();
  timeout_timer_->off();
  // Where the guardian has held the pool the job clock has stood, and with it this attempt.
  // Read first: what passes between the two clocks is no pause.
  const Duration since_birth = host_.now() - spawned_;
  result_.paused = std::max(Duration{}, since_birth - ran());
  const bool may_leave = status_ && !cause_ && !is_adopted_;
  process_set_->reap(may_leave ? reap::LeftBehind::list : reap::LeftBehind::skip);
}

// The main process may not have been waited for yet: its status is what the outcome rests on.
void Attempt::on_empty() {
  emptied_ = true;
  emptied_at_ = host_.now();
  process_set_->thaw();  // till now, so that nothing runs on between the decision and the kill
  result_.usage = process_set_->finish(host_.now(), wall_now());
  look_at_ipc();
  if (is_adopted_) {
    result_.end.wall = emptied_at_ - spawned_;
    result_.ended = wall_now();
  }
  if (status_ && result_.kernel_usage && result_.paused == Duration{} && ran() < kLookedAtOften) {
    counters::MemoryUsage& memory = result_.usage.totals.memory;
    memory.used_peak_least = used_peak_least(memory, *result_.kernel_usage);
  }
  if (request_.sampled_for == SampledFor::decisions && (status_ || is_adopted_)) {
    observer_.on_sampled(result_.usage.totals);
  }
  if (!child_) return conclude();
  // It is dead and its status on the way, or it had left its group: nobody has killed it then.
  signal_main(SIGKILL);
}

void Attempt::on_gone(const reap::Reaped& reaped) {
  for (const cgroup::LeftProcess& process : reaped.left_behind) {
    result_.left_behind.push_back({process.pid, process.comm});
  }
  result_.group_left = reaped.left;
  const bool was_over = emptied_ && !child_;
  removed_ = true;
  if (was_over) observer_.on_removed();
  if (emptied_) return tell_gone();
  for (const cgroup::StuckProcess& process : reaped.survivors) {
    result_.left_behind.push_back({process.pid, process.comm, report::LeftFate::lives});
  }
  emptied_ = true;
  process_set_->thaw();
  result_.usage = process_set_->finish(host_.now(), wall_now());
  forget_main();
  conclude();
}

void Attempt::give_up_removal() {
  if (process_set_ != nullptr) process_set_->give_up_removal();
  const bool has_left = emptied_ && child_ && host_.now() - emptied_at_ >= kKillPatience;
  if (!has_left) return;
  result_.left_behind.push_back(
      {main_, std::string(request_.spawn.argv.front()), report::LeftFate::lives});
  forget_main();
  conclude();
}

// Its end is not waited for any more.
void Attempt::forget_main() {
  if (!child_) return;
  host_.forget(*child_);
  child_.reset();
  result_.end.wall = host_.now() - spawned_;
  result_.ended = wall_now();
}

// What it has left may be settled by a look at all processes, which the report waits for.
void Attempt::look_at_ipc() {
  if (ipc_watch_ == nullptr) return;
  auto left = ipc_watch_->look(*this);
  is_ipc_settled_ = left.has_value();
  if (left) result_.ipc_left = std::move(*left);
}

void Attempt::on_ipc_settled(std::vector<report::IpcLeft> left) {
  result_.ipc_left = std::move(left);
  is_ipc_settled_ = true;
  tell_gone();
}

void Attempt::ask_for_escaped() {
  if (leaver_) host_.over(*leaver_, *this);
}

void Attempt::on_escaped(const guardian::Escaped& escaped) {
  leaver_.reset();
  for (const guardian::Escapee& process : escaped.processes) {
    const auto fate = process.lives ? report::LeftFate::lives : report::LeftFate::had_left;
    result_.left_behind.push_back({process.pid, process.comm, fate});
  }
  tell_gone();
}

void Attempt::tell_gone() {
  if (!removed_ || child_) return;
  if (!leaver_ && is_ipc_settled_) return observer_.on_gone(result_);
  // What is waited for may take seconds, and the descriptors are others' by then.
  if (process_set_ == nullptr || later_ != nullptr) return;
  later_ = host_.timer([this] {
    process_set_.reset();
    pidfd_ = {};
  });
  later_->set(host_.now());
}

void Attempt::note_status() {
  if (!status_) return;
  if (status_->kind == guardian::WaitStatus::Kind::exited) {
    result_.end.exit_code = status_->value;
  } else {
    result_.end.signal = status_->value;
  }
}

void Attempt::conclude() {
  if (process_set_ != nullptr && !result_.oom && has_oom_kills()) {
    result_.oom = policy::blame(oom_evidence());
  }
  note_status();
  divide_cpu_time();
  const Cause cause = cause_ ? *cause_ : outcome_by_evidence();
  result_.end.outcome = cause.outcome;
  result_.reason = cause.reason;
  ask_for_escaped();
  observer_.on_over(result_.end);
  tell_gone();
}

// In a group that was used before, the kernel's division is of all its life (counters::since()).
void Attempt::divide_cpu_time() {
  counters::CpuUsage& cpu = result_.usage.totals.cpu;
  if (!cpu.usage || cpu.user || !result_.kernel_usage) return;
  const Duration user = duration_of(result_.kernel_usage->ru_utime);
  const Duration all = user + duration_of(result_.kernel_usage->ru_stime);
  if (all == Duration{}) return;
  const double share = static_cast<double>(user.count()) / static_cast<double>(all.count());
  cpu.user = std::chrono::duration_cast<Duration>(*cpu.usage * share);
  cpu.system = *cpu.usage - *cpu.user;
}

bool Attempt::has_oom_kills() const {
  const counters::MemoryEvents& events = result_.usage.totals.memory.events;
  return std::max(events.oom_kill.value_or(0), events.oom_group_kill.value_or(0)) > 0;
}

// Own counts are read before those of the groups above: what happens in between is not taken for
// its own.
policy::OomEvidence Attempt::oom_evidence() {
  const counters::MemoryUsage& memory = result_.usage.totals.memory;
  const counters::MemoryEvents& events = memory.events;
  policy::OomEvidence evidence;
  evidence.kills = std::max(events.oom_kill.value_or(0), events.oom_group_kill.value_or(0));
  evidence.own_limit = request_.limits.memory_max;
  evidence.own_peak = memory.peak;
  evidence.machine = host_.memory();
  const OwnOoms own = process_set_->own_ooms();
  evidence.above = host_.oom().since(ooms_before_);
  evidence.sees_all = host_.oom().sees_all() && own.are_seen;
  std::uint64_t further_up = 0;
  for (const policy::OomGroup& group : evidence.above) further_up += group.ooms;
  if (events.oom) {
    evidence.own_ooms = *events.oom;
  } else if (own.count > further_up) {
    evidence.own_ooms = own.count - further_up;
  }
  return evidence;
}

Attempt::Cause Attempt::oom_cause() const {
  const bool own = result_.oom->level == policy::OomLevel::own;
  return {own ? Outcome::over_limit : Outcome::machine_oom,
          policy::describe(*result_.oom) + (own ? "" : "; try again")};
}

Attempt::Cause Attempt::outcome_by_evidence() {
  // A limit below its own that a job has set itself is its own affair.
  const bool of_its_making =
      result_.oom && result_.oom->level == policy::OomLevel::own && !request_.limits.memory_max;
  if (result_.oom && !of_its_making) return oom_cause();
  if (!status_) return {Outcome::exited, {}};
  const bool exited = status_->kind == guardian::WaitStatus::Kind::exited;
  result_.end.outcome = exited ? Outcome::exited : Outcome::signalled;
  if (policy::succeeded(result_.end)) return {Outcome::exited, {}};
  if (is_killed_singly_) {
    for (const policy::OomGroup& group : host_.oom().since(ooms_before_)) {
      if (group.ooms == 0) continue;
      return {Outcome::machine_oom, policy::describe(result_.end) + " after the group " +
                                        group.name +
                                        " had run out of memory: cgroup v1 then refuses memory to "
                                        "every process in it; try again"};
    }
  }
  if (exited) return {Outcome::exited, {}};
  return {Outcome::signalled, "was ended by signal " + policy::signal_name(status_->value)};
}

}  // namespace plimsoll::supervisor

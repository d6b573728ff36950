#include "supervisor/processes/procfs_process_set.h"

#include <csignal>

#include "base/text.h"
#include "kernel/counters/schedule.h"

namespace plimsoll::supervisor {
namespace {

// Why a figure of the report can't be had. A process has no such counter, or loses it when it ends.
const counters::Unavailable& unavailable() {
  static const counters::Unavailable reasons = {
      {"memory.peak_bytes", "process mode: memory is sampled; see memory.sampled_peak_bytes"},
      {"memory.current_bytes", "process mode: page cache belongs to no process"},
      {"memory.events", "process mode: the kernel counts them for groups only"},
      {"memory.stat", "process mode: the kernel counts it for groups only"},
      {"cpu.pressure", "process mode: the kernel counts stalls for groups only"},
      {"memory.pressure", "process mode: the kernel counts stalls for groups only"},
      {"io.pressure", "process mode: the kernel counts stalls for groups only"},
      {"pids.peak", "process mode: processes are sampled; see samples"},
      {"network", "process mode: network traffic is counted for groups only"}};
  return reasons;
}

// The environment with the mark; one that it has is kept before it.
Words with_mark(const Words& environment, const std::string& mark) {
  const std::string prefix = std::string(procfs::kTagVariable) + "=";
  WordsBuilder marked;
  marked.reserve(1, environment.block().size() + prefix.size() + mark.size());
  std::string own = mark;
  for (const std::string_view variable : environment) {
    if (variable.starts_with(prefix)) {
      own = procfs::with_tag(variable.substr(prefix.size()), *procfs::parse_tag(mark));
    } else {
      marked.add(variable);
    }
  }
  marked.add(prefix, own);
  return marked.take();
}

}  // namespace

ProcfsProcessSet::ProcfsProcessSet(ChildSpawner& spawner, loop::Loop& loop,
                                   ProcessSetObserver& observer, Families& families,
                                   std::string job)
    : spawner_(spawner),
      observer_(observer),
      families_(families),
      job_(std::move(job)),
      family_(families.begin(job_)),
      start_(loop::now()),
      next_due_(start_ + counters::kSampleGapMin),
      timer_(loop.timer([this] { look(); })) {}

ProcfsProcessSet::~ProcfsProcessSet() {
  thaw();
  families_.end(family_);
}

Result<guardian::ChildId> ProcfsProcessSet::spawn(guardian::SpawnRequest request) {
  request.env = with_mark(request.env, families_.mark_of(job_));
  request.guardian_death = guardian::GuardianDeath::end;
  auto child = spawner_.spawn(std::move(request), *this);
  if (!child) main_ended(nullptr);
  return child;
}

void ProcfsProcessSet::on_started(guardian::Started started) {
  families_.born(family_, started.pid);
  observer_.on_started(std::move(started));
}

void ProcfsProcessSet::on_start_failed(const guardian::StartFailed& failure) {
  main_ended(nullptr);
  observer_.on_start_failed(failure);
}

void ProcfsProcessSet::on_exited(const guardian::Exited& exited) {
  largest_ = Bytes{static_cast<std::uint64_t>(std::max(exited.usage.ru_maxrss, 0L)) << 10};
  main_ended(&exited.usage);
  observer_.on_exited(exited);
}

void ProcfsProcessSet::main_ended(const rusage* usage) { families_.main_ended(family_, usage); }

void ProcfsProcessSet::freeze() {
  if (!std::exchange(is_frozen_, true)) families_.freeze(family_);
}

void ProcfsProcessSet::thaw() {
  if (std::exchange(is_frozen_, false)) families_.thaw(family_);
}

void ProcfsProcessSet::signal_all(int number) {
  families_.count();
  families_.process_scanner().signal_all(family_, number);
}

void ProcfsProcessSet::fill(Instant now, WallTime wall, counters::SampleState state) {
  const procfs::Usage& usage = families_.usage(family_);
  latest_.t = now - start_;
  latest_.wall = wall;
  latest_.state = state;
  latest_.cpu.user = usage.user;
  latest_.cpu.system = usage.system;
  latest_.cpu.usage = usage.user + usage.system;
  if (usage.threads > 0) {
    sampled_peak_ = std::max(sampled_peak_.value_or(Bytes{}), usage.used);
  }
  latest_.memory.used = usage.used;
  latest_.memory.sampled_peak = sampled_peak_;
  latest_.memory.swap_current = usage.swap;
  if (usage.io) {
    latest_.io.read = usage.io->read;
    latest_.io.written = usage.io->written;
  }
  latest_.pids.current = usage.threads;
}

const counters::Sample& ProcfsProcessSet::sample(Instant now, WallTime wall,
                                                 counters::Level /*all*/,
                                                 counters::SampleState state) {
  families_.look(now);
  fill(now, wall, state);
  series_.add(latest_);
  next_due_ = now + counters::sample_gap(now - start_);
  return latest_;
}

counters::JobUsage ProcfsProcessSet::finish(Instant now, WallTime wall) {
  families_.settle(family_, now);
  fill(now, wall, counters::SampleState::running);
  // Nobody has looked while it ran: then the kernel's count of its largest process stands in.
  if (!sampled_peak_) latest_.memory.sampled_peak = largest_;
  series_.add(latest_);
  return {.totals = latest_,
          .stat_at_peak = {},
          .samples = series_.points(),
          .unavailable = unavailable()};
}

void ProcfsProcessSet::reap(reap::LeftBehind left_behind) {
  left_behind_ = left_behind;
  course_.emplace(loop::now());
  look();
}

void ProcfsProcessSet::look() {
  if (!course_) return;
  const Instant now = loop::now();
  if (course_->state() == reap::State::removing) return tell_gone();
  families_.count();
  const bool populated = families_.process_scanner().membership().is_populated(family_);
  const auto next =
      course_->looked(populated ? reap::Occupancy::populated : reap::Occupancy::empty, now);
  if (next.act == reap::Course::Act::remove) {
    timer_.set(now);  // the owner is told of the end from the loop, as of a group's
    reaped_.until_empty = now - course_->begun();
    observer_.on_empty();
    return;
  }
  if (next.act == reap::Course::Act::finish) return leave();
  if (next.act == reap::Course::Act::kill) kill();
  timer_.set(next.look_again);
  if (next.report_stuck) {
    observer_.on_stuck(
        {.since = now - course_->begun(), .processes = stuck(), .trouble = trouble_});
  }
}

void ProcfsProcessSet::kill() {
  if (!std::exchange(reaped_.killed, true) && left_behind_ == reap::LeftBehind::list) {
    for (const auto& [pid, stat] : families_.process_scanner().membership().members(family_)) {
      if (reaped_.left_behind.size() == cgroup::kReportedMax) break;
      reaped_.left_behind.push_back({.pid = pid, .comm = stat.comm});
    }
  }
  trouble_ = families_.process_scanner().kill(family_).trouble;
}

void ProcfsProcessSet::tell_gone() {
  const auto next = course_->removed(cgroup::Removal::done, loop::now());
  if (next.act != reap::Course::Act::finish) return;
  reaped_.until_gone = loop::now() - course_->begun();
  observer_.on_gone(reaped_);
}

// With somebody in it, who does not die.
void ProcfsProcessSet::leave() {
  reaped_.survivors = stuck();
  reaped_.until_gone = loop::now() - course_->begun();
  observer_.on_gone(reaped_);
}

std::vector<cgroup::StuckProcess> ProcfsProcessSet::stuck() const {
  std::vector<cgroup::StuckProcess> processes;
  const procfs::ProcessScanner& process_scanner = families_.process_scanner();
  for (const auto& [pid, stat] : process_scanner.membership().members(family_)) {
    if (processes.size() == cgroup::kReportedMax) break;
    const auto wchan = process_scanner.proc().read(pid, "wchan");
    const bool waits = wchan && *wchan != "0";
    processes.push_back({.pid = pid,
                         .comm = stat.comm,
                         .state = stat.state,
                         .wchan = waits ? std::string(trim(*wchan)) : std::string()});
  }
  return processes;
}

}  // namespace plimsoll::supervisor

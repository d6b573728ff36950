#include "supervisor/processes/procfs_process_set.h"

#include <sys/epoll.h>

#include <algorithm>
#include <csignal>

#include "base/text.h"
#include "kernel/counters/schedule.h"
#include "kernel/procfs/table.h"

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
                                   ProcessSetObserver& observer, std::shared_ptr<Family> family)
    : spawner_(spawner),
      observer_(observer),
      loop_(loop),
      family_(std::move(family)),
      start_(loop::now()),
      next_due_(start_ + counters::kSampleGapMin),
      timer_(loop.timer([this] { look(); })) {}

ProcfsProcessSet::~ProcfsProcessSet() { thaw(); }

Result<guardian::ChildId> ProcfsProcessSet::spawn(guardian::SpawnRequest request) {
  request.env = with_mark(request.env, families().mark_of(family_->job()));
  request.guardian_death = guardian::GuardianDeath::end;
  auto child = spawner_.spawn(std::move(request), *this);
  if (!child) families().main_ended(family_->id(), nullptr);
  return child;
}

void ProcfsProcessSet::on_started(guardian::Started started) {
  families().born(family_->id(), started.pid);
  observer_.on_started(std::move(started));
}

void ProcfsProcessSet::on_start_failed(const guardian::StartFailed& failure) {
  main_has_ended_ = true;
  families().main_ended(family_->id(), nullptr);
  observer_.on_start_failed(failure);
}

void ProcfsProcessSet::on_exited(const guardian::Exited& exited) {
  largest_ = Bytes{static_cast<std::uint64_t>(std::max(exited.usage.ru_maxrss, 0L)) << 10};
  main_has_ended_ = true;
  families().main_ended(family_->id(), &exited.usage);
  is_vacant_ = !exited.leaves_others && families().left_nobody(family_->id());
  guardian::Exited told = exited;
  told.leaves_others = false;  // they are found by looks here
  observer_.on_exited(told);
}

void ProcfsProcessSet::adopt(int main) {
  main_ = main;
  families().main_is(family_->id(), procfs::pid_of(main));
  vacancy_timer_ = loop_.timer([this] { look_for_vacancy(); });
  auto ended = loop_.watch(main, EPOLLIN, [this](std::uint32_t) { adopted_ended(); });
  if (ended) main_watch_ = std::move(*ended);
  vacancy_timer_.set(loop::now() + kVacancyLook);
}

// Until its parent has waited for it, it is there to be counted.
void ProcfsProcessSet::adopted_ended() {
  main_watch_ = {};
  const auto pid = procfs::pid_of(main_);
  const auto stat = pid ? procfs::stat_of(*pid) : std::nullopt;
  if (stat && procfs::pid_of(main_)) families().main_ended(family_->id(), *stat);
  counted_ = families().tell_counted([this] { tell_if_vacant(); });
}

void ProcfsProcessSet::look_for_vacancy() {
  families().look(loop::now());
  tell_if_vacant();
}

void ProcfsProcessSet::tell_if_vacant() {
  if (course_ || is_vacant_) return;  // it is told already, or is being reaped
  note_peak();
  is_vacant_ = !family_->is_populated();
  if (is_vacant_) return observer_.on_vacated(end_of_process(main_));
  vacancy_timer_.set(loop::now() + kVacancyLook);
}

void ProcfsProcessSet::freeze() {
  if (family_->is_exempt() || std::exchange(is_frozen_, true)) return;
  families().freeze(family_->id());
}

void ProcfsProcessSet::thaw() {
  if (std::exchange(is_frozen_, false)) families().thaw(family_->id());
}

void ProcfsProcessSet::signal_all(int number) {
  families().count();
  scanner().signal_all(family_->id(), number);
}

// Who lives has memory: where none was found, nobody was looked at in time.
void ProcfsProcessSet::note_peak() {
  const Bytes used = families().usage(family_->id()).used;
  if (used > Bytes{}) sampled_peak_ = std::max(sampled_peak_.value_or(Bytes{}), used);
}

void ProcfsProcessSet::fill(Instant now, WallTime wall, counters::SampleState state) {
  const procfs::Usage& usage = families().usage(family_->id());
  latest_.t = now - start_;
  latest_.wall = wall;
  latest_.state = state;
  latest_.cpu.user = usage.user;
  latest_.cpu.system = usage.system;
  latest_.cpu.usage = usage.user + usage.system;
  note_peak();
  latest_.memory.used = sampled_peak_ ? std::optional(usage.used) : std::nullopt;
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
  families().look(now);
  fill(now, wall, state);
  series_.add(latest_);
  next_due_ = now + counters::sample_gap(now - start_);
  return latest_;
}

counters::JobUsage ProcfsProcessSet::finish(Instant now, WallTime wall) {
  families().settle(family_->id(), now);
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
  main_watch_ = {};
  vacancy_timer_ = {};
  left_behind_ = left_behind;
  course_.emplace(loop::now());
  if (is_vacant_) return looked();
  if (!main_has_ended_) return look();  // it is to be killed, at once
  counted_ = families().tell_counted([this] { looked(); });
}

void ProcfsProcessSet::look() {
  if (!course_) return;
  if (course_->state() == reap::State::removing) return tell_gone();
  families().count();
  looked();
}

void ProcfsProcessSet::looked() {
  const Instant now = loop::now();
  const bool populated = family_->is_populated();
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
    for (const auto& [pid, stat] : scanner().membership().members(family_->id())) {
      if (reaped_.left_behind.size() == cgroup::kReportedMax) break;
      reaped_.left_behind.push_back({.pid = pid, .comm = stat.comm});
    }
  }
  trouble_ = scanner().kill(family_->id()).trouble;
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
  const procfs::ProcessScanner& process_scanner = scanner();
  for (const auto& [pid, stat] : process_scanner.membership().members(family_->id())) {
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

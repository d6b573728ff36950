#include "kernel/procfs/usage.h"

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>

namespace plimsoll::procfs {

namespace {

Traffic sum(const Traffic& a, const Traffic& b) {
  return {.read = a.read + b.read, .written = a.written + b.written};
}

}  // namespace

Duration thread_time() {
  rusage usage{};
  ::getrusage(RUSAGE_THREAD, &usage);
  return std::chrono::seconds(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
         std::chrono::microseconds(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec);
}

Duration time_of_ticks(std::uint64_t ticks) {
  const auto per_second = static_cast<std::uint64_t>(std::max(::sysconf(_SC_CLK_TCK), 1L));
  return std::chrono::nanoseconds(ticks * (std::nano::den / per_second));
}

void Meter::count(const Count& of) {
  ended_user_ += time_of_ticks(of.stat.user_ticks + of.stat.waited_user_ticks);
  ended_system_ += time_of_ticks(of.stat.system_ticks + of.stat.waited_system_ticks);
  if (of.io) ended_io_ = sum(ended_io_.value_or(Traffic{}), *of.io);
}

void Meter::main_ended(Duration user, Duration system, Traffic io) {
  ended_user_ += user;
  ended_system_ += system;
  ended_io_ = sum(ended_io_.value_or(Traffic{}), io);
}

// Pages that several share are in the sum of each. A process alone shares with strangers at most.
void Meter::look_at_share(const ProcDir& proc, const std::map<int, Bytes>& by_process,
                          Instant now) {
  if (by_process.size() < 2) {
    share_ = 1;
    return;
  }
  if (now < share_due_) return;
  const Duration before = thread_time();
  Bytes whole;
  Bytes proportional;
  for (const auto& [pid, bytes] : by_process) {
    const auto text = proc.read(pid, "smaps_rollup");
    const auto part = text ? parse_proportional(*text) : std::nullopt;
    if (!part) continue;
    whole += bytes;
    proportional += *part;
  }
  if (whole > Bytes{}) {
    const double share = to_double(proportional) / to_double(whole);
    share_ = std::min(share, 1.0);
  }
  share_due_ = now + std::max(kShareGapMin, kSharePause * (thread_time() - before));
}

// A step is what its driver is before its exec, where it may be held for long: the memory of that
// time is the driver's. What it gets beyond it is its own: an exec may fail.
Bytes Meter::inherited_by(const Stat& stat, Bytes whole) {
  if (main_ != stat.id.pid) return {};
  if (!stat.is_copy) {
    inherited_.reset();
    return {};
  }
  if (!inherited_) inherited_ = whole;
  return std::min(whole, *inherited_);
}

void Meter::look(const ProcDir& proc, const std::map<int, Stat>& members, Instant now) {
  Usage usage;
  std::map<Id, Count> seen;
  std::map<int, Bytes> by_process;
  std::uint64_t user = 0;
  std::uint64_t system = 0;
  std::optional<Traffic> io = ended_io_;
  for (const auto& [pid, stat] : members) {
    Count one{.stat = stat, .io = {}};
    if (const auto text = proc.read(pid, "io")) one.io = parse_io(*text);
    if (const auto text = proc.read(pid, "status")) {
      const Resident resident = parse_resident(*text);
      const Bytes whole = resident.anon.value_or(Bytes{}) + resident.shmem.value_or(Bytes{});
      const Bytes inherited = inherited_by(stat, whole);
      const Bytes own = whole - inherited;
      if (inherited == Bytes{}) by_process.emplace(pid, own);
      usage.used += own;
      usage.resident += own + resident.file.value_or(Bytes{});
      usage.swap += resident.swap.value_or(Bytes{});
    }
    usage.threads += stat.threads;
    user += stat.user_ticks + stat.waited_user_ticks;
    system += stat.system_ticks + stat.waited_system_ticks;
    if (one.io) io = sum(io.value_or(Traffic{}), *one.io);
    seen.emplace(stat.id, std::move(one));
  }
  for (const auto& [id, one] : last_) {
    const bool is_orphan = one.stat.parent == guardian_ && main_ != id.pid;
    if (is_orphan && !seen.contains(id)) {
      count(one);
      if (one.io) io = sum(io.value_or(Traffic{}), *one.io);
    }
  }
  last_ = std::move(seen);
  look_at_share(proc, by_process, now);
  usage.used = {static_cast<std::uint64_t>(to_double(usage.used) * share_)};
  // A child that ended is counted a moment later, or never: what was seen once stays.
  if (io || usage_.io) {
    const Traffic before = usage_.io.value_or(Traffic{});
    const Traffic now_seen = io.value_or(Traffic{});
    usage.io = Traffic{.read = std::max(before.read, now_seen.read),
                       .written = std::max(before.written, now_seen.written)};
  }
  usage.user = std::max(usage_.user, time_of_ticks(user) + ended_user_);
  usage.system = std::max(usage_.system, time_of_ticks(system) + ended_system_);
  usage_ = usage;
}

}  // namespace plimsoll::procfs

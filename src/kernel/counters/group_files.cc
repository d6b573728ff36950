#include "kernel/counters/group_files.h"

#include <sys/stat.h>

#include <algorithm>

#include "kernel/counters/parse_single.h"
#include "kernel/counters/since.h"

namespace plimsoll::counters {
namespace {

std::optional<Duration> total_of(const std::optional<Pressure>& pressure) {
  if (!pressure || !pressure->some) return std::nullopt;
  return pressure->some->total;
}

// What a cheap read leaves as it is.
void clear_full_only(Sample& sample) {
  sample.cpu.nr_periods.reset();
  sample.cpu.nr_throttled.reset();
  sample.cpu.throttled.reset();
  sample.memory.used.reset();
  sample.memory.swap_current.reset();
  sample.memory.swap_peak.reset();
  sample.memory.max.reset();
  sample.memory.stat = {};
  sample.io = {.pressure = sample.io.pressure};
  sample.pids.peak.reset();
  sample.pids.events_max.reset();
  sample.frozen.reset();
}

// Of the last look at a group. What can't be had is nothing that could tell it from a new one.
bool leaves_nothing(const Sample& last) {
  const auto& events = last.memory.events;
  const auto counts = {events.low,        events.high,         events.max,
                       events.oom,        events.oom_kill,     events.oom_group_kill,
                       last.pids.current, last.pids.events_max};
  const auto& stat = last.memory.stat;
  const auto sizes = {last.memory.swap_current, last.memory.swap_peak, stat.sock, stat.file_dirty,
                      stat.file_writeback};
  return std::all_of(counts.begin(), counts.end(), [](auto n) { return n.value_or(0) == 0; }) &&
         std::all_of(sizes.begin(), sizes.end(),
                     [](auto n) { return n.value_or(Bytes{}) == Bytes{}; }) &&
         last.pids.peak.value_or(1) <= 1 && !last.memory.max &&
         last.memory.current.value_or(Bytes{}) <= kLeftInGroupMax;
}

// A directory of cgroups has two links, and one for each child.
bool has_children(const cgroup::Group& group) {
  return std::any_of(group.parts().begin(), group.parts().end(), [](const auto& part) {
    struct stat seen{};
    return ::fstat(part.directory.fd(), &seen) != 0 || seen.st_nlink > 2;
  });
}

}  // namespace

PidsFiles::PidsFiles(const cgroup::Group& group) {
  const cgroup::Directory* directory = group.of(cgroup::Controller::pids);
  if (directory == nullptr) {
    missing_ = "the group has no pids controller";
    return;
  }
  current_ = KernelFile(*directory, "pids.current", "pids.current");
  peak_ = KernelFile(*directory, "pids.peak", "pids.peak");
  events_ = KernelFile(*directory, "pids.events", "pids.events_max");
}

void PidsFiles::read(Level level, PidsUsage& pids, std::string& buffer) {
  if (const auto text = current_.read(buffer)) pids.current = parse_count(*text);
  if (level == Level::cheap) return;
  if (const auto text = peak_.read(buffer)) pids.peak = parse_count(*text);
  if (const auto text = events_.read(buffer)) pids.events_max = parse_pids_events(*text);
}

bool PidsFiles::has_failed() const {
  for (const auto* file : {&current_, &peak_, &events_}) {
    if (file->has_failed()) return true;
  }
  return false;
}

void PidsFiles::note(Unavailable& unavailable) const {
  if (!missing_.empty()) unavailable.insert_or_assign("pids", missing_);
  for (const auto* file : {&current_, &peak_, &events_}) file->note(unavailable);
}

GroupFiles::GroupFiles(const cgroup::Group& group)
    : cpu_(group), memory_(group), io_(group), pids_(group), has_v2_(group.v2() != nullptr) {
  if (const auto* v2 = group.v2()) {
    frozen_ = KernelFile(*v2, "cgroup.stat.local", "frozen");
    cpu_pressure_ = PressureFile(KernelFile(*v2, "cpu.pressure", "cpu.pressure"));
    memory_pressure_ = PressureFile(KernelFile(*v2, "memory.pressure", "memory.pressure"));
    io_pressure_ = PressureFile(KernelFile(*v2, "io.pressure", "io.pressure"));
  }
}

// What does not change while the group is at rest, and tells that it is not.
void GroupFiles::read_leading(Instant now) {
  const auto usage = raw_.cpu.usage;
  const auto current = raw_.memory.current;
  cpu_.read_usage(raw_.cpu, buffer_);
  memory_.read_current(raw_.memory, buffer_);
  const bool rests = usage && current && raw_.cpu.usage == usage && raw_.memory.current == current;
  if (!rests) changed_ = now;
}

bool GroupFiles::is_at_rest(Instant now) const {
  return whole_ && *whole_ - changed_ >= kStatLag && now - *whole_ < kRestMax;
}

void GroupFiles::read_rest(Level level) {
  memory_.read_rest(level, raw_.memory, buffer_);
  pids_.read(level, raw_.pids, buffer_);
  if (level == Level::cheap) return;
  cpu_.read_rest(raw_.cpu, buffer_);
  io_.read(raw_.io, buffer_);
  if (const auto text = frozen_.read(buffer_)) raw_.frozen = parse_frozen_time(*text);
}

void GroupFiles::read(Level level, Instant now) {
  read_leading(now);
  if (level == Level::cheap) {
    read_rest(Level::cheap);
  } else if (is_at_rest(now)) {
    return read_a_pressure(now);
  } else {
    read_rest(Level::full);
    whole_ = now;
  }
  take(cpu_pressure_, raw_.cpu.pressure, now);
  take(memory_pressure_, raw_.memory.pressure, now);
  take(io_pressure_, raw_.io.pressure, now);
}

// Who has not run may still have waited.
void GroupFiles::read_a_pressure(Instant now) {
  switch (turns_++ % 3) {
    case 0: take(cpu_pressure_, raw_.cpu.pressure, now); break;
    case 1: take(memory_pressure_, raw_.memory.pressure, now); break;
    default: take(io_pressure_, raw_.io.pressure, now);
  }
}

void GroupFiles::take(PressureFile& file, std::optional<Pressure>& pressure, Instant now) {
  const auto before = total_of(pressure);
  pressure = file.read(now, buffer_);
  if (total_of(pressure) != before) changed_ = now;
}

void GroupFiles::read_stat() { memory_.read_stat(raw_.memory, buffer_); }

void GroupFiles::read_last(Instant now) {
  read_leading(now);
  read_rest(Level::full);
  raw_.cpu.pressure = cpu_pressure_.read_last(now, buffer_);
  raw_.memory.pressure = memory_pressure_.read_last(now, buffer_);
  raw_.io.pressure = io_pressure_.read_last(now, buffer_);
}

bool GroupFiles::has_failed() const {
  if (cpu_.has_failed() || memory_.has_failed() || io_.has_failed() || pids_.has_failed() ||
      frozen_.has_failed()) {
    return true;
  }
  return cpu_pressure_.file().has_failed() || memory_pressure_.file().has_failed() ||
         io_pressure_.file().has_failed();
}

bool GroupFiles::begin_again(const cgroup::Group& group, Instant now) {
  if (gone() || has_failed() || !leaves_nothing(raw_)) return false;
  if (has_children(group) || !memory_.reset_peak(group)) return false;
  start_ = raw_;
  changed_ = now;
  whole_.reset();
  return true;
}

Sample GroupFiles::latest(Level level) const {
  Sample sample = start_ ? since(raw_, *start_) : raw_;
  if (level == Level::cheap && !gone()) clear_full_only(sample);
  return sample;
}

void GroupFiles::note(Unavailable& unavailable) const {
  cpu_.note(unavailable);
  memory_.note(unavailable);
  io_.note(unavailable);
  pids_.note(unavailable);
  frozen_.note(unavailable);
  for (const auto* pressure : {&cpu_pressure_, &memory_pressure_, &io_pressure_}) {
    pressure->file().note(unavailable);
  }
  if (!has_v2_) {
    for (const char* key : {"cpu.pressure", "memory.pressure", "io.pressure"}) {
      unavailable.insert_or_assign(key,
                                   "the host has no cgroup v2 tree, and only cgroup v2 counts it");
    }
  }
}

}  // namespace plimsoll::counters

#include "supervisor/host_attempt.h"

#include <algorithm>

#include "base/check.h"

// What the scheduler is told of a running attempt, and of the disks that it writes to.
namespace plimsoll::supervisor {
namespace {

// The kernel's peak counts clean page cache, which `used` leaves out: it stands in only for a job
// that ended before it was looked at.
policy::JobSample job_sample(const Attempt& attempt, const counters::Sample& sample) {
  const counters::MemoryUsage& memory = sample.memory;
  policy::JobSample seen{.ran = attempt.ran()};
  const bool is_only_sample = attempt.is_emptied() && !attempt.was_sampled();
  const auto stand_in = !is_only_sample ? memory.current
                        : memory.peak   ? memory.peak
                                        : memory.sampled_peak;
  seen.used = is_only_sample ? stand_in.value_or(Bytes{})
                             : memory.used.value_or(stand_in.value_or(Bytes{}));
  seen.peak = std::max(seen.used, memory.used_peak_least.value_or(Bytes{}));
  seen.cpu = sample.cpu.usage.value_or(Duration{});
  if (sample.cpu.pressure && sample.cpu.pressure->some) {
    seen.cpu_wait = sample.cpu.pressure->some->total;
  }
  seen.io = sample.io.moved();
  if (sample.io.pressure && sample.io.pressure->some) {
    seen.io_wait = sample.io.pressure->some->total;
  }
  return seen;
}

// Writers are read so far apart for each of the running jobs: with many of them all reading takes
// a few hundredths of a core, at some 20 us a process.
constexpr Duration kReadGapOfEach = std::chrono::milliseconds(1);

}  // namespace

void HostExecutor::AttemptRecord::on_sampled(const counters::Sample& sample) {
  if (is_over) return;
  policy::JobSample seen = job_sample(attempt, sample);
  seen.written = executor.written_by(*this, sample);
  written = std::max(written, seen.written);
  if (attempt.was_sampled()) executor.largest_job_ = std::max(executor.largest_job_, seen.used);
  executor.largest_job_ =
      std::max(executor.largest_job_, sample.memory.used_peak_least.value_or(Bytes{}));
  if (attempt.is_emptied()) return executor.scheduler_.on_last_look(key.job, seen);
  executor.scheduler_.on_job(key.job, seen);
}

policy::DiskSample HostExecutor::watch(const std::vector<policy::DiskFloor>& disks) {
  PLIMSOLL_CHECK(disk_watch_ == nullptr);
  std::vector<std::string> paths;
  for (const policy::DiskFloor& disk : disks) paths.push_back(disk.path);
  const bool holds = std::any_of(disks.begin(), disks.end(), [](const policy::DiskFloor& disk) {
    return disk.rule == policy::DiskRule::hold;
  });
  write_look_ = holds ? kWriteLook : kWriteLookToTell;
  if (auto proc = procfs::ProcDir::open()) proc_.emplace(std::move(*proc));
  write_timer_ = host_.timer([this] { read_writers(); });
  disk_watch_ = std::make_unique<DiskWatch>(
      host_, host_.loop(), paths, holds ? kSpaceLook : kSpaceLookToTell,
      [this, disks](const policy::DiskSample& sample) { on_disks(disks, sample); });
  read_at_ = disk_watch_->look();
  stop_watching();
  return read_at_;
}

void HostExecutor::on_disks(const std::vector<policy::DiskFloor>& disks,
                            const policy::DiskSample& sample) {
  bool asks = false;
  for (std::size_t i = 0; i < disks.size(); ++i) {
    asks = asks || asks_for_writers(disks[i], read_at_.free[i], sample.free[i]);
  }
  if (asks) {
    read_at_ = sample;
    look_at_writers();
  }
  scheduler_.on_disks(sample);
}

// Who is named, or paused, is to be the right one, and nobody for what he has written by now, as
// far as one turn goes.
void HostExecutor::look_at_writers() {
  if (!proc_) return;
  const Instant now = host_.now();
  const std::vector<AttemptRecord*> records = all_running();
  const Duration gap =
      std::max<Duration>(kSpaceLook / 2, kReadGapOfEach * static_cast<int>(records.size()));
  for (AttemptRecord* record : records) {
    const WriteMeter& meter = record->write_meter;
    if (record->attempt.group() == nullptr || record->attempt.is_paused()) continue;
    if (meter.is_due(now, gap)) write_looks_.ask(record->key.job, meter.looked());
  }
  read_writers();
}

void HostExecutor::read_writers() {
  const Instant now = host_.now();
  std::vector<JobId> looked_at;
  while (const auto job = write_looks_.next(now)) {
    const auto found = jobs_.find(*job);
    if (found == jobs_.end() || found->second.running == nullptr) continue;
    AttemptRecord& record = *found->second.running;
    const auto before = record.write_meter.written();
    read_writer(record, now);
    if (record.write_meter.written() != before) looked_at.push_back(*job);
  }
  go_on_with_writers();
  for (const JobId job : looked_at) {
    if (Attempt* attempt = running(job)) attempt->look();
  }
}

void HostExecutor::read_writer(AttemptRecord& record, Instant now) {
  if (const auto group = record.attempt.group()) {
    write_looks_.has_read(record.write_meter.look(*proc_, *group, now));
  }
}

void HostExecutor::go_on_with_writers() {
  if (const auto then = write_looks_.goes_on()) write_timer_->set(*then);
}

std::optional<Bytes> HostExecutor::written_by(AttemptRecord& record,
                                              const counters::Sample& sample) {
  if (disk_watch_ == nullptr) return std::nullopt;
  if (record.attempt.group() == nullptr) return sample.io.written;  // process mode: by /proc, too
  if (!proc_) return std::nullopt;
  const Instant now = host_.now();
  WriteMeter& meter = record.write_meter;
  // Of who has ended nobody is left to be read.
  if (!record.attempt.is_emptied() && meter.is_due(now, write_look_)) {
    if (write_looks_.is_next(record.key.job, meter.looked(), now)) read_writer(record, now);
    go_on_with_writers();
  }
  return meter.written();
}

// By one that nobody here has waited for: as far as looks tell that were close enough together.
// What it wrote after the last of them is missing.
std::optional<Bytes> HostExecutor::seen_to_write(const AttemptRecord& record) const {
  return holds_writers() ? record.written : std::nullopt;
}

void HostExecutor::start_watching() {
  watcher_.start();
  if (disk_watch_ != nullptr) disk_watch_->start();
}

// Where jobs are held for space, the next ones are to be by what is free by then; but while all
// stand still nothing is decided.
void HostExecutor::stop_watching() {
  watcher_.stop();
  if (disk_watch_ == nullptr) return;
  if (holds_writers() && !stopped_at_) {
    disk_watch_->rest();
  } else {
    disk_watch_->stop();
  }
  write_looks_.forget_all();
  write_timer_->off();
}

}  // namespace plimsoll::supervisor

#include "supervisor/external/external_job_service.h"

#include <unistd.h>

#include <algorithm>
#include <utility>

#include "base/check.h"
#include "supervisor/external/external_process_set.h"

namespace plimsoll::supervisor {
namespace {

// The path of the pool from the root of each hierarchy that has it.
std::vector<std::string> pool_paths(const Supervisor& supervisor) {
  std::vector<std::string> paths;
  for (const cgroup::Group::Part& part : supervisor.pool().parts()) {
    const std::string& label = part.directory.label();
    for (const cgroup::Hierarchy& hierarchy : supervisor.hierarchies().all) {
      if (!label.starts_with(hierarchy.mount_point + "/")) continue;
      const std::string root = hierarchy.mount_root == "/" ? "" : hierarchy.mount_root;
      paths.push_back(root + label.substr(hierarchy.mount_point.size()));
      break;
    }
  }
  return paths;
}

// So long a round waits for what is read for it.
constexpr Duration kReadingPatience = ExternalJobs::kSampleInterval;

MachineSize size_of_machine() {
  const auto number = [](int name) {
    return static_cast<std::uint64_t>(std::max(::sysconf(name), 1L));
  };
  return {.memory = {number(_SC_PHYS_PAGES) * number(_SC_PAGESIZE)},
          .cpus = static_cast<unsigned>(number(_SC_NPROCESSORS_CONF))};
}

}  // namespace

ExternalJobService::ExternalJobService(Supervisor& supervisor, HostScheduler& host_scheduler,
                                       ExternalJobsOwner& owner)
    : supervisor_(supervisor),
      host_scheduler_(host_scheduler),
      owner_(owner),
      signals_(supervisor.loop()),
      external_jobs_(
          *this, {.uid = ::geteuid(),
                  .machine = size_of_machine(),
                  .writes = host_scheduler.watches_disks() ? Writes::measured : Writes::ignored}),
      timer_(supervisor.loop().timer([this] { go_on(); })),
      reader_(supervisor.loop()) {
  host_scheduler_.attach(external_jobs_);
  go_on();
}

// What stands still or dies is to be looked at soon: who was born since the last look is not known.
void ExternalJobService::on_event(const policy::Event& event) {
  external_jobs_.on_event(event);
  const bool is_urgent =
      event.kind == policy::EventKind::frozen || event.kind == policy::EventKind::evicted;
  if (is_urgent && round_ == Round::due) timer_.set(loop::now());
}

// The timer has come: the next step of a round.
void ExternalJobService::go_on() {
  if (round_ != Round::due) return look();
  if (is_reading_ || !processes_ || !processes_->has_families()) return look();
  begin_reading();
  round_ = Round::reading;
  timer_.set(loop::now() + kReadingPatience);
}

MeasuredGroups ExternalJobService::measured_groups() const {
  MeasuredGroups measured;
  for (std::string& path : pool_paths(supervisor_)) measured.add(std::move(path));
  external_jobs_.add_groups(measured);
  return measured;
}

void ExternalJobService::begin_reading() {
  is_reading_ = true;
  struct Read {
    ProcessReading reading;
    Duration cost{};
  };
  auto read = std::make_shared<Read>(Read{.reading = processes_->begin(measured_groups())});
  reader_.submit(
      [read, processes = processes_] {
        const Duration before = loop::cpu_time();
        read->reading.read(loop::now());
        read->cost = loop::cpu_time() - before;
      },
      [weak = std::weak_ptr(self_), read] {
        const auto self = weak.lock();
        if (!self) return;
        (*self)->processes_->take(read->reading);
        (*self)->cost_ += read->cost;
        (*self)->is_reading_ = false;
        if ((*self)->round_ == Round::reading) (*self)->look();
      });
}

void ExternalJobService::look() {
  round_ = Round::looking;
  const Duration before = loop::cpu_time();
  const bool is_left = external_jobs_.look();
  cost_ += loop::cpu_time() - before;
  if (is_left) return timer_.set(loop::now());
  round_ = Round::due;
  const Duration cost = std::exchange(cost_, Duration{});
  timer_.set(loop::now() + ExternalJobs::gap_after(cost));
}

void ExternalJobService::enter(const policy::JobSpec& job) {
  host_scheduler_.enter_external(host_scheduler_.within_reach(job), *this);
}

void ExternalJobService::on_sampled(JobId job, const policy::JobSample& sample) {
  host_scheduler_.external_sampled(job, sample);
}

void ExternalJobService::on_attempt_over(JobId job, const policy::AttemptEnd& end) {
  host_scheduler_.external_over(job, end);
}

void ExternalJobService::withdraw(JobId job, const std::string& reason) {
  // It waits: that is when external jobs are withdrawn.
  [[maybe_unused]] const auto done = host_scheduler_.scheduler().withdraw(job, reason);
}

void ExternalJobService::cancel(JobId job, const std::string& reason) {
  [[maybe_unused]] const auto done = host_scheduler_.scheduler().kill(job, reason);
}

Prepared ExternalJobService::prepare(const policy::Start& /*start*/) {
  PLIMSOLL_CHECK(false && "an external job is started by its client");
  return {};
}

Result<std::unique_ptr<ExternalProcessSet>> ExternalJobService::open_place(
    const ExternalLocation& place, const Peer& peer) {
  if (const auto* group = std::get_if<CgroupPlace>(&place)) {
    const auto pools = pool_paths(supervisor_);
    return open_group(*group, peer, supervisor_.hierarchies(), pools.empty() ? "" : pools.front(),
                      signals_);
  }
  if (!processes_) {
    auto look = ProcessSnapshot::open();
    if (!look) return pass(std::move(look));
    processes_ = std::move(*look);
  }
  return open_processes(std::get<ProcessPlace>(place), peer, processes_, signals_);
}

}  // namespace plimsoll::supervisor

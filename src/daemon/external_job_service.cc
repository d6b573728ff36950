#include "daemon/external_job_service.h"

#include <unistd.h>

#include <algorithm>
#include <utility>

#include "base/check.h"
#include "supervisor/external/external_process_set.h"

namespace plimsoll::daemon {
namespace {

// The path of the pool from the root of its hierarchy; empty where there is none.
std::string pool_path(const supervisor::Supervisor& supervisor) {
  for (const cgroup::Group::Part& part : supervisor.pool().parts()) {
    const std::string& label = part.directory.label();
    for (const cgroup::Hierarchy& hierarchy : supervisor.hierarchies().all) {
      if (!label.starts_with(hierarchy.mount_point + "/")) continue;
      const std::string root = hierarchy.mount_root == "/" ? "" : hierarchy.mount_root;
      return root + label.substr(hierarchy.mount_point.size());
    }
  }
  return {};
}

supervisor::MachineSize size_of_machine() {
  const auto number = [](int name) {
    return static_cast<std::uint64_t>(std::max(::sysconf(name), 1L));
  };
  return {.memory = {number(_SC_PHYS_PAGES) * number(_SC_PAGESIZE)},
          .cpus = static_cast<unsigned>(number(_SC_NPROCESSORS_CONF))};
}

}  // namespace

ExternalJobService::ExternalJobService(supervisor::Supervisor& supervisor,
                                       supervisor::HostScheduler& host_scheduler,
                                       std::function<JobId()> next_id,
                                       std::function<void(const report::JobReport&)> ended)
    : supervisor_(supervisor),
      host_scheduler_(host_scheduler),
      next_id_(std::move(next_id)),
      ended_(std::move(ended)),
      external_jobs_(*this, {.uid = ::geteuid(), .machine = size_of_machine()}) {
  host_scheduler_.attach(external_jobs_);
}

void ExternalJobService::enter(const policy::JobSpec& job) {
  host_scheduler_.enter_external(host_scheduler_.within_reach(job), *this);
}

void ExternalJobService::on_sampled(JobId job, const policy::JobSample& sample) {
  host_scheduler_.external_sampled(job, sample);
}

void ExternalJobService::on_over(JobId job, const policy::AttemptEnd& end) {
  host_scheduler_.external_over(job, end);
}

void ExternalJobService::withdraw(JobId job, const std::string& reason) {
  // It waits: that is when external jobs are withdrawn.
  [[maybe_unused]] const auto done = host_scheduler_.scheduler().withdraw(job, reason);
}

void ExternalJobService::cancel(JobId job, const std::string& reason) {
  [[maybe_unused]] const auto done = host_scheduler_.scheduler().kill(job, reason);
}

supervisor::Prepared ExternalJobService::prepare(const policy::Start& /*start*/) {
  PLIMSOLL_CHECK(false && "a guest is started by its client");
  return {};
}

Result<std::unique_ptr<supervisor::ExternalProcessSet>> ExternalJobService::open_place(
    const supervisor::ExternalLocation& place, const supervisor::Peer& peer) {
  if (const auto* group = std::get_if<supervisor::CgroupPlace>(&place)) {
    return supervisor::open_group(*group, peer, supervisor_.hierarchies(), pool_path(supervisor_));
  }
  if (!processes_) {
    auto look = supervisor::ProcessSnapshot::open();
    if (!look) return pass(std::move(look));
    processes_ = std::move(*look);
  }
  return supervisor::open_processes(std::get<supervisor::ProcessPlace>(place), peer, processes_);
}

}  // namespace plimsoll::daemon

#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "daemon/api/api.h"
#include "daemon/api/job_service.h"
#include "daemon/api/job_socket.h"
#include "daemon/config.h"
#include "daemon/external_job_service.h"
#include "daemon/grpc/gate.h"
#include "daemon/observatory.h"
#include "supervisor/knowledge.h"
#include "supervisor/sharing/lease.h"
#include "supervisor/supervisor.h"

namespace plimsoll::daemon {

// What the services stand on; all of it must outlive them.
struct ServicesDeps {
  supervisor::Supervisor& supervisor;
  supervisor::HostScheduler& host_scheduler;
  const supervisor::Knowledge& knowledge;
  Gate& gate;
  std::function<JobId()> next_id;  // new to the host scheduler
  std::uint64_t job_processes = 0;
  std::function<void(const std::string&)> notice;
  std::string_view version;
  std::function<std::optional<supervisor::Others>()> others;  // that have a lease
  // By who governs the machine, until the configuration is read again.
  std::function<Result<Bytes>(std::string_view size)> set_line;
  std::function<Result<void>(unsigned)> set_jobs_max;
};

// All that the daemon offers to programs of this machine: plimsoll.v1, and metrics of it and of
// whatever else the host scheduler runs. Of the loop's thread.
class Services {
 public:
  // Before the host scheduler's first external job.
  explicit Services(ServicesDeps deps);
  Services(const Services&) = delete;
  Services& operator=(const Services&) = delete;
  // The gate is closed and has let everything through by then, as Api says.
  ~Services();

  // Metrics that nobody has asked for are gone without, where they can't be served.
  Result<void> listen(const LoadedConfig& loaded);

  // Where it listens, for people.
  [[nodiscard]] std::string where() const;

  // What is counted: events of the host scheduler, and ends of jobs of others than these services.
  void event(const policy::Event& event) { observatory_.event(event); }
  void ended(const report::JobReport& report) { observatory_.ended(report); }

  // No more jobs are taken or admitted; those that run go on. Or they are killed.
  void drain();
  void kill_all(const std::string& reason);
  [[nodiscard]] bool is_idle() const;

 private:
  [[nodiscard]] metrics::Snapshot snapshot();
  [[nodiscard]] supervisor::RunStatus status(const supervisor::Peer& peer) const;

  ServicesDeps deps_;
  bool is_draining_ = false;
  std::string socket_;
  std::optional<MetricsConfig> metrics_;  // where they are served
  Observatory observatory_;
  ExternalJobService external_jobs_;
  std::shared_ptr<JobService> jobs_;
  std::unique_ptr<Api> api_;
  std::unique_ptr<JobSocket> people_;
  Instant begun_ = loop::now();
};

}  // namespace plimsoll::daemon

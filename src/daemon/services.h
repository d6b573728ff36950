#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "daemon/api/api.h"
#include "daemon/api/job_service.h"
#include "daemon/api/job_socket.h"
#include "daemon/config.h"
#include "daemon/dashboard/dashboard.h"
#include "daemon/grpc/gate.h"
#include "daemon/jobs/job_runner.h"
#include "daemon/jobs/reporter.h"
#include "daemon/machine_line.h"
#include "daemon/observatory.h"
#include "supervisor/external/external_job_service.h"
#include "supervisor/light/light_server.h"
#include "supervisor/run/knowledge.h"
#include "supervisor/supervisor.h"

namespace plimsoll::daemon {

// What the services stand on; all of it must outlive them.
struct ServicesDeps {
  supervisor::Supervisor& supervisor;
  supervisor::HostScheduler& host_scheduler;
  const supervisor::Knowledge& knowledge;
  MachineLine& line;
  JobRunner& jobs;
  Gate& gate;
  std::uint64_t job_processes = 0;
  std::string_view version;
};

// All that the daemon offers to programs of this machine: plimsoll.v1, and metrics and a dashboard
// of it and of whatever else the host scheduler runs. Of the loop's thread.
class Services : public Reporter,
                 private Controls,
                 private metrics::MetricsSource,
                 private dashboard::DashboardSource,
                 private supervisor::ExternalJobsOwner {
 public:
  // Before the host scheduler's first external job.
  explicit Services(const ServicesDeps& deps);
  Services(const Services&) = delete;
  Services& operator=(const Services&) = delete;
  // The gate is closed and has let everything through by then, as Api says.
  ~Services() override;

  // Metrics and a dashboard that nobody has asked for are gone without, where they can't be served.
  Result<void> listen(const LoadedConfig& loaded);

  // Where it listens, for people.
  [[nodiscard]] std::string where() const;

  // What is counted: events of the host scheduler, and ends of jobs.
  void event(const policy::Event& event);
  void ended(const report::JobReport& report) override { observatory_.ended(report); }
  // A line of the log.
  void notice(const std::string& text) override;

  // No more jobs are taken or admitted; those that run go on. Or they are killed.
  void drain();
  void kill_all(const std::string& reason);
  [[nodiscard]] bool is_idle() const;
  // Whether somebody at a shell has not been told yet how his job has ended.
  [[nodiscard]] bool has_to_tell() const { return people_ != nullptr && people_->has_to_tell(); }

 private:
  [[nodiscard]] supervisor::RunStatus status(const supervisor::Peer& peer) const override;
  Result<Bytes> set_line(std::string_view size) override;
  Result<void> set_jobs_max(unsigned jobs) override;
  std::vector<prometheus::MetricFamily> collect() override;
  supervisor::RunStatus status() override;
  Result<void> serve_metrics(const LoadedConfig& loaded);
  Result<void> serve_dashboard(const LoadedConfig& loaded);
  JobId next_job_id() override { return deps_.jobs.next_id(); }
  void external_ended(const report::JobReport& report) override { ended(report); }

  [[nodiscard]] std::optional<std::uint64_t> processes_max() const;

  ServicesDeps deps_;
  bool is_draining_ = false;
  std::string socket_;
  std::optional<MetricsConfig> metrics_;  // where they are served
  Observatory observatory_;
  supervisor::ExternalJobService external_jobs_;
  std::shared_ptr<JobService> jobs_;
  std::unique_ptr<Api> api_;
  std::unique_ptr<JobSocket> people_;
  std::unique_ptr<supervisor::LightServer> launchers_;
  std::unique_ptr<dashboard::Dashboard> dashboard_;
  Instant begun_ = loop::now();
};

}  // namespace plimsoll::daemon

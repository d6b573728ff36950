#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "daemon/config.h"
#include "daemon/grpc/gate.h"
#include "daemon/jobs/host_jobs.h"
#include "daemon/machine_line.h"
#include "daemon/options.h"
#include "daemon/runners.h"
#include "daemon/services.h"
#include "supervisor/host_scheduler.h"
#include "supervisor/run/guardian_watch.h"
#include "supervisor/run/knowledge.h"
#include "supervisor/supervisor.h"

namespace plimsoll::daemon {

// The life of the daemon: it governs until it is told to end, then lets what runs end (SIGTERM), or
// kills it (again, or SIGINT), and leaves nothing behind.
class Daemon : private supervisor::HostSchedulerObserver, private supervisor::SignalObserver {
 public:
  // `link` is from become_guardian(), `config` what these options say now; they are read again upon
  // SIGHUP. Listens; an error says what is in the way.
  static Result<std::unique_ptr<Daemon>> start(guardian::Link link, LoadedConfig config,
                                               ServeOptions options);
  ~Daemon() override;

  // Returns when it was told to end and everything is over. An error: the guardian was lost and
  // everything reaped; then nothing but the end of the process is in order.
  Result<void> run();

 private:
  enum class Phase : std::uint8_t { serving, draining, killing };

  Daemon(std::unique_ptr<supervisor::Supervisor> supervisor, LoadedConfig config,
         ServeOptions options, policy::GovernorConfig governor, pid_t guardian);
  Result<void> listen();
  Result<void> start_runners();
  void adopt(const LoadedConfig& next, const policy::GovernorConfig& governor);
  void on_scheduler_event(const policy::Event& event) override;
  void on_learnt(const policy::AttemptSummary& what) override { knowledge_.learnt(what); }
  void on_notice(const std::string& text) override;
  void on_disk_news(const policy::DiskNews& news) override;
  void watch_dog(pid_t guardian);
  void on_signal(const guardian::Signalled& signal) override;
  void on_resumed() override;
  void end(Phase phase);
  void reload();
  [[nodiscard]] Result<void> read_again();
  [[nodiscard]] bool is_over() const;

  std::unique_ptr<supervisor::Supervisor> supervisor_;
  LoadedConfig config_;  // that holds; of what is read later, all that can be had at once
  ServeOptions options_;
  supervisor::Knowledge knowledge_;
  supervisor::HostScheduler host_scheduler_;
  MachineLine line_;
  HostJobs jobs_;
  Gate gate_;
  std::unique_ptr<Services> services_;
  std::unique_ptr<Runners> runners_;
  loop::Timer watchdog_timer_;
  std::optional<supervisor::GuardianWatch> guardian_watch_;
  Phase phase_ = Phase::serving;
};

}  // namespace plimsoll::daemon

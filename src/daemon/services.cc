#include "daemon/services.h"

#include <unistd.h>

#include <map>
#include <utility>

#include <prometheus/metric_family.h>

#include "daemon/log.h"
#include "store/history/state_dir.h"
#include "supervisor/capacity.h"
#include "supervisor/control/job_protocol.h"
#include "supervisor/light/light_protocol.h"

namespace plimsoll::daemon {
namespace {

// As they are known to this client of the daemon: of those of other programs, only the number.
class SpecsForPeer : public supervisor::JobSpecs {
 public:
  // Both must outlive this.
  SpecsForPeer(const JobService& jobs, const supervisor::Peer& peer) : jobs_(jobs), peer_(peer) {}

  [[nodiscard]] const policy::JobSpec& spec_of(JobId job) const override {
    if (const policy::JobSpec* known = jobs_.spec_of(peer_, job)) return *known;
    policy::JobSpec& other = others_[job];
    other.name = std::to_string(static_cast<std::uint64_t>(job));
    other.command = "(of another program)";
    return other;
  }

 private:
  const JobService& jobs_;
  const supervisor::Peer& peer_;
  mutable std::map<JobId, policy::JobSpec> others_;
};

Result<std::unique_ptr<dashboard::Dashboard>> serve_dashboard_at(
    loop::Loop& loop, const DashboardAddress& config, dashboard::DashboardSource& source) {
  auto state_dir = history::state_dir(history::state_environment());
  if (!state_dir) return pass(std::move(state_dir));
  return dashboard::Dashboard::serve(loop,
                                     {.host = config.address->host,
                                      .port = config.address->port,
                                      .names = config.names,
                                      .state_dir = *state_dir,
                                      .runs_dir = history::runs_dir(*state_dir)},
                                     source);
}

}  // namespace

Services::Services(const ServicesDeps& deps)
    : deps_(deps),
      observatory_(deps_.supervisor.loop(), deps_.version),
      external_jobs_(deps_.supervisor, deps_.host_scheduler, *this),
      jobs_(std::make_shared<JobService>(JobServiceDeps{.loop = deps_.supervisor.loop(),
                                                        .jobs = deps_.jobs,
                                                        .reporter = *this,
                                                        .processes_max = processes_max()})) {}

Services::~Services() = default;

std::optional<std::uint64_t> Services::processes_max() const {
  const bool counts = deps_.supervisor.pool().of(cgroup::Controller::pids) != nullptr;
  return counts ? std::optional(deps_.job_processes) : std::nullopt;
}

// That a job goes for memory is told where its user's client may be gone. One that its client runs
// is only asked to end.
void Services::event(const policy::Event& event) {
  const bool is_lost =
      event.kind == policy::EventKind::evicted || event.kind == policy::EventKind::failed;
  if (is_lost && event.job) {
    log("job " + std::to_string(static_cast<std::uint64_t>(*event.job)) +
        " is ended to free memory: " + event.reason);
  }
  observatory_.event(event);
}

void Services::notice(const std::string& text) { log(text); }

Result<void> Services::listen(const LoadedConfig& loaded) {
  const Config& config = loaded.config;
  ApiConfig api{.socket = {.path = config.listen.socket, .group = config.listen.group}, .tls = {}};
  if (config.listen.tcp) {
    const Address& tcp = *config.listen.tcp;
    api.tls = {.host = tcp.host,
               .port = tcp.port,
               .certificate = config.listen.tls_certificate,
               .key = config.listen.tls_key,
               .client_ca = config.listen.tls_client_ca};
  }
  auto started = Api::start(deps_.supervisor.loop(), deps_.gate, external_jobs_.external_jobs(),
                            jobs_, api, *this);
  if (!started) return pass(std::move(started));
  api_ = std::move(*started);
  people_ = std::make_unique<JobSocket>(JobSocketDeps{
      .loop = deps_.supervisor.loop(), .jobs = *jobs_, .controls = *this, .gate = deps_.gate});
  auto for_people = people_->listen(
      {.path = supervisor::job_socket_of(config.listen.socket), .group = config.listen.group});
  if (!for_people) return for_people;
  launchers_ = std::make_unique<supervisor::LightServer>(deps_.supervisor.loop(),
                                                         external_jobs_.external_jobs());
  auto for_launchers = launchers_->listen(
      {.path = supervisor::light_socket_of(config.listen.socket), .group = config.listen.group});
  if (!for_launchers) return for_launchers;
  socket_ = config.listen.socket;
  if (auto served = serve_metrics(loaded); !served) return served;
  return serve_dashboard(loaded);
}

Result<void> Services::serve_metrics(const LoadedConfig& loaded) {
  const MetricsConfig& config = loaded.config.metrics;
  if (config.is_off()) return {};
  auto served = observatory_.serve(config, *this);
  if (served) metrics_ = config;
  if (served || !is_default(loaded, "metrics.listen")) return served;
  notice("metrics are not served: " + served.error().message());
  return {};
}

Result<void> Services::serve_dashboard(const LoadedConfig& loaded) {
  const DashboardAddress& config = loaded.config.dashboard;
  if (!config.address) return {};
  auto served = serve_dashboard_at(deps_.supervisor.loop(), config, *this);
  if (served) {
    dashboard_ = std::move(*served);
    return {};
  }
  if (!is_default(loaded, "dashboard.listen")) return pass(std::move(served));
  notice("the dashboard is not served: " + served.error().message());
  return {};
}

std::string Services::where() const {
  std::string text = "the socket is " + socket_ + "; metrics are ";
  if (!metrics_) {
    text += "not served";
  } else if (metrics_->socket) {
    text += "at " + *metrics_->socket;
  } else {
    const Address& address = *metrics_->address;
    const bool is_v6 = address.host.find(':') != std::string::npos;
    text += "at http://" + (is_v6 ? "[" + address.host + "]" : address.host) + ":" +
            std::to_string(address.port) + "/metrics";
  }
  if (!dashboard_) return text;
  // Logs are read by more people than may look at everybody's jobs.
  return text + "; the dashboard is at " +
         (::isatty(STDERR_FILENO) == 1 ? dashboard_->address()
                                       : "the address in " + dashboard_->file());
}

void Services::drain() {
  is_draining_ = true;
  external_jobs_.external_jobs().drain();
  jobs_->drain();
  if (api_) api_->drain();
  if (launchers_) launchers_->drain();
}

void Services::kill_all(const std::string& reason) {
  drain();
  if (launchers_) launchers_->let_go();
  external_jobs_.external_jobs().cancel_all(reason);
  jobs_->kill_all(reason);
}

bool Services::is_idle() const {
  return external_jobs_.external_jobs().size() == 0 && jobs_->is_idle();
}

// Of others' jobs only root and the daemon's own user are told, and of those that the job service
// does not have, how much they use.
supervisor::RunStatus Services::status(const supervisor::Peer& peer) const {
  policy::SchedulerStatus seen = deps_.host_scheduler.scheduler().status();
  const bool sees_all = peer.uid == 0 || peer.uid == ::geteuid();
  const std::size_t begun = seen.jobs.size();
  const Bytes used = seen.used;
  const SpecsForPeer specs(*jobs_, peer);
  if (!sees_all) {
    std::erase_if(seen.jobs, [&](const policy::JobStatus& job) {
      return jobs_->spec_of(peer, job.job) == nullptr;
    });
  }
  const report::SharedText nothing;  // jobs of many have no command in common
  supervisor::RunStatus status = supervisor::run_status(
      seen, {.run = "daemon", .elapsed = loop::now() - begun_, .ended = {}, .commands = nothing},
      specs);
  status.used = used;
  status.jobs.running = seen.running;
  status.jobs.paused = seen.frozen;
  status.jobs.waiting = seen.unfinished - std::min(seen.unfinished, begun);
  status.jobs.total = seen.unfinished;
  status.others = deps_.line.others();
  status.loop = {.lag = observatory_.lag(), .longest_turn = deps_.supervisor.loop().longest_turn()};
  return status;
}

// Whoever knows the dashboard's address sees what the daemon's own user does.
supervisor::RunStatus Services::status() { return status(supervisor::Peer{.uid = ::geteuid()}); }

Result<Bytes> Services::set_line(std::string_view size) { return deps_.line.ask(size); }

Result<void> Services::set_jobs_max(unsigned jobs) {
  if (auto fits = supervisor::check_jobs_at_once(jobs); !fits) return fits;
  deps_.host_scheduler.scheduler().set_jobs_max(jobs);
  return {};
}

std::vector<prometheus::MetricFamily> Services::collect() {
  const supervisor::HostScheduler& host_scheduler = deps_.host_scheduler;
  return observatory_.collect({.scheduler = host_scheduler.scheduler().status(),
                               .monitors = host_scheduler.executor().monitors(),
                               .machine = deps_.host_scheduler.system().now(),
                               .pool_memory = host_scheduler.executor().pool_pressure(),
                               .others = deps_.line.others(),
                               .external_jobs = external_jobs_.external_jobs().size(),
                               .connections = (api_ ? api_->streams() : 0) +
                                              (people_ ? people_->connections() : 0) +
                                              (launchers_ ? launchers_->connections() : 0),
                               .records_dropped = deps_.knowledge.dropped(),
                               .samples_dropped = deps_.supervisor.dropped_samples(),
                               .looks = host_scheduler.executor().samples(),
                               .longest_turn = deps_.supervisor.loop().longest_turn(),
                               .draining = is_draining_});
}

}  // namespace plimsoll::daemon

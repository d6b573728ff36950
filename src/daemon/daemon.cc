#include "daemon/daemon.h"

#include <signal.h>

#include "base/loop/notify.h"
#include "base/quantity.h"
#include "base/text.h"
#include "daemon/log.h"
#include "policy/governor/processors.h"
#include "policy/job/attempt.h"
#include "store/history/state_dir.h"
#include "supervisor/external/peer.h"
#include "supervisor/run/disk_options.h"
#include "supervisor/run/run_id.h"
#include "supervisor/wall_clock.h"

namespace plimsoll::daemon {
namespace {

// Limits that jobs may ask for; a group can't be given more once it is made.
const cgroup::ControllerSet kControllers(cgroup::Controller::cpu, cgroup::Controller::memory,
                                         cgroup::Controller::pids);

// Whoever asks for jobs from afar has time-outs of his own, and whoever keeps the cores busy may do
// so for ever. As long as the cores' figures take to show a start.
constexpr Duration kCoresWaitMax = policy::kCoresShown;

policy::SchedulerConfig scheduler_config(const policy::GovernorConfig& governor) {
  policy::SchedulerConfig config;
  config.queue.jobs_max = governor.jobs_max;
  config.queue.ended = policy::Ended::forgotten;
  config.governor = governor;
  return config;
}

// So long the end waits for clients that do not take what they have asked for. A guess.
constexpr Duration kFarewell = std::chrono::seconds(5);

std::string draining_text(const policy::SchedulerStatus& status) {
  const std::size_t running = status.running + status.frozen;
  std::string text = "shutting down";
  if (running > 0) {
    text += " when " + counted(running, "running job has", "running jobs have") + " ended";
  }
  if (status.waiting > 0) {
    text += "; " + counted(status.waiting, "waiting job", "waiting jobs") + " will not start";
  }
  return text;
}

std::string killing_text(const policy::SchedulerStatus& status) {
  return "killing " + counted(status.running + status.frozen, "running job", "running jobs") +
         " and shutting down";
}

}  // namespace

Daemon::Daemon(std::unique_ptr<supervisor::Supervisor> supervisor, LoadedConfig config,
               ServeOptions options, policy::GovernorConfig governor, pid_t guardian)
    : supervisor_(std::move(supervisor)),
      config_(std::move(config)),
      options_(std::move(options)),
      knowledge_(log),
      host_scheduler_(*supervisor_, knowledge_.estimator(), scheduler_config(governor), *this),
      line_(*supervisor_, host_scheduler_, {.line = governor.line, .cores = governor.cores}),
      jobs_(*supervisor_, host_scheduler_),
      gate_(supervisor_->loop()),
      services_(
          std::make_unique<Services>(ServicesDeps{.supervisor = *supervisor_,
                                                  .host_scheduler = host_scheduler_,
                                                  .knowledge = knowledge_,
                                                  .line = line_,
                                                  .jobs = jobs_,
                                                  .gate = gate_,
                                                  .job_processes = config_.config.job_processes,
                                                  .version = PLIMSOLL_VERSION})) {
  if (const auto directory = history::state_dir(history::state_environment())) {
    knowledge_.remember(*directory, history::kOfAll);
  } else {
    log("the history is not kept: " + directory.error().message());
  }
  watch_dog(guardian);
}

Daemon::~Daemon() = default;

Result<std::unique_ptr<Daemon>> Daemon::start(guardian::Link link, LoadedConfig config,
                                              ServeOptions options) {
  const pid_t guardian = link.guardian;
  std::string run_id = supervisor::new_run_id(supervisor::wall_now());
  auto supervisor = supervisor::Supervisor::create(
      std::move(link),
      {.run_id = run_id,
       .cgroup_path = config.config.cgroup,
       .controllers = kControllers,
       .weight = {.run = config.config.governor.weight, .cpu = {}, .io = {}},
       .by_user = supervisor::SupervisorConfig::ByUser{config.config.user_processes}});
  if (!supervisor) return pass(std::move(supervisor));
  if (const auto& why = (*supervisor)->why_process_mode()) {
    log("process mode, without cgroups: " + *why);
  }
  auto governor = supervisor::pool_governor(config.config.governor, **supervisor);
  if (!governor) return pass(std::move(governor));
  auto disks = supervisor::named_floors(config.config.governor);
  if (!disks) return pass(std::move(disks));
  governor->disks = std::move(*disks);
  governor->cores_wait_max = kCoresWaitMax;
  std::unique_ptr<Daemon> daemon(new Daemon(std::move(*supervisor), std::move(config),
                                            std::move(options), *governor, guardian));
  daemon->supervisor_->tell_signals(daemon.get());
  daemon->guardian_watch_.emplace(daemon->supervisor_->loop(), &log);
  daemon->host_scheduler_.begin();
  daemon->line_.lease(daemon->config_.config.listen, run_id);
  if (auto listening = daemon->listen(); !listening) return pass(std::move(listening));
  return daemon;
}

Result<void> Daemon::listen() {
  if (auto listening = services_->listen(config_); !listening) return listening;
  return config_.config.runner_config ? start_runners() : Result<void>();
}

Result<void> Daemon::start_runners() {
  const std::string& file = *config_.config.runner_config;
  auto config = load_runner_config(file);
  if (!config) return pass(std::move(config));
  for (const std::string& remark : config->remarks) log(file + ": " + remark);
  auto runners = Runners::start(
      {.supervisor = *supervisor_, .jobs = jobs_, .reporter = *services_, .gate = gate_},
      std::move(*config));
  if (!runners) return pass(std::move(runners), file);
  runners_ = std::move(*runners);
  return {};
}

void Daemon::on_notice(const std::string& text) { log(text); }

void Daemon::on_disk_news(const policy::DiskNews& news) {
  log(news.writer ? news.reason + " (" + supervisor::user_text(news.tenant) + ")" : news.reason);
}

void Daemon::on_scheduler_event(const policy::Event& event) {
  services_->event(event);
  if (event.kind == policy::EventKind::started) line_.has_grown();
}

void Daemon::watch_dog(pid_t guardian) {
  const auto interval = loop::watchdog_interval(guardian);
  if (!interval) return;
  watchdog_timer_ = supervisor_->loop().timer([this, interval = *interval] {
    supervisor_->notify("WATCHDOG=1");
    watchdog_timer_.set(loop::now() + interval);
  });
  watchdog_timer_.set(loop::now());
}

bool Daemon::is_over() const {
  return phase_ != Phase::serving && host_scheduler_.is_idle() && services_->is_idle() &&
         (!runners_ || runners_->runner().is_idle());
}

Result<void> Daemon::run() {
  supervisor_->notify("READY=1\nSTATUS=governs " + format_bytes(line_.bytes()));
  std::string ready = "ready; the line is " + format_bytes(line_.bytes()) + "; ";
  for (const policy::DiskStatus& disk : host_scheduler_.scheduler().status().disks) {
    ready += format_bytes(disk.floor.floor) + " of the file system of " + disk.floor.path +
             " are kept free; ";
  }
  log(ready + services_->where());
  while (!is_over()) {
    if (auto ran = host_scheduler_.run_once(Duration(-1)); !ran) return ran;
  }
  // Who waits for a job is told of its end; who does not listen is not waited for.
  const Instant patience = loop::now() + kFarewell;
  while (services_->has_to_tell() && loop::now() < patience) {
    if (auto ran = host_scheduler_.run_once(patience - loop::now()); !ran) return ran;
  }
  // Whoever still asks is answered; who comes later finds nobody.
  gate_.close();
  while (gate_.waiting() > 0) {
    if (auto ran = host_scheduler_.run_once(Duration(-1)); !ran) return ran;
  }
  runners_.reset();
  host_scheduler_.end();
  services_.reset();
  knowledge_.finish();
  log("all jobs have ended; exiting");
  return {};
}

void Daemon::on_signal(const guardian::Signalled& signal) {
  switch (signal.number) {
    case SIGTERM: return end(phase_ == Phase::serving ? Phase::draining : Phase::killing);
    case SIGINT:
    case SIGQUIT: return end(Phase::killing);
    case SIGHUP: return reload();
    case SIGTSTP:
      host_scheduler_.suspend_all();
      guardian_watch_->pause();
      return supervisor_->stop_guardian();
    default: return;
  }
}

void Daemon::on_resumed() {
  guardian_watch_->resume();
  host_scheduler_.resume_all();
}

void Daemon::end(Phase phase) {
  if (phase_ == Phase::killing) {
    log("leaving processes that do not die, and exiting");
    return host_scheduler_.give_up_removals();
  }
  if (phase_ == Phase::serving) supervisor_->notify("STOPPING=1");
  phase_ = std::max(phase_, phase);
  const policy::SchedulerStatus status = host_scheduler_.scheduler().status();
  log(phase_ == Phase::draining ? draining_text(status) : killing_text(status));
  if (phase_ == Phase::draining) {
    services_->drain();
    if (runners_) runners_->runner().drain();
    return;
  }
  const std::string reason = "the daemon was told to shut down at once";
  services_->kill_all(reason);
  if (runners_) runners_->runner().kill_all(reason);
}

void Daemon::reload() {
  supervisor_->notify("RELOADING=1");
  if (const auto done = read_again(); !done) {
    log("the configuration was not reloaded: " + done.error().message());
  }
  supervisor_->notify("READY=1");
}

Result<void> Daemon::read_again() {
  auto next = load_config(options_);
  if (!next) return pass(std::move(next));
  supervisor::PoolOptions options = next->config.governor;
  options.reserve = config_.config.governor.reserve;  // another one takes a restart
  auto governor = supervisor::pool_governor(options, *supervisor_);
  if (!governor) return pass(std::move(governor));
  adopt(*next, *governor);
  return {};
}

void Daemon::adopt(const LoadedConfig& next, const policy::GovernorConfig& governor) {
  for (const Change& change : changes(config_, next)) {
    if (change.after.effect == Effect::at_once) continue;
    log(change.after.origin + ": " + std::string(change.after.key) +
        " takes effect after a restart; until then it is " +
        change.before.text.value_or("not set"));
  }
  line_.set(governor.line, "the configuration changed the line");
  host_scheduler_.scheduler().set_jobs_max(governor.jobs_max);
  log("the configuration was reloaded; the line is now " + format_bytes(line_.bytes()));
}

}  // namespace plimsoll::daemon

#include "daemon/api/job_service.h"

#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

#include "base/quantity.h"
#include "base/text.h"
#include "daemon/api/favour.h"
#include "daemon/api/job_service_job.h"
#include "guardian/spawn_request.h"
#include "supervisor/reporting.h"
#include "supervisor/wall_clock.h"

namespace plimsoll::daemon {
namespace {

std::string plain_number(JobId job) { return std::to_string(static_cast<std::uint64_t>(job)); }

// Who may see and end it.
bool may_touch(const supervisor::Peer& peer, std::uint32_t uid) {
  return peer.where == supervisor::PeerPlace::local && (peer.uid == 0 || peer.uid == uid);
}

tl::unexpected<Error> no_such_job(JobId job) {
  return fail(std::errc::no_such_process, "found no job " + plain_number(job) + " of this user");
}

// Nothing where the daemon is that user itself. As another it can't run anything unless it is root.
Result<std::optional<guardian::Identity>> identity_of(const supervisor::Peer& peer) {
  if (peer.where == supervisor::PeerPlace::remote) {
    return fail(std::errc::permission_denied, "a client on another machine cannot run jobs");
  }
  if (::geteuid() != 0) {
    if (peer.uid == ::geteuid()) return std::nullopt;
    return fail(
        std::errc::permission_denied,
        "the daemon does not run as root and cannot run jobs as uid " + std::to_string(peer.uid));
  }
  guardian::Identity identity{.uid = peer.uid, .gid = peer.gid, .groups = {}};
  identity.groups.assign(peer.groups.begin(), peer.groups.end());
  return identity;
}

// The files are opened as the job's user, in its directory, with its umask: by a shell that the
// command then takes the place of.
Words writing_to(const supervisor::OutputFiles& files, const Words& command) {
  const bool is_one = files.out == files.err;
  const Words shell = {"/bin/sh",
                       "-c",
                       is_one ? R"(exec >"$1" 2>&1; shift 2; exec "$@")"
                              : R"(exec >"$1" 2>"$2"; shift 2; exec "$@")",
                       "sh",
                       files.out,
                       files.err};
  WordsBuilder argv;
  argv.reserve(0, shell.block().size() + command.block().size());
  argv.add(shell);
  argv.add(command);
  return argv.take();
}

}  // namespace

JobService::JobService(const JobServiceDeps& deps)
    : deps_(deps), null_input_(::open("/dev/null", O_RDONLY | O_CLOEXEC)) {}
JobService::~JobService() = default;

Result<JobId> JobService::submit(const supervisor::Peer& peer, JobRequest order) {
  finished_.clear();
  auto identity = identity_of(peer);
  if (!identity) return pass(std::move(identity));
  if (is_draining_) {
    return fail(std::errc::resource_unavailable_try_again,
                "the daemon is shutting down and accepts no jobs");
  }
  const Favour favour{.priority = order.spec.priority, .weight = order.spec.limits.cpu_weight};
  if (auto may = check_favour(peer, favour); !may) return pass(std::move(may));
  order.bytes = kept_bytes(order);
  if (auto room = check_room(peer, order.bytes); !room) return pass(std::move(room));
  Share& share = of_user_[peer.uid];
  ++share.jobs;
  share.bytes += order.bytes;
  const JobId id = deps_.jobs.next_id();
  auto job = std::make_unique<Job>();
  job->order = std::move(order);
  job->order.spec.id = id;
  job->order.spec.tenant = supervisor::tenant_of(peer);
  bound_processes(job->order.spec);
  if (job->order.spec.name.empty()) job->order.spec.name = plain_number(id);
  job->uid = peer.uid;
  job->order.spec.owner = supervisor::owner_of(peer, ::geteuid());
  job->identity = std::move(*identity);
  job->came = job->waiting_since = loop::now();
  job->queued = supervisor::wall_now();
  const policy::JobSpec spec = deps_.jobs.within_reach(job->order.spec);
  jobs_.emplace(id, std::move(job));
  deps_.jobs.enter(spec, *this);
  return id;
}

// Where nothing counts processes nothing bounds them.
void JobService::bound_processes(policy::JobSpec& spec) const {
  if (spec.tenant == policy::kHost || !deps_.processes_max) return;
  spec.limits.pids_max =
      std::min(spec.limits.pids_max.value_or(*deps_.processes_max), *deps_.processes_max);
}

Result<void> JobService::check_room(const supervisor::Peer& peer, std::size_t bytes) const {
  const auto known = of_user_.find(peer.uid);
  const Share share = known == of_user_.end() ? Share{} : known->second;
  const bool is_full = jobs_.size() >= kJobsMax && supervisor::tenant_of(peer) != policy::kHost;
  if (share.jobs >= kOfUserMax || is_full) {
    return fail(std::errc::not_enough_memory,
                "found " + std::to_string(share.jobs) + " jobs of this user and " +
                    std::to_string(jobs_.size()) + " in all, expected fewer than " +
                    std::to_string(kOfUserMax) + " and " + std::to_string(kJobsMax));
  }
  if (share.bytes + bytes > kBytesOfUserMax) {
    return fail(std::errc::not_enough_memory,
                "found jobs of this user of " + format_bytes(Bytes{share.bytes + bytes}) +
                    ", expected at most " + format_bytes(Bytes{kBytesOfUserMax}) +
                    " of commands and environments");
  }
  return {};
}

Result<JobService::Job*> JobService::find(const supervisor::Peer& peer, JobId id) const {
  const auto found = jobs_.find(id);
  if (found == jobs_.end() || !may_touch(peer, found->second->uid)) return no_such_job(id);
  return found->second.get();
}

Result<WatcherId> JobService::watch(const supervisor::Peer& peer, JobId id,
                                    std::shared_ptr<JobWatcher> watcher) {
  auto job = find(peer, id);
  if (!job) return pass(std::move(job));
  const WatcherId number{++last_watcher_};
  if (!(*job)->watchers.empty()) {
    if (auto added = followers_.add(number, peer.uid); !added) return pass(std::move(added));
  }
  watcher->state((*job)->state_told(id, "the client follows it from now on"));
  (*job)->watchers.emplace(number, std::move(watcher));
  return number;
}

void JobService::unwatch(JobId id, WatcherId watcher) {
  followers_.remove(watcher);
  const auto found = jobs_.find(id);
  if (found != jobs_.end()) found->second->watchers.erase(watcher);
}

void JobService::cancel(JobId id, const std::string& reason) {
  if (!jobs_.contains(id)) return;
  if (deps_.jobs.kill(id, reason)) return;
  // It waits, or is over and only its group is left: then there is nothing to be done.
  [[maybe_unused]] const auto withdrawn = deps_.jobs.withdraw(id, reason);
}

void JobService::drain() {
  is_draining_ = true;
  std::vector<JobId> waiting;
  for (const auto& [id, job] : jobs_) {
    if (job->state == ApiJobState::waiting) waiting.push_back(id);
  }
  for (const JobId id : waiting) cancel(id, "the daemon is shutting down");
}

void JobService::kill_all(const std::string& reason) {
  std::vector<JobId> ids;
  for (const auto& [id, job] : jobs_) ids.push_back(id);
  for (const JobId id : ids) cancel(id, reason);
}

void JobService::abandon() {
  for (const auto& [id, job] : jobs_) {
    const auto watchers = std::exchange(job->watchers, {});
    for (const auto& [number, watcher] : watchers) {
      followers_.remove(number);
      watcher->lost();
    }
  }
}

// Nobody is shown more of it.
constexpr std::size_t kCommandListedMax = 256;

std::vector<JobListed> JobService::list(const supervisor::Peer& peer) const {
  std::map<JobId, JobListed> sorted;
  for (const auto& [id, job] : jobs_) {
    if (!may_touch(peer, job->uid)) continue;
    sorted[id] = {.job = id,
                  .name = job->order.spec.name,
                  .uid = job->uid,
                  .state = job->state,
                  .command = policy::command_start(job->order.spec.command, kCommandListedMax),
                  .reason = job->why(deps_.jobs.holding()),
                  .came = job->came};
  }
  std::vector<JobListed> listed;
  for (auto& [id, job] : sorted) listed.push_back(std::move(job));
  return listed;
}

Result<void> JobService::signal(const supervisor::Peer& peer, JobId id, int number) {
  auto job = find(peer, id);
  if (!job) return pass(std::move(job));
  if (number == SIGKILL) return kill(peer, id);
  if ((*job)->state == ApiJobState::waiting) {
    return fail(std::errc::operation_in_progress,
                "the job " + plain_number(id) + " is waiting, expected a running job");
  }
  return deps_.jobs.signal(id, number, peer.uid);
}

Result<JobId> JobService::find_named(const supervisor::Peer& peer, const std::string& text) const {
  const auto number = to_u64(text);
  const bool is_number = number && find(peer, JobId{*number});
  // Whoever sees jobs of others does not go by the names that they choose.
  if (is_number && supervisor::tenant_of(peer) == policy::kHost) return JobId{*number};
  std::optional<std::pair<bool, JobId>> named;  // whether it is somebody else's; the first of them
  for (const auto& [id, job] : jobs_) {
    if (job->order.spec.name != text || !may_touch(peer, job->uid)) continue;
    const std::pair one(job->uid != peer.uid, id);
    named = std::min(named.value_or(one), one);
  }
  if (named) return named->second;
  if (is_number) return JobId{*number};
  return fail(std::errc::no_such_process, "there is no job \"" + text + "\" of this user");
}

Result<void> JobService::pause(const supervisor::Peer& peer, JobId id) {
  if (auto job = find(peer, id); !job) return pass(std::move(job));
  return deps_.jobs.pause(id);
}

Result<void> JobService::resume(const supervisor::Peer& peer, JobId id) {
  if (auto job = find(peer, id); !job) return pass(std::move(job));
  return deps_.jobs.resume(id);
}

Result<void> JobService::kill(const supervisor::Peer& peer, JobId id) {
  if (auto job = find(peer, id); !job) return pass(std::move(job));
  cancel(id, "killed by its user");
  return {};
}

const policy::JobSpec* JobService::spec_of(const supervisor::Peer& peer, JobId id) const {
  const auto job = find(peer, id);
  return job ? &(*job)->order.spec : nullptr;
}

Result<JobStory> JobService::explain(const supervisor::Peer& peer, JobId id) const {
  if (auto job = find(peer, id)) return (*job)->story();
  const EndedStories::Ended* ended = ended_.find(id);
  if (ended != nullptr && may_touch(peer, ended->uid)) return ended->story;
  return no_such_job(id);
}

supervisor::Prepared JobService::prepare(const policy::Start& start) {
  Job& job = at(start.job);
  job.attempt = start.attempt;
  ++job.groups;
  supervisor::Prepared prepared;
  auto out = open_output(job, OutputStream::out);
  auto err = open_output(job, OutputStream::err);
  if (!out || !err) {
    prepared.refusal = (out ? err : out).error().message();
    return prepared;
  }
  prepared.request =
      supervisor::request_for(job.order.spec, "job-" + plain_number(start.job), std::nullopt);
  guardian::SpawnRequest& spawn = prepared.request.spawn;
  spawn.env = job.order.environment;
  spawn.identity = job.identity;
  spawn.umask = job.order.umask;
  if (job.order.files) spawn.argv = writing_to(*job.order.files, spawn.argv);
  spawn.session = guardian::Session::own;
  spawn.descriptors = guardian::Descriptors::close;
  spawn.signals = guardian::Signals::set_default;
  spawn.stdio = {null_input_.get(), out->get(), err->get()};
  prepared.out = std::move(*out);
  prepared.err = std::move(*err);
  return prepared;
}

void JobService::on_event(const policy::Event& event) {
  Job& job = at(*event.job);
  job.note({.at = loop::now() - job.came,
            .kind = event.kind,
            .reason = event.reason,
            .numbers = event.numbers});
  switch (event.kind) {
    case policy::EventKind::held: return tell_state(job, event.reason);
    case policy::EventKind::started:
      job.state = ApiJobState::running;
      job.held += loop::now() - job.waiting_since;
      break;
    case policy::EventKind::frozen: job.state = ApiJobState::paused; break;
    case policy::EventKind::thawed: job.state = ApiJobState::running; break;
    case policy::EventKind::requeued:
      job.state = ApiJobState::waiting;
      job.waiting_since = loop::now();
      break;
    case policy::EventKind::queued:
    case policy::EventKind::admitted:
    case policy::EventKind::reclaimed:
    case policy::EventKind::evicted:
    case policy::EventKind::ended:
    case policy::EventKind::failed:
    case policy::EventKind::alarm:
    case policy::EventKind::line: return;
  }
  // Of a start the number of the attempt is known a moment later.
  if (event.kind == policy::EventKind::started) ++job.attempt;
  tell_state(job, event.reason);
}

void JobService::tell_state(Job& job, const std::string& reason) {
  job.told = reason;
  const StateTold told = job.state_told(job.order.spec.id, reason);
  for (const auto& [number, watcher] : job.watchers) watcher->state(told);
}

void JobService::on_job_over(const policy::JobOver& over) {
  Job& job = at(over.job);
  if (over.requeue) return;
  job.is_ended = true;
  job.reason = over.reason;
  if (over.end) {
    job.outcome = over.end->outcome;
  } else if (!over.gave_up) {
    job.outcome = policy::Outcome::skipped;
  }
  end_if_done(over.job);
}

void JobService::on_gone(const supervisor::AttemptGone& gone) {
  Job& job = at(gone.key.job);
  // An earlier attempt's group may stand while the next one writes.
  if (gone.key.attempt == job.attempt) drain_output(job);
  --job.groups;
  job.attempts.push_back(supervisor::short_report_of(gone.result));
  job.paused += gone.result.paused;
  job.last = gone.result;
  job.machine = gone.machine;
  end_if_done(gone.key.job);
}

void JobService::on_stuck(supervisor::AttemptKey key, const reap::Stuck& stuck) {
  deps_.reporter.notice("job " + at(key.job).order.spec.name + ": " +
                        supervisor::stuck_text(stuck));
}

void JobService::end_if_done(JobId id) {
  Job& job = at(id);
  if (!job.is_ended || job.groups > 0) return;
  if (job.last) job.outcome = job.last->end.outcome;
  if (job.attempt == 0) job.held += loop::now() - job.waiting_since;
  report::JobReport report = supervisor::report_of(
      {.job = job.order.spec,
       .queued = job.queued,
       .held = job.held,
       .paused = job.paused,
       .attempts = job.attempts,
       .last = job.last ? &*job.last : nullptr,
       .outcome = job.outcome,
       .reason = job.last && !job.last->reason.empty() ? job.last->reason : job.reason,
       .machine = job.machine},
      deps_.jobs.host());
  if (const auto* words = std::get_if<Words>(&job.order.spec.command);
      words != nullptr && words->block().size() > kCommandReportedMax) {
    report.command = words->within(kCommandReportedMax);
    report.argv_words = words->size();
  }
  ended_.add(id, job.uid, job.story());
  const auto user = of_user_.find(job.uid);
  user->second.bytes -= job.order.bytes;
  if (--user->second.jobs == 0) of_user_.erase(user);
  // Its own callback may be what has ended it.
  finished_.push_back(std::move(jobs_.extract(id).mapped()));
  deps_.reporter.ended(report);
  Job& done = *finished_.back();
  const supervisor::AttemptResult* last = done.last ? &*done.last : nullptr;
  const auto watchers = std::exchange(done.watchers, {});
  for (const auto& [number, watcher] : watchers) {
    followers_.remove(number);
    watcher->ended(report, last);
  }
}

}  // namespace plimsoll::daemon

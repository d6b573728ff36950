#include "supervisor/external/external_jobs.h"

#include <algorithm>
#include <utility>

#include "base/check.h"
#include "supervisor/external/external_jobs_state.h"

// What the scheduler decides about external jobs, as it is told to their clients and done at their
// places.
namespace plimsoll::supervisor {
namespace {

// What is said of an external job whose end its client did not tell.
constexpr const char* kClientGone = "its client disconnected";

policy::AttemptEnd attempt_end(policy::Outcome outcome, const ExternalEnd& end, Duration wall) {
  return {.outcome = outcome, .exit_code = end.exit_code, .signal = end.signal, .wall = wall};
}

std::string class_of(const ExternalSpec& spec) {
  return spec.job_class.empty() && spec.command.empty() ? kExternalClass : spec.job_class;
}

// Whether one of two cgroups is the other or lies in it.
bool overlap(std::string one, std::string other) {
  for (std::string* path : {&one, &other}) {
    if (!path->ends_with('/')) *path += '/';
  }
  return one.starts_with(other) || other.starts_with(one);
}

}  // namespace

ExternalJobs::ExternalJobs(ExternalJobsHost& host, const ExternalConfig& config)
    : host_(host), config_(config) {}
ExternalJobs::~ExternalJobs() = default;

ClientId ExternalJobs::open(const Peer& peer, ExternalListener& listener) {
  const ClientId id{++last_client_};
  clients_.emplace(id, Client{.peer = peer, .listener = &listener, .external_jobs = {}});
  return id;
}

void ExternalJobs::close(ClientId id) {
  const auto found = clients_.find(id);
  if (found == clients_.end()) return;
  found->second.listener = nullptr;
  std::vector<JobId> jobs;
  for (const auto& [name, job] : found->second.external_jobs) jobs.push_back(job);
  for (const JobId job : jobs) {
    ExternalJob* external_job = known(job);
    if (external_job == nullptr) continue;
    if (external_job->state == ExternalJob::State::waiting) {
      host_.withdraw(job, kClientGone);
    } else {
      end(job, policy::Outcome::cancelled, {});
    }
  }
  clients_.erase(id);
}

Result<ExternalJobs::Client*> ExternalJobs::client(ClientId id) {
  const auto found = clients_.find(id);
  if (found == clients_.end()) return fail(std::errc::no_such_process, "the client disconnected");
  return &found->second;
}

Result<JobId> ExternalJobs::find(ClientId id, const std::string& name) {
  auto owner = client(id);
  if (!owner) return pass(std::move(owner));
  const auto found = (*owner)->external_jobs.find(name);
  if (found == (*owner)->external_jobs.end()) {
    return fail(std::errc::no_such_process, "found no job \"" + name + "\" of this stream");
  }
  return found->second;
}

ExternalJobs::ExternalJob* ExternalJobs::known(JobId job) {
  const auto found = external_jobs_.find(job);
  return found == external_jobs_.end() ? nullptr : found->second.get();
}

Result<void> ExternalJobs::check(const Client& owner, const ExternalSpec& spec) const {
  if (spec.name.empty() || spec.name.size() > kNameMax) {
    return fail(std::errc::invalid_argument,
                "found an id of " + std::to_string(spec.name.size()) + " bytes, expected 1 to 256");
  }
  if (spec.job_class.size() > kNameMax) {
    return fail(std::errc::invalid_argument, "found a class of " +
                                                 std::to_string(spec.job_class.size()) +
                                                 " bytes, expected at most 256");
  }
  if (is_draining_) {
    return fail(std::errc::resource_unavailable_try_again,
                "the daemon is shutting down and accepts no jobs");
  }
  if (owner.external_jobs.contains(spec.name)) {
    return fail(std::errc::file_exists, "the job \"" + spec.name + "\" has entered already");
  }
  if (owner.external_jobs.size() >= kOfClientMax) {
    return fail(std::errc::not_enough_memory,
                "found " + std::to_string(owner.external_jobs.size()) +
                    " jobs of this client, expected at most " + std::to_string(kOfClientMax));
  }
  if (auto room = quota_.check(tenant_of(owner.peer)); !room) return room;
  if (spec.hand == ControlledBy::governor && !spec.place) {
    return fail(std::errc::invalid_argument,
                "found no place, expected a cgroup or a pid: the governor needs it to stop the "
                "job's processes");
  }
  return {};
}

Result<void> ExternalJobs::enter(ClientId id, const ExternalSpec& spec) {
  auto owner = client(id);
  if (!owner) return pass(std::move(owner));
  if (auto fits = check(**owner, spec); !fits) return fits;
  auto external_job = std::make_unique<ExternalJob>();
  external_job->client = id;
  external_job->user = tenant_of((*owner)->peer);
  external_job->spec = spec;
  if (spec.place) {
    auto process_set = host_.open_place(*spec.place, (*owner)->peer);
    if (!process_set) return pass(std::move(process_set));
    if (auto apart = check_apart(*spec.place, *external_job); !apart) return apart;
    external_job->process_set = std::move(*process_set);
  }
  policy::JobSpec job;
  job.id = host_.next_id();
  // The number of a command: the same command is found again by its words.
  job.name = spec.command.empty() ? spec.name : std::to_string(static_cast<std::uint64_t>(job.id));
  job.job_class = class_of(spec);
  job.command = spec.command;
  job.cwd = spec.cwd;
  job.memory_hint = spec.memory_hint ? spec.memory_hint : spec.memory_max;
  job.cpu_hint = spec.cpu_hint;
  job.disk_hint = spec.disk_hint;
  job.priority = spec.priority;
  job.restartable = spec.restartable;
  job.owner = owner_of((*owner)->peer, config_.uid);
  job.tenant = external_job->user;
  // Known before it is conducted: that may start it at once.
  (*owner)->external_jobs.emplace(spec.name, job.id);
  quota_.take(job.tenant);
  external_jobs_.emplace(job.id, std::move(external_job));
  host_.enter(job);
  return {};
}

Result<void> ExternalJobs::watch(ClientId id, const std::string& name,
                                 const ExternalLocation& place) {
  auto job = find(id, name);
  if (!job) return pass(std::move(job));
  ExternalJob& external_job = *known(*job);
  // A place is one job's: this one's is to be had again.
  const bool is_same = external_job.spec.place == place;
  if (is_same) external_job.process_set.reset();
  auto process_set = host_.open_place(place, clients_.at(id).peer);
  if (!process_set) return pass(std::move(process_set));
  if (auto apart = check_apart(place, external_job); !apart) return apart;
  external_job.spec.place = place;
  external_job.process_set = std::move(*process_set);
  // The same processes tell again what they have written; a group counts from now on.
  if (!is_same || !std::holds_alternative<ProcessPlace>(place)) {
    external_job.written_before = external_job.written.value_or(Bytes{});
  }
  if (external_job.state == ExternalJob::State::running) look_at_writes(external_job, now());
  settle_place(external_job);
  return {};
}

// What is used in a group is one job's: counted twice, it would keep out others who have the room.
Result<void> ExternalJobs::check_apart(const ExternalLocation& place,
                                       const ExternalJob& its) const {
  const auto* group = std::get_if<CgroupPlace>(&place);
  if (group == nullptr) return {};  // processes are told apart as they are read
  for (const auto& [id, other] : external_jobs_) {
    if (other.get() == &its || !other->process_set || !other->spec.place) continue;
    const auto* taken = std::get_if<CgroupPlace>(&*other->spec.place);
    if (taken == nullptr || !overlap(group->path, taken->path)) continue;
    return fail(std::errc::permission_denied,
                "the cgroup " + group->path + " overlaps with that of another job, " + taken->path);
  }
  return {};
}

// What was decided before the place was known is done there now.
void ExternalJobs::settle_place(ExternalJob& external_job) {
  if (external_job.spec.hand != ControlledBy::governor ||
      external_job.state == ExternalJob::State::waiting)
    return;
  if (external_job.spec.weight) external_job.process_set->weigh(*external_job.spec.weight);
  if (external_job.state == ExternalJob::State::cancelled) {
    external_job.process_set->kill(now());
  } else if (external_job.clock->is_paused()) {
    external_job.process_set->freeze();
  }
}

Result<void> ExternalJobs::leave(ClientId id, const std::string& name, const ExternalEnd& how) {
  auto job = find(id, name);
  if (!job) return pass(std::move(job));
  ExternalJob& external_job = *known(*job);
  if (external_job.state == ExternalJob::State::waiting) {
    host_.withdraw(*job, "its client has withdrawn it");
    return {};
  }
  // First cause wins: what was cancelled ended by that, unless it got to its end by itself.
  take_last_word(*job, external_job, how);
  const bool by_itself = policy::succeeded(how.outcome, how.exit_code);
  const auto outcome = external_job.dying && !by_itself ? *external_job.dying : how.outcome;
  end(*job, outcome, how);
  return {};
}

std::vector<JobId> ExternalJobs::those(Waits waits) const {
  std::vector<JobId> jobs;
  for (const auto& [job, external_job] : external_jobs_) {
    if ((external_job->state == ExternalJob::State::waiting) == (waits == Waits::yes))
      jobs.push_back(job);
  }
  return jobs;
}

void ExternalJobs::drain() {
  is_draining_ = true;
  for (const JobId job : those(Waits::yes)) host_.withdraw(job, "the daemon is shutting down");
}

void ExternalJobs::cancel_all(const std::string& reason) {
  for (const JobId job : those(Waits::no)) host_.cancel(job, reason);
}

void ExternalJobs::end(JobId job, policy::Outcome outcome, const ExternalEnd& how) {
  ExternalJob& external_job = *known(job);
  PLIMSOLL_CHECK(external_job.state != ExternalJob::State::waiting);
  const Duration wall = external_job.clock->elapsed(now());
  report::AttemptReport& attempt = external_job.attempts.emplace_back();
  attempt.outcome = outcome;
  attempt.wall = wall;
  attempt.cpu_usage = external_job.seen.cpu;
  if (external_job.peak > Bytes{}) attempt.peak = external_job.peak;
  external_job.state = ExternalJob::State::waiting;  // or gone, as the scheduler will say
  external_job.dying.reset();
  external_job.process_set.reset();
  external_job.seen = external_job.sampled = {};
  const auto written = std::exchange(external_job.written, std::nullopt);
  external_job.written_before = {};
  external_job.peak = {};
  --running_;
  policy::AttemptEnd over = attempt_end(outcome, how, wall);
  // It may be that nothing could be read.
  if (written > Bytes{}) over.written = written;
  host_.on_attempt_over(job, over);
}

report::JobReport ExternalJobs::report_of(const ExternalJob& external_job,
                                          const policy::JobOver& over) {
  report::JobReport report;
  report.id = external_job.spec.name;
  report.job_class = class_of(external_job.spec);
  report.outcome = external_job.attempts.empty() ? policy::Outcome::skipped
                                                 : external_job.attempts.back().outcome;
  if (over.end) {
    report.exit_code = over.end->exit_code;
    report.signal = over.end->signal;
  }
  report.reason = over.reason;
  report.attempts = external_job.attempts;
  return report;
}

void ExternalJobs::start(const policy::Start& start) {
  ExternalJob& external_job = *known(start.job);
  PLIMSOLL_CHECK(external_job.state == ExternalJob::State::waiting);
  external_job.state = ExternalJob::State::running;
  external_job.clock.emplace(now());
  external_job.admitted_with = start.admitted_with;
  ++running_;
  look_at_writes(external_job, now());
  if (external_job.process_set) settle_place(external_job);
  ExternalListener* told = clients_.at(external_job.client).listener;
  if (told != nullptr) told->on_admit(external_job.spec.name, start.attempt, external_job.why);
}

void ExternalJobs::freeze(JobId job) {
  ExternalJob* external_job = known(job);
  if (external_job == nullptr || external_job->state != ExternalJob::State::running) return;
  external_job->clock->pause(now());
  if (external_job->process_set && external_job->spec.hand == ControlledBy::governor)
    external_job->process_set->freeze();
  ExternalListener* told = clients_.at(external_job->client).listener;
  if (told != nullptr) told->on_pause(external_job->spec.name, external_job->why);
}

void ExternalJobs::thaw(JobId job) {
  ExternalJob* external_job = known(job);
  if (external_job == nullptr || external_job->state != ExternalJob::State::running) return;
  external_job->clock->resume(now());
  if (external_job->process_set && external_job->spec.hand == ControlledBy::governor)
    external_job->process_set->thaw();
  ExternalListener* told = clients_.at(external_job->client).listener;
  if (told != nullptr) told->on_resume(external_job->spec.name, external_job->why);
}

// Memory of others is not ours to push out.
void ExternalJobs::reclaim(std::optional<JobId> /*job*/, Bytes /*amount*/) {}

void ExternalJobs::kill(JobId job, policy::Outcome cause, std::string reason) {
  ExternalJob* external_job = known(job);
  if (external_job == nullptr || external_job->state != ExternalJob::State::running) return;
  external_job->state = ExternalJob::State::cancelled;
  external_job->dying = cause;
  external_job->cancelled_at = now();
  if (external_job->process_set && external_job->spec.hand == ControlledBy::governor)
    external_job->process_set->kill(now());
  const Again again = cause == policy::Outcome::evicted && external_job->spec.restartable
                          ? Again::later
                          : Again::never;
  ExternalListener* told = clients_.at(external_job->client).listener;
  if (told != nullptr) told->on_cancel(external_job->spec.name, cause, reason, again);
}

void ExternalJobs::on_event(const policy::Event& event) {
  ExternalJob* external_job = event.job ? known(*event.job) : nullptr;
  if (external_job == nullptr) return;
  external_job->why = event.reason;
  if (event.kind != policy::EventKind::held || !event.hold) return;
  ExternalListener* told = clients_.at(external_job->client).listener;
  if (told != nullptr) told->on_hold(external_job->spec.name, *event.hold, event.reason);
}

void ExternalJobs::on_job_over(const policy::JobOver& over) {
  ExternalJob* external_job = known(over.job);
  if (external_job == nullptr) return;
  const std::string name = external_job->spec.name;
  const ClientId owner = external_job->client;
  if (!over.requeue) {
    host_.on_ended(report_of(*external_job, over));
    forget(over.job);
  }
  const auto found = clients_.find(owner);
  if (found == clients_.end() || found->second.listener == nullptr) return;
  found->second.listener->on_left(name, over.requeue ? Again::later : Again::never, over.reason);
}

void ExternalJobs::forget(JobId job) {
  const auto found = external_jobs_.find(job);
  const auto owner = clients_.find(found->second->client);
  if (owner != clients_.end()) owner->second.external_jobs.erase(found->second->spec.name);
  quota_.give_back(found->second->user);
  external_jobs_.erase(found);
}

}  // namespace plimsoll::supervisor

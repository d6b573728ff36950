#include "supervisor/external/guests.h"

#include <algorithm>
#include <utility>

#include "base/check.h"
#include "supervisor/external/guest_state.h"

namespace plimsoll::supervisor {
namespace {

// What is said of a guest whose end its client did not tell.
constexpr const char* kClientGone = "its client is gone";

policy::AttemptEnd attempt_end(policy::Outcome outcome, const GuestEnd& end, Duration wall) {
  return {.outcome = outcome, .exit_code = end.exit_code, .signal = end.signal, .wall = wall};
}

}  // namespace

Guests::Guests(GuestHooks hooks) : hooks_(std::move(hooks)) {}
Guests::~Guests() = default;

ClientId Guests::open(const Peer& peer, GuestListener listener) {
  const ClientId id{++last_client_};
  clients_.emplace(id, Client{.peer = peer, .listener = std::move(listener), .guests = {}});
  return id;
}

void Guests::close(ClientId id) {
  const auto found = clients_.find(id);
  if (found == clients_.end()) return;
  found->second.listener = {};
  std::vector<JobId> jobs;
  for (const auto& [name, job] : found->second.guests) jobs.push_back(job);
  for (const JobId job : jobs) {
    Guest* guest = known(job);
    if (guest == nullptr) continue;
    if (guest->state == Guest::State::waiting) {
      hooks_.withdraw(job, kClientGone);
    } else {
      end(job, policy::Outcome::cancelled, {});
    }
  }
  clients_.erase(id);
}

Result<Guests::Client*> Guests::client(ClientId id) {
  const auto found = clients_.find(id);
  if (found == clients_.end()) return fail(std::errc::no_such_process, "the client is gone");
  return &found->second;
}

Result<JobId> Guests::find(ClientId id, const std::string& name) {
  auto owner = client(id);
  if (!owner) return pass(std::move(owner));
  const auto found = (*owner)->guests.find(name);
  if (found == (*owner)->guests.end()) {
    return fail(std::errc::no_such_process, "found no job \"" + name + "\" of this stream");
  }
  return found->second;
}

Guests::Guest* Guests::known(JobId job) {
  const auto found = guests_.find(job);
  return found == guests_.end() ? nullptr : found->second.get();
}

Result<void> Guests::check(const Client& owner, const GuestSpec& spec) const {
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
    return fail(std::errc::resource_unavailable_try_again, "the daemon ends and takes no jobs");
  }
  if (owner.guests.contains(spec.name)) {
    return fail(std::errc::file_exists, "the job \"" + spec.name + "\" has entered already");
  }
  if (owner.guests.size() >= kOfClientMax) {
    return fail(std::errc::not_enough_memory, "found " + std::to_string(owner.guests.size()) +
                                                  " jobs of this client, expected at most " +
                                                  std::to_string(kOfClientMax));
  }
  if (auto room = quota_.check(tenant_of(owner.peer)); !room) return room;
  if (spec.hand == GuestHand::governor && !spec.place) {
    return fail(std::errc::invalid_argument,
                "found no place, expected one where the governor is to stop the job's processes");
  }
  return {};
}

Result<void> Guests::enter(ClientId id, const GuestSpec& spec) {
  auto owner = client(id);
  if (!owner) return pass(std::move(owner));
  if (auto fits = check(**owner, spec); !fits) return fits;
  auto guest = std::make_unique<Guest>();
  guest->client = id;
  guest->user = tenant_of((*owner)->peer);
  guest->spec = spec;
  if (spec.place) {
    auto habitat = hooks_.open_place(*spec.place, (*owner)->peer);
    if (!habitat) return pass(std::move(habitat));
    guest->habitat = std::move(*habitat);
  }
  policy::JobSpec job;
  job.id = hooks_.next_id();
  job.name = spec.name;
  job.job_class = spec.job_class.empty() ? kGuestClass : spec.job_class;
  job.memory_hint = spec.memory_hint ? spec.memory_hint : spec.memory_max;
  job.cpu_hint = spec.cpu_hint;
  job.priority = spec.priority;
  job.restartable = spec.restartable;
  job.owner = owner_of((*owner)->peer, hooks_.uid);
  job.tenant = guest->user;
  // Known before it is conducted: that may start it at once.
  (*owner)->guests.emplace(spec.name, job.id);
  quota_.take(job.tenant);
  guests_.emplace(job.id, std::move(guest));
  hooks_.enter(job);
  return {};
}

Result<void> Guests::watch(ClientId id, const std::string& name, const GuestPlace& place) {
  auto job = find(id, name);
  if (!job) return pass(std::move(job));
  auto habitat = hooks_.open_place(place, clients_.at(id).peer);
  if (!habitat) return pass(std::move(habitat));
  Guest& guest = *known(*job);
  guest.habitat = std::move(*habitat);
  settle_place(guest);
  return {};
}

// What was decided before the place was known is done there now.
void Guests::settle_place(Guest& guest) {
  if (guest.spec.hand != GuestHand::governor || guest.state == Guest::State::waiting) return;
  if (guest.spec.weight) guest.habitat->weigh(*guest.spec.weight);
  if (guest.state == Guest::State::cancelled) {
    guest.habitat->kill(now());
  } else if (guest.watch->is_stopped()) {
    guest.habitat->freeze();
  }
}

Result<void> Guests::observe(ClientId id, const std::string& name, const GuestSample& sample) {
  auto job = find(id, name);
  if (!job) return pass(std::move(job));
  Guest& guest = *known(*job);
  if (guest.state == Guest::State::waiting) {
    return fail(std::errc::operation_in_progress,
                "the job \"" + name + "\" is not admitted, expected no measurements of it");
  }
  // What is seen at its place goes before its client's word, which may be any number.
  GuestSample told = sample;
  if (told.used) told.used = std::min(*told.used, hooks_.machine.memory);
  if (told.cpu) {
    const Duration since = guest.watch->ran(now()) + guest.watch->stood(now());
    told.cpu = std::min(*told.cpu, since * hooks_.machine.cpus);
  }
  if (guest.looked.used) told.used.reset();
  if (guest.looked.cpu) told.cpu.reset();
  if (guest.looked.io) told.io.reset();
  tell(*job, guest, told);
  return {};
}

Result<void> Guests::leave(ClientId id, const std::string& name, const GuestEnd& how) {
  auto job = find(id, name);
  if (!job) return pass(std::move(job));
  Guest& guest = *known(*job);
  if (guest.state == Guest::State::waiting) {
    hooks_.withdraw(*job, "its client has withdrawn it");
    return {};
  }
  // First cause wins: what was cancelled ended by that, unless it got to its end by itself.
  const bool by_itself = policy::succeeded(how.outcome, how.exit_code);
  const auto outcome = guest.condemned && !by_itself ? *guest.condemned : how.outcome;
  end(*job, outcome, how);
  return {};
}

void Guests::tell(JobId job, Guest& guest, const GuestSample& sample) {
  if (sample.used) guest.seen.used = sample.used;
  if (sample.cpu) guest.seen.cpu = sample.cpu;
  if (sample.io) guest.seen.io = sample.io;
  const Bytes used = guest.seen.used.value_or(Bytes{});
  guest.peak = std::max(guest.peak, used);
  if (guest.watch->is_stopped()) return;  // as of the host executor: not while it is frozen
  policy::JobSample seen{.ran = guest.watch->ran(now()),
                         .used = used,
                         .peak = guest.peak,
                         .cpu = guest.seen.cpu.value_or(Duration{}),
                         .io = guest.seen.io};
  // A word is no measurement: nobody else is to lose anything by it.
  if (!guest.looked.used && guest.promised) {
    seen.used = std::min(used, *guest.promised);
    seen.peak = std::min(guest.peak, *guest.promised);
    seen.claimed = used - seen.used;
  }
  hooks_.seen(job, seen);
}

std::vector<JobId> Guests::those(Waits waits) const {
  std::vector<JobId> jobs;
  for (const auto& [job, guest] : guests_) {
    if ((guest->state == Guest::State::waiting) == (waits == Waits::yes)) jobs.push_back(job);
  }
  return jobs;
}

void Guests::drain() {
  is_draining_ = true;
  for (const JobId job : those(Waits::yes)) hooks_.withdraw(job, "the daemon ends");
}

void Guests::cancel_all(const std::string& reason) {
  for (const JobId job : those(Waits::no)) hooks_.cancel(job, reason);
}

bool Guests::look() {
  const Instant begun = now();
  if (round_.empty()) {
    round_ = those(Waits::no);
    round_at_ = begun;
  }
  while (!round_.empty()) {
    const JobId job = round_.back();
    round_.pop_back();
    look_at(job, round_at_);
    if (now() - begun >= kLookSlice) break;
  }
  return !round_.empty();
}

Duration Guests::gap_after(Duration cost) {
  return std::clamp(kLookCostShare * cost, kLookGap, kLookGapMax);
}

// What is decided upon one look may end others.
void Guests::look_at(JobId job, Instant when) {
  Guest* guest = known(job);
  if (guest == nullptr || guest->state == Guest::State::waiting) return;
  if (guest->state == Guest::State::cancelled) {
    if (guest->habitat && guest->spec.hand == GuestHand::governor) guest->habitat->kill(when);
    if (now() - guest->cancelled_at >= kCancelPatience) end(job, *guest->condemned, {});
    return;
  }
  if (!guest->habitat) return;
  guest->looked = guest->habitat->look(when);
  tell(job, *guest, guest->looked);
}

void Guests::end(JobId job, policy::Outcome outcome, const GuestEnd& how) {
  Guest& guest = *known(job);
  PLIMSOLL_CHECK(guest.state != Guest::State::waiting);
  const Duration wall = guest.watch->ran(now()) + guest.watch->stood(now());
  report::AttemptReport& attempt = guest.attempts.emplace_back();
  attempt.outcome = outcome;
  attempt.wall = wall;
  attempt.cpu_usage = guest.seen.cpu;
  if (guest.peak > Bytes{}) attempt.peak = guest.peak;
  guest.state = Guest::State::waiting;  // or gone, as the scheduler will say
  guest.condemned.reset();
  guest.habitat.reset();
  guest.seen = guest.looked = {};
  guest.peak = {};
  --running_;
  hooks_.over(job, attempt_end(outcome, how, wall));
}

}  // namespace plimsoll::supervisor

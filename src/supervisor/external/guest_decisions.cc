#include <utility>

#include "base/check.h"
#include "supervisor/external/guest_state.h"
#include "supervisor/external/guests.h"

// What the scheduler decides about guests, as it is told to their clients and done at their places.
namespace plimsoll::supervisor {

report::JobReport Guests::report_of(const Guest& guest, const policy::JobOver& over) {
  report::JobReport report;
  report.id = guest.spec.name;
  report.job_class = guest.spec.job_class.empty() ? kGuestClass : guest.spec.job_class;
  report.outcome =
      guest.attempts.empty() ? policy::Outcome::skipped : guest.attempts.back().outcome;
  if (over.end) {
    report.exit_code = over.end->exit_code;
    report.signal = over.end->signal;
  }
  report.reason = over.reason;
  report.attempts = guest.attempts;
  return report;
}

void Guests::start(const policy::Start& start) {
  Guest& guest = *known(start.job);
  PLIMSOLL_CHECK(guest.state == Guest::State::waiting);
  guest.state = Guest::State::running;
  guest.watch.emplace(now());
  guest.promised = start.promised;
  ++running_;
  if (guest.habitat) settle_place(guest);
  const GuestListener& told = clients_.at(guest.client).listener;
  if (told.admit) told.admit(guest.spec.name, start.attempt, guest.why);
}

void Guests::freeze(JobId job) {
  Guest* guest = known(job);
  if (guest == nullptr || guest->state != Guest::State::running) return;
  guest->watch->stop(now());
  if (guest->habitat && guest->spec.hand == GuestHand::governor) guest->habitat->freeze();
  const GuestListener& told = clients_.at(guest->client).listener;
  if (told.pause) told.pause(guest->spec.name, guest->why);
}

void Guests::thaw(JobId job) {
  Guest* guest = known(job);
  if (guest == nullptr || guest->state != Guest::State::running) return;
  guest->watch->go_on(now());
  if (guest->habitat && guest->spec.hand == GuestHand::governor) guest->habitat->thaw();
  const GuestListener& told = clients_.at(guest->client).listener;
  if (told.resume) told.resume(guest->spec.name, guest->why);
}

// Memory of others is not ours to push out.
void Guests::reclaim(std::optional<JobId> /*job*/, Bytes /*amount*/) {}

void Guests::kill(JobId job, policy::Outcome cause, std::string reason) {
  Guest* guest = known(job);
  if (guest == nullptr || guest->state != Guest::State::running) return;
  guest->state = Guest::State::cancelled;
  guest->condemned = cause;
  guest->cancelled_at = now();
  if (guest->habitat && guest->spec.hand == GuestHand::governor) guest->habitat->kill(now());
  const Again again =
      cause == policy::Outcome::evicted && guest->spec.restartable ? Again::later : Again::never;
  const GuestListener& told = clients_.at(guest->client).listener;
  if (told.cancel) told.cancel(guest->spec.name, cause, reason, again);
}

void Guests::on_event(const policy::Event& event) {
  Guest* guest = event.job ? known(*event.job) : nullptr;
  if (guest == nullptr) return;
  guest->why = event.reason;
  if (event.kind != policy::EventKind::held || !event.hold) return;
  const GuestListener& told = clients_.at(guest->client).listener;
  if (told.hold) told.hold(guest->spec.name, *event.hold, event.reason);
}

void Guests::on_job_over(const policy::JobOver& over) {
  Guest* guest = known(over.job);
  if (guest == nullptr) return;
  const std::string name = guest->spec.name;
  const ClientId owner = guest->client;
  if (!over.requeue) {
    if (hooks_.ended) hooks_.ended(report_of(*guest, over));
    forget(over.job);
  }
  const auto found = clients_.find(owner);
  if (found == clients_.end() || !found->second.listener.left) return;
  found->second.listener.left(name, over.requeue ? Again::later : Again::never, over.reason);
}

void Guests::forget(JobId job) {
  const auto found = guests_.find(job);
  const auto owner = clients_.find(found->second->client);
  if (owner != clients_.end()) owner->second.guests.erase(found->second->spec.name);
  quota_.give_back(found->second->user);
  guests_.erase(found);
}

}  // namespace plimsoll::supervisor

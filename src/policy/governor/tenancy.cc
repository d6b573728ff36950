#include "policy/governor/tenancy.h"

#include <algorithm>

#include "policy/governor/io_crowding.h"

namespace plimsoll::policy {
namespace {

bool is_only_told(const Member& member) { return member.sample.claimed.has_value(); }

// What it is expected to use is somebody's word.
bool is_a_word(const Member& member) {
  const Basis basis = member.estimate.basis;
  return is_only_told(member) || (basis != Basis::exact && basis != Basis::tool);
}

std::size_t places_taken_by(const Ready& ready) { return ready.is_command ? 0 : 1; }

void add_up(Holdings& sum, const Holdings& one) {
  sum.places += one.places;
  sum.measured += one.measured;
  sum.expected += one.expected;
  sum.doubt += one.doubt;
  sum.cores += one.cores;
  sum.claimed += one.claimed;
  sum.unsettled += one.unsettled;
  sum.frozen_for_cores += one.frozen_for_cores;
  sum.io_bound += one.io_bound;
}

// Of `all` that is wanted where that is more than there is.
double part(double own, double all, double whole) { return own / std::max({all, whole, 1e-9}); }

}  // namespace

void Tenancy::add(const Member& member) {
  const bool runs = member.state == MemberState::running;
  const bool unsettled = runs && member.is_unsettled();
  const Holdings one{
      .places = places_taken_by(member.ready),
      .measured = member.measured(),
      .expected = std::max(member.used(), member.estimate.peak.mean),
      .doubt = member.estimate.peak.spread,
      .cores = runs ? member.estimate.cores.mean : 0,
      .claimed = member.sample.claimed ? to_double(*member.sample.claimed) : 0,
      .unsettled = unsettled ? std::size_t{1} : 0,
      .frozen_for_cores = member.held && member.held_for == Shortage::cores ? std::size_t{1} : 0,
      .io_bound = moves(member) ? std::size_t{1} : 0};
  add_up(holdings_[member.ready.tenant], one);
  add_up(all_, one);
}

void Tenancy::count_in(const Ready& ready, const Estimate& admitted) {
  const Holdings one{.places = places_taken_by(ready),
                     .expected = admitted.peak.mean,
                     .doubt = admitted.peak.spread,
                     .cores = admitted.cores.mean,
                     .unsettled = is_known(admitted) ? std::size_t{0} : 1,
                     .io_bound = is_io_bound(admitted) ? std::size_t{1} : 0};
  add_up(holdings_[ready.tenant], one);
  add_up(all_, one);
}

const Holdings& Tenancy::of(Tenant tenant) const {
  static const Holdings nothing;
  const auto found = holdings_.find(tenant);
  return found == holdings_.end() ? nothing : found->second;
}

double Tenancy::share_of(Tenant tenant) const {
  const Holdings& own = of(tenant);
  return std::max({part(own.expected, all_.expected, whole_.line),
                   part(own.cores, all_.cores, whole_.cores),
                   part(static_cast<double>(own.places), static_cast<double>(all_.places),
                        static_cast<double>(whole_.places))});
}

bool Tenancy::has_more(Tenant tenant) const {
  return of(tenant).expected > whole_.line * fair_share();
}

bool Tenancy::is_due(Tenant tenant, const Estimate& candidate) const {
  return of(tenant).expected + candidate.peak.mean <= whole_.line * fair_share();
}

bool Tenancy::is_behind(Tenant tenant) const {
  return of(tenant).used_lately < whole_.cores * fair_share() * kBehind;
}

std::size_t Tenancy::places_of(Tenant tenant) const {
  if (tenant == kHost) return whole_.places;
  const std::size_t others = all_.places - of(tenant).places;
  const std::size_t left = whole_.places - std::min(whole_.places, others);
  const auto tenth = static_cast<std::size_t>(static_cast<double>(left) * kPlacesLeft);
  // Of few, half: one who is alone on a small machine is to use it.
  return left - std::min(std::max(tenth, kPlacesLeftLeast), left / 2);
}

bool Tenancy::has_place(Tenant tenant) const { return of(tenant).places < places_of(tenant); }

double Tenancy::keeps(const Member& member, Instant now) const {
  const Duration age = now - member.started;
  if (!is_shared() || age < kPromiseHeld) return 1;
  if (is_a_word(member)) return 0;
  const Holdings& own = of(member.ready.tenant);
  const double admitted_with = own.expected + own.doubt - own.measured;
  const double fair = whole_.line * fair_share() - own.measured;
  return admitted_with > fair ? std::clamp(fair / admitted_with, 0.0, 1.0) : 1;
}

Demand Tenancy::for_others(const Member& member, const Demand& demand, Instant now) const {
  const double kept = keeps(member, now);
  const double least = member.measured();
  Demand left = demand;
  const auto keep = [&](double& bytes) {
    if (bytes > least) bytes = least + kept * (bytes - least);
  };
  for (std::size_t i = 0; i < kHorizonCount; ++i) {
    keep(left.mean[i]);
    keep(left.most[i].mean);
    left.spread[i] *= kept;
    left.swing[i] *= kept;
    left.most[i].spread *= kept;
  }
  return left;
}

}  // namespace plimsoll::policy

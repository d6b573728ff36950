#pragma once

#include <cstddef>
#include <map>

#include "base/units.h"
#include "policy/estimator/demand_forecast.h"
#include "policy/estimator/estimate.h"
#include "policy/governor/running_set.h"
#include "policy/job/tenant.h"

// What each of several tenants has of one machine, and what the others owe him.
namespace plimsoll::policy {

// Of the places that the others leave, a tenant leaves so many himself: whoever comes next finds
// one, however long those run that were there before him.
inline constexpr double kPlacesLeft = 0.1;
inline constexpr std::size_t kPlacesLeftLeast = 2;

// What a job is expected to use and does not holds up other tenants for so long: then only as far
// as its own tenant's fair share goes, and not at all where it rests on somebody's word alone. As
// long as a job that grows takes to show its needs.
inline constexpr Duration kPromiseHeld = std::chrono::seconds(15);

// Whoever has used so many times his part of the cores is not behind any more. Nobody gets much
// more than that while others want them, so that one who always has short jobs stays below it.
inline constexpr double kBehind = 1.1;

// What is shared.
struct Whole {
  double line = 0;  // bytes
  double cores = 1;
  std::size_t places = 1;
};

// What the running jobs of one tenant have.
struct Holdings {
  std::size_t places = 0;
  double measured = 0;     // bytes in use, not merely said to be
  double expected = 0;     // bytes that they are expected to use at their most; at least `measured`
  double doubt = 0;        // one standard deviation of that, as if all erred alike
  double cores = 0;        // that they are expected to use
  double claimed = 0;      // bytes that clients say they have (JobSample::claimed)
  double used_lately = 0;  // cores, as RecentUse has it
  std::size_t unsettled = 0;  // started without knowledge, their needs not yet shown
  std::size_t frozen_for_cores = 0;
  std::size_t io_bound = 0;  // running jobs
};

// The tenants whose jobs run or wait, each with an equal claim to every part of the machine. Nobody
// is kept from what no other wants.
class Tenancy {
 public:
  Tenancy(const Whole& whole, std::size_t tenants) : whole_(whole), tenants_(tenants) {}

  // A running member, not looked at since; a start that was just decided.
  void add(const Member& member);
  void count_in(const Ready& ready, const Estimate& admitted);
  // What a tenant has used of the cores lately.
  void used_lately(Tenant tenant, double cores) { holdings_[tenant].used_lately = cores; }

  // Whether there is more than one: else nobody has to be fair.
  [[nodiscard]] bool is_shared() const { return tenants_ > 1; }
  [[nodiscard]] std::size_t tenants() const { return tenants_; }
  [[nodiscard]] double fair_share() const { return 1.0 / static_cast<double>(tenants_); }
  [[nodiscard]] const Holdings& of(Tenant tenant) const;

  // The most that he has of places, memory or cores, 0..1: who has least is next.
  [[nodiscard]] double share_of(Tenant tenant) const;
  // Whether more than his fair share of the memory is expected to be his.
  [[nodiscard]] bool has_more(Tenant tenant) const;
  // Whether it would not be, with one more job.
  [[nodiscard]] bool is_due(Tenant tenant, const Estimate& candidate) const;
  // Whether he has used less of the cores lately than his fair share: then his jobs do not wait
  // for those of others. The kernel divides the cores between tenants in any case.
  [[nodiscard]] bool is_behind(Tenant tenant) const;
  // So many jobs of his may run at once beside those of others; the host's, as many as there are
  // places.
  [[nodiscard]] std::size_t places_of(Tenant tenant) const;
  [[nodiscard]] bool has_place(Tenant tenant) const;

  // The share of what a member is expected to use beyond `measured` that holds up other tenants.
  [[nodiscard]] double keeps(const Member& member, Instant now) const;
  // What is left of its demand by that.
  [[nodiscard]] Demand for_others(const Member& member, const Demand& demand, Instant now) const;

 private:
  Whole whole_;
  std::size_t tenants_;
  std::map<Tenant, Holdings> holdings_;
  Holdings all_;
};

}  // namespace plimsoll::policy

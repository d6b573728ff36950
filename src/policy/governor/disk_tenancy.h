#pragma once

#include <cstddef>
#include <map>
#include <optional>

#include "base/units.h"
#include "policy/estimator/estimate.h"
#include "policy/job/tenant.h"

namespace plimsoll::policy {

struct DiskRoom;

// What a job that has started so lately is still to write holds up all tenants; later, other
// tenants only as far as an equal part of the space goes. And who has waited for so long does not
// wait for other tenants' jobs any more, as far as his own equal part goes, or if none of his jobs
// writes. A guess: most that write much have written it by then.
inline constexpr Duration kSpaceKept = std::chrono::minutes(1);

// What the running jobs of one tenant have of a file system.
struct DiskHoldings {
  double written = 0;                    // bytes, those of files that are gone again included
  double promised = 0;                   // bytes that they are still to write
  double fresh = 0;                      // of these, to jobs that are younger than kSpaceKept
  std::size_t unshown = 0, writers = 0;  // as DiskRoom has them
  bool has_paused = false;               // for want of its space
  bool waits = false;                    // a job of his, which others of his do not overtake
};

// The tenants on one file system: what is free above the floor, and what running jobs have written,
// is as much one's as another's. What ended jobs have left is nobody's.
class DiskTenancy {
 public:
  // `spare`: bytes that are free above the floor; may be negative.
  DiskTenancy(double spare, std::size_t tenants) : spare_(spare), tenants_(tenants) {}

  // A running job of his, not looked at since.
  void add(Tenant tenant, const DiskHoldings& of_job);
  // A start that was just decided.
  void count_in(Tenant tenant, const Estimate& admitted, const DiskRoom& room);
  // A job waits for space: one that would stay within its tenant's part goes before all writers of
  // whoever has more than his.
  void wait_for(Tenant tenant, const Estimate& waiting);
  void wait_for_others(Tenant tenant, const Estimate& waiting);

  // Bytes that are one tenant's.
  [[nodiscard]] double part() const;
  // Bytes that are kept from his next job: what his own are still to write, and those of others as
  // far as they keep it from him.
  [[nodiscard]] double promised_before(Tenant tenant) const;

  // The room as this tenant's jobs have it.
  void show(DiskRoom& room, Tenant tenant) const;
  // The same for one that has waited for kSpaceKept.
  void show_patient(DiskRoom& room, Tenant tenant, const Estimate& candidate) const;

 private:
  [[nodiscard]] const DiskHoldings& of(Tenant tenant) const;
  [[nodiscard]] bool has_more(Tenant tenant) const;
  [[nodiscard]] bool is_due(Tenant tenant, const Estimate& candidate) const;

  double spare_;
  std::size_t tenants_;
  std::map<Tenant, DiskHoldings> holdings_;
  double written_ = 0;       // by all
  bool is_awaited_ = false;  // by one that would stay within its part
};

}  // namespace plimsoll::policy

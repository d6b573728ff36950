#pragma once

#include <cstddef>
#include <map>
#include <optional>

#include "base/units.h"
#include "policy/estimator/estimate.h"
#include "policy/governor/disk_floor.h"
#include "policy/job/tenant.h"

namespace plimsoll::policy {

struct DiskRoom;

// As long as one that is frozen (kFrozenMax): after that somebody whose jobs write nothing need not
// be left the space that his next one may write, which may be what jobs like it have written again
// and again to the same place.
inline constexpr Duration kSpaceWaitMost = std::chrono::minutes(30);

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
  // With so many bytes free. `tenants`: 1 at least, if anything is asked.
  DiskTenancy(const DiskFloor& disk, double free, std::size_t tenants);

  // A running job of his, not looked at since.
  void add(Tenant tenant, const DiskHoldings& of_job);
  // A start that was just decided.
  void count_in(Tenant tenant, const Estimate& admitted, const DiskRoom& room);
  // A job waits for space: one that would stay within its tenant's part goes before all writers of
  // whoever has more than his.
  void wait_for(Tenant tenant, const Estimate& waiting);
  void wait_for_others(Tenant tenant, const Estimate& waiting);

  [[nodiscard]] bool is_shared() const { return tenants_ > 1; }
  // Bytes that are one tenant's: of what is free above the floor and what was written, but no more
  // than of all that the file system may hold, as a file may be written again and again.
  [[nodiscard]] double part() const;
  // Bytes that are kept from his next job: what his own are still to write, and those of others as
  // far as they keep it from him.
  [[nodiscard]] double promised_before(Tenant tenant) const;

  // The room as this tenant's jobs have it.
  void show(DiskRoom& room, Tenant tenant) const;
  // The same for one that has waited for so long, kSpaceKept or longer.
  void show_patient(DiskRoom& room, Tenant tenant, const Estimate& candidate,
                    Duration waited) const;

 private:
  [[nodiscard]] const DiskHoldings& of(Tenant tenant) const;
  [[nodiscard]] bool has_more(Tenant tenant) const;
  [[nodiscard]] bool is_due(Tenant tenant, const Estimate& candidate) const;

  double spare_;  // bytes that are free above the floor; may be negative
  double most_;   // bytes above the floor in all, as of when it was looked up
  std::size_t tenants_;
  std::map<Tenant, DiskHoldings> holdings_;
  double written_ = 0;       // by all
  bool is_awaited_ = false;  // by one that would stay within its part
};

}  // namespace plimsoll::policy

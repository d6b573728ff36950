#include "policy/governor/disk_tenancy.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "policy/governor/disk_space.h"
#include "policy/governor/writing.h"

namespace plimsoll::policy {

DiskTenancy::DiskTenancy(const DiskFloor& disk, double free, std::size_t tenants)
    : spare_(free - to_double(disk.floor)),
      most_(disk.size ? to_double(*disk.size) - to_double(disk.floor)
                      : std::numeric_limits<double>::infinity()),
      tenants_(tenants) {}

void DiskTenancy::add(Tenant tenant, const DiskHoldings& of_job) {
  DiskHoldings& sum = holdings_[tenant];
  sum.written += of_job.written;
  sum.promised += of_job.promised;
  sum.fresh += of_job.fresh;
  sum.unshown += of_job.unshown;
  sum.writers += of_job.writers;
  sum.has_paused = sum.has_paused || of_job.has_paused;
  written_ += of_job.written;
}

void DiskTenancy::count_in(Tenant tenant, const Estimate& admitted, const DiskRoom& room) {
  const auto whole = to_write(admitted);
  DiskHoldings start{.writers = !whole || *whole >= kWritesLeast ? std::size_t{1} : 0};
  if (room.is_for(admitted)) {
    start.promised = start.fresh = whole.value_or(0);
    start.unshown = whole ? 0 : 1;
  }
  add(tenant, start);
}

void DiskTenancy::wait_for(Tenant tenant, const Estimate& waiting) {
  // Behind that one, others of his wait for him alone.
  if (!std::exchange(holdings_[tenant].waits, true)) wait_for_others(tenant, waiting);
}

void DiskTenancy::wait_for_others(Tenant tenant, const Estimate& waiting) {
  is_awaited_ = is_awaited_ || is_due(tenant, waiting);
}

double DiskTenancy::part() const {
  const double all = std::min(spare_ + written_, std::max(most_, spare_));
  return std::max(0.0, all) / static_cast<double>(tenants_);
}

bool DiskTenancy::has_more(Tenant tenant) const {
  const DiskHoldings& own = of(tenant);
  return own.written + own.promised > part();
}

bool DiskTenancy::is_due(Tenant tenant, const Estimate& candidate) const {
  const DiskHoldings& own = of(tenant);
  return own.written + own.promised + to_write(candidate).value_or(0) <= part();
}

double DiskTenancy::promised_before(Tenant tenant) const {
  double kept = of(tenant).promised;
  for (const auto& [other, has] : holdings_) {
    if (other == tenant) continue;
    const double owed = std::max(0.0, part() - has.written);
    kept += std::max(has.fresh, std::min(has.promised, owed));
  }
  return kept;
}

// Of others as many count that nobody has seen write as he has himself: one alone would otherwise
// keep all places of such jobs.
void DiskTenancy::show(DiskRoom& room, Tenant tenant) const {
  const DiskHoldings& own = of(tenant);
  const bool gives_way = has_more(tenant);
  room.promised = promised_before(tenant);
  room.unshown = std::min(room.unshown, own.unshown * tenants_);
  room.has_paused = own.has_paused || (room.has_paused && gives_way);
  room.is_awaited = own.waits || (is_awaited_ && gives_way);
}

void DiskTenancy::show_patient(DiskRoom& room, Tenant tenant, const Estimate& candidate,
                               Duration waited) const {
  const DiskHoldings& own = of(tenant);
  if (own.waits || own.has_paused) return;
  if (own.writers > 0 && !is_due(tenant, candidate)) return;
  const bool has_waited = own.writers == 0 && waited >= kSpaceWaitMost;
  if (!has_waited && own.promised + to_write(candidate).value_or(0) > room.free) return;
  room.writers = 0;
  room.unshown = own.unshown;
  room.has_paused = room.is_awaited = false;
}

const DiskHoldings& DiskTenancy::of(Tenant tenant) const {
  static const DiskHoldings nothing;
  const auto found = holdings_.find(tenant);
  return found == holdings_.end() ? nothing : found->second;
}

}  // namespace plimsoll::policy

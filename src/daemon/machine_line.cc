#include "daemon/machine_line.h"

#include <utility>

#include "base/quantity.h"
#include "daemon/log.h"
#include "supervisor/identity.h"
#include "supervisor/run/pool_options.h"
#include "supervisor/sharing/ledger_place.h"

namespace plimsoll::daemon {
namespace {

Result<UniqueFd> make_ledger(const ListenConfig& listen) {
  if (!listen.group) return supervisor::open_own_ledger();
  const auto group = supervisor::find_group(*listen.group);
  if (!group) return tl::unexpected(group.error());
  return supervisor::make_shared_ledger(listen.socket, *group);
}

}  // namespace

MachineLine::MachineLine(supervisor::Supervisor& supervisor,
                         supervisor::HostScheduler& host_scheduler, policy::Share whole)
    : supervisor_(supervisor),
      host_scheduler_(host_scheduler),
      whole_(whole),
      holder_(host_scheduler.scheduler()) {}

void MachineLine::lease(const ListenConfig& listen, const std::string& run_id) {
  auto ledger = supervisor::Ledger::join(make_ledger(listen), run_id);
  if (!ledger)
    return log("the line is now not shared with other runs: " + ledger.error().message());
  lease_.emplace(supervisor_.loop(), std::move(*ledger), whole_, supervisor::LeaseRole::daemon,
                 holder_);
}

std::optional<supervisor::Others> MachineLine::others() const {
  return lease_ ? std::optional(lease_->others()) : std::nullopt;
}

void MachineLine::has_grown() {
  if (lease_) lease_->has_grown();
}

void MachineLine::set(Bytes line, const std::string& reason) {
  whole_.line = line;
  if (lease_) return lease_->set_line(line, reason);
  host_scheduler_.scheduler().set_line(line, reason);
}

Result<Bytes> MachineLine::ask(std::string_view size) {
  auto amount = supervisor::parse_memory_amount(size);
  if (!amount) return pass(std::move(amount));
  auto line = supervisor::line_of(*amount, supervisor_);
  if (!line) return line;
  set(*line, "the user changed the line");
  log("the line is now " + format_bytes(*line) + ", as requested through the socket");
  return line;
}

}  // namespace plimsoll::daemon

#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "daemon/config.h"
#include "supervisor/host_scheduler.h"
#include "supervisor/sharing/lease.h"

namespace plimsoll::daemon {

// The line that the daemon governs the machine by: the configuration sets it, people may set
// another through the socket, and other runs have a part of it by a lease. Of the loop's thread.
class MachineLine {
 public:
  // Both must outlive this. `whole`: of the machine.
  MachineLine(supervisor::Supervisor& supervisor, supervisor::HostScheduler& host_scheduler,
              policy::Share whole);

  // Alone on the machine until somebody else comes. The ledger is open to those who may connect.
  void lease(const ListenConfig& listen, const std::string& run_id);
  // Those who have a lease; absent where nothing is leased.
  [[nodiscard]] std::optional<supervisor::Others> others() const;
  // A job was started.
  void has_grown();

  [[nodiscard]] Bytes bytes() const { return whole_.line; }
  void set(Bytes line, const std::string& reason);
  // A size or a share, as --line takes it. The answer is the line that then holds.
  Result<Bytes> ask(std::string_view size);

 private:
  supervisor::Supervisor& supervisor_;
  supervisor::HostScheduler& host_scheduler_;
  policy::Share whole_;
  supervisor::SchedulerLeaseHolder holder_;
  std::optional<supervisor::Lease> lease_;
};

}  // namespace plimsoll::daemon

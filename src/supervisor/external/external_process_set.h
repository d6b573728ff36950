#pragma once

#include <memory>
#include <optional>
#include <string>

#include "base/result.h"
#include "kernel/cgroup/hierarchies.h"
#include "supervisor/external/external_job.h"
#include "supervisor/external/process_signals.h"
#include "supervisor/external/process_snapshot.h"

namespace plimsoll::supervisor {

// Where the processes of an external job are: a group or a family of processes of somebody else's,
// and of the peer who has named it. Nothing is done there that the peer could not do himself: files
// are written with his rights, and processes that he may not signal, such as those of su(1), are
// left alone. What is stopped here goes on when this is destroyed, and a weight is again what it
// was.
class ExternalProcessSet {
 public:
  virtual ~ExternalProcessSet() = default;
  // What it uses now, or when it was read last, if that is done elsewhere: nothing before. CPU time
  // and I/O since it was opened. All that are looked at together are given the same `now`.
  virtual ExternalSample look(Instant now) = 0;
  // What its processes have written to file systems since this was asked first, or longer; absent:
  // none of them could be read. Asked often, it looks at each of them (some 20 us) every
  // kWriteLook.
  virtual std::optional<Bytes> written(Instant now) = 0;
  static constexpr Duration kWriteLook = std::chrono::milliseconds(250);
  // Its share of CPU time and I/O beside others, where its kind has one and it is the peer's.
  virtual void weigh(unsigned weight) = 0;
  virtual void freeze() = 0;
  virtual void thaw() = 0;
  // Asks for the death of all that live there; does not wait. Again until nobody is left. No limit
  // of the group is touched.
  virtual void kill(Instant now) = 0;
};

// A group, by its path from the root of each hierarchy. Refused unless its directories belong to
// the peer, or the peer is root; and below `pool`, whose jobs are ours already (empty: there is
// none). `signals` is that of all external jobs, and must outlive it: where processes are signalled
// one by one, what is asked for is done there, a moment later.
Result<std::unique_ptr<ExternalProcessSet>> open_group(const CgroupPlace& place, const Peer& peer,
                                                       const cgroup::Hierarchies& hierarchies,
                                                       const std::string& pool,
                                                       ProcessSignals& signals);

// A process and its descendants, as the last of the readings that `look` is asked for has seen
// them. Refused unless it is the peer's, or the peer is root. `look` is that of all external jobs,
// as are `signals`.
Result<std::unique_ptr<ExternalProcessSet>> open_processes(const ProcessPlace& place,
                                                           const Peer& peer,
                                                           std::shared_ptr<ProcessSnapshot> look,
                                                           ProcessSignals& signals);

}  // namespace plimsoll::supervisor

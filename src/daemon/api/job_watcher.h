#pragma once

#include <cstdint>
#include <string_view>

#include "daemon/api/job_request.h"
#include "report/report.h"
#include "supervisor/attempt.h"

namespace plimsoll::daemon {

// Names one who follows a job, among all that there ever were.
enum class WatcherId : std::uint64_t {};

// Who follows a job. Called from within calls of the job service, which must not be called back.
// Nothing is told after ended() or lost().
class JobWatcher {
 public:
  virtual ~JobWatcher() = default;
  virtual void state(const StateTold& told) = 0;
  virtual void output(OutputStream stream, std::string_view data) = 0;
  // `last` is the last attempt; null if there was none.
  virtual void ended(const report::JobReport& report, const supervisor::AttemptResult* last) = 0;
  // Nothing more will be told, though the job goes on: the API ends.
  virtual void lost() = 0;
  // Whether it can't take more output now; the job's pipe is then left full. Asked again from time
  // to time.
  [[nodiscard]] virtual bool is_full() const = 0;
};

}  // namespace plimsoll::daemon

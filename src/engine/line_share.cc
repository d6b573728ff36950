#include "engine/line_share.h"

#include <cmath>

namespace plimsoll::engine {
namespace {

policy::LineClaim claim_of(const ConductorStatus& status) {
  policy::LineClaim claim{.used = status.used, .claimed = {}, .running = status.running};
  for (const JobStatus& job : status.jobs) {
    claim.claimed += std::max(job.estimate, job.used.value_or(Bytes{}));
  }
  claim.wanting = status.waiting > 0 && status.holding.has_value();
  return claim;
}

}  // namespace

LineShare::LineShare(loop::Loop& loop, Conductor& conductor, Ledger ledger, Bytes line)
    : conductor_(conductor),
      ledger_(std::move(ledger)),
      line_(line),
      share_(line),
      timer_(loop.timer([this] {
        settle();
        timer_.set(loop::now() + kInterval);
      })) {
  settle();
  timer_.set(loop::now() + kInterval);
}

void LineShare::set_line(Bytes line) {
  line_ = line;
  settle();
}

void LineShare::settle() {
  const policy::LineClaim own = claim_of(conductor_.status());
  // Others then plan with what was told last.
  [[maybe_unused]] const auto told = ledger_.tell(own);
  const std::vector<policy::LineClaim> others = ledger_.others();
  const Bytes share = policy::share_of(line_, own, others);
  const double moved =
      std::abs(static_cast<double>(share.count) - static_cast<double>(share_.count));
  if (moved < static_cast<double>(line_.count) * kMoveShare) return;
  share_ = share;
  std::string reason = "no other run shares the line any more";
  if (!others.empty()) {
    reason = "the line is shared with " + std::to_string(others.size()) +
             (others.size() == 1 ? " other run" : " other runs");
  }
  conductor_.set_line(share, std::move(reason));
}

}  // namespace plimsoll::engine

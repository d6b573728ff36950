#include "engine/lease.h"

#include <algorithm>
#include <cmath>

namespace plimsoll::engine {
namespace {

std::string reason_of(std::size_t others, bool has_terms) {
  const std::string what = has_terms ? "what the daemon leases" : "the line";
  if (others == 0) return "no other run shares " + what + " any more";
  return what + " is shared with " + std::to_string(others) +
         (others == 1 ? " other run" : " other runs");
}

}  // namespace

Lease::Lease(loop::Loop& loop, Ledger ledger, policy::Share whole, LeaseRole role,
             LeaseHolder holder)
    : ledger_(std::move(ledger)),
      whole_(whole),
      role_(role),
      holder_(std::move(holder)),
      shared_(whole),
      share_(whole),
      timer_(loop.timer([this] {
        settle();
        timer_.set(loop::now() + kInterval);
      })) {
  settle();
  timer_.set(loop::now() + kInterval);
}

void Lease::set_line(Bytes line) {
  whole_.line = line;
  settle();
}

// The daemon's terms, if there is one.
void Lease::heed(const std::vector<LedgerEntry>& others) {
  const Instant now = loop::now();
  const auto daemon = std::find_if(others.begin(), others.end(), [](const LedgerEntry& entry) {
    return entry.terms.has_value();
  });
  if (role_ == LeaseRole::run && daemon != others.end()) {
    terms_ = daemon->terms;
    terms_seen_ = now;
  } else if (terms_ && now - terms_seen_ > kTermsLast) {
    terms_.reset();
  }
  shared_ = whole_;
  if (!terms_) return;
  shared_ = {.line = std::min(whole_.line, terms_->line),
             .cores = std::min(whole_.cores, terms_->cores)};
}

void Lease::settle() {
  const policy::RunClaim own = holder_.claim();
  LedgerEntry entry{.claim = own};
  if (role_ == LeaseRole::daemon) entry.terms = whole_;
  // Others then plan with what was told last.
  [[maybe_unused]] const auto told = ledger_.tell(entry);
  const std::vector<LedgerEntry> others = ledger_.others();
  std::vector<policy::RunClaim> claims;
  for (const LedgerEntry& other : others) claims.push_back(other.claim);
  heed(others);
  parties_ = others.size() + 1;
  ++looks_;
  const policy::Share share = policy::share_of(shared_, own, claims);
  const double moved = std::abs(to_double(share.line) - to_double(share_.line));
  if (moved < to_double(shared_.line) * kMove &&
      std::abs(share.cores - share_.cores) < shared_.cores * kMove) {
    return;
  }
  share_ = share;
  holder_.moved(share_, reason_of(others.size(), terms_.has_value()));
}

policy::RunClaim claim_of(const ConductorStatus& status) {
  policy::RunClaim claim{.memory = {.used = status.used}, .cores = {}, .running = status.running};
  for (const JobStatus& job : status.jobs) {
    claim.memory.claimed += std::max(job.estimate, job.used.value_or(Bytes{}));
    if (job.state != JobState::running) continue;
    claim.cores.used += job.cores.value_or(job.cores_estimate);
    claim.cores.claimed += std::max(job.cores_estimate, job.cores.value_or(0));
  }
  if (status.waiting > 0 && status.holding) {
    const bool for_cores = status.holding->cause == policy::HoldCause::cores ||
                           status.holding->cause == policy::HoldCause::run_queue;
    claim.memory.wanting = !for_cores;
    claim.cores.wanting = for_cores;
  }
  return claim;
}

LeaseHolder holder_of(Conductor& conductor) {
  return {
      .claim = [&conductor] { return claim_of(conductor.status()); },
      .moved = [&conductor](const policy::Share& share,
                            std::string reason) { conductor.set_share(share, std::move(reason)); }};
}

}  // namespace plimsoll::engine

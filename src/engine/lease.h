#pragma once

#include <functional>
#include <optional>
#include <string>

#include "engine/conductor.h"
#include "engine/ledger.h"
#include "loop/loop.h"
#include "policy/share.h"

namespace plimsoll::engine {

// Who takes part: a run takes the terms of the daemon, if there is one; the daemon sets them.
enum class LeaseRole : std::uint8_t { run, daemon };

// Whose part it is.
struct LeaseHolder {
  std::function<policy::RunClaim()> claim;
  // Another share holds from now on, and why.
  std::function<void(const policy::Share&, std::string reason)> moved;
};

// The part of the machine's memory and cores that a run has while others run beside it: tells them
// what it claims, and moves as they come and go.
//
// Where a daemon is there, what is shared is what the daemon says (its line and cores), as far as
// that is not more than the run's own; that outlives the daemon by kTermsLast, so that a restart
// changes nothing.
class Lease {
 public:
  // `loop` must outlive this. Begins at once. `whole`: of the machine, as this process sees it.
  Lease(loop::Loop& loop, Ledger ledger, policy::Share whole, LeaseRole role, LeaseHolder holder);

  // The line of the whole machine, by the user's word.
  void set_line(Bytes line);

  // What holds now.
  [[nodiscard]] const policy::Share& share() const { return share_; }
  // Others were there when it looked last.
  [[nodiscard]] bool is_shared() const { return parties_ > 1; }
  // How often it has looked.
  [[nodiscard]] std::uint64_t looks() const { return looks_; }
  // What each would have if all had the same.
  [[nodiscard]] Bytes fair_line() const { return {shared_.line.count / parties_}; }
  // Tells at once what is claimed, and looks.
  void settle();

  // Late by so much at most; an estimate moves by little meanwhile.
  static constexpr Duration kInterval = std::chrono::milliseconds(500);
  // A smaller move is not worth a decision.
  static constexpr double kMove = 0.01;
  // A daemon is back sooner; after that its terms are nobody's.
  static constexpr Duration kTermsLast = std::chrono::seconds(30);

 private:
  void heed(const std::vector<LedgerEntry>& others);

  Ledger ledger_;
  policy::Share whole_;
  LeaseRole role_;
  LeaseHolder holder_;
  policy::Share shared_;  // by all
  std::size_t parties_ = 1;
  std::uint64_t looks_ = 0;
  policy::Share share_;  // ours of it
  std::optional<policy::Share> terms_;
  Instant terms_seen_{};
  loop::Timer timer_;
};

// What a conductor's run claims.
[[nodiscard]] policy::RunClaim claim_of(const ConductorStatus& status);
// The part of a conductor, which must outlive the lease.
[[nodiscard]] LeaseHolder holder_of(Conductor& conductor);

}  // namespace plimsoll::engine

#pragma once

#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "base/loop/loop.h"
#include "base/loop/worker.h"
#include "policy/governor/share.h"
#include "policy/scheduler/scheduler.h"
#include "supervisor/sharing/ledger.h"

namespace plimsoll::supervisor {

// Who takes part: a run takes the terms of the daemon, if there is one; the daemon sets them.
enum class LeaseRole : std::uint8_t { run, daemon };

// Whose part it is.
class LeaseHolder {
 public:
  LeaseHolder() = default;
  LeaseHolder(const LeaseHolder&) = delete;
  LeaseHolder& operator=(const LeaseHolder&) = delete;
  virtual ~LeaseHolder() = default;
  [[nodiscard]] virtual policy::RunClaim claim() const = 0;
  // Another share holds from now on, and why.
  virtual void on_share(const policy::Share& share, std::string reason) = 0;
};

// What the others claim, together.
struct Others {
  std::size_t runs = 0;
  std::size_t jobs = 0;     // that run
  Bytes used{}, claimed{};  // memory
  double cores_used = 0;
};

// The part of the machine's memory and cores that a run has while others run beside it: tells them
// what it claims, and moves as they come and go.
//
// Where a daemon is there, what is shared is what the daemon says (its line and cores), as far as
// that is not more than the run's own; that outlives the daemon by kTermsLast, so that a restart
// changes nothing.
//
// The ledger is a directory that others write to: while the loop runs, only a thread of this
// object's own waits for it.
class Lease {
 public:
  // `loop` and `holder` must outlive this. Looks at once, and waits for that. `whole`: of the
  // machine, as this process sees it.
  Lease(loop::Loop& loop, Ledger ledger, policy::Share whole, LeaseRole role, LeaseHolder& holder);

  // The line of the whole machine, by the user's word: `reason` tells whose. Another one
  // is told even if it moves the share by little; other runs hear of it soon.
  void set_line(Bytes line, std::string reason);

  // What holds now.
  [[nodiscard]] const policy::Share& share() const { return share_; }
  // What all together may use: the share of one who is alone.
  [[nodiscard]] const policy::Share& shared() const { return shared_; }
  // Others were there when it looked last.
  [[nodiscard]] bool is_shared() const { return parties_ > 1; }
  // As of the last look.
  [[nodiscard]] const Others& others() const { return others_; }
  // Nothing may be started yet: others are there, and have not all heard of this one, for kInterval
  // at most.
  [[nodiscard]] bool is_news() const { return is_shared() && !is_heard_; }
  // How often it has looked.
  [[nodiscard]] std::uint64_t looks() const { return looks_; }
  // What this run would have if all users had the same, and all runs of each.
  [[nodiscard]] Bytes fair_line() const { return {shared_.line.count / beside_.parts()}; }
  // Tells at once what is claimed, and looks; waits for both, so not in a turn of the loop.
  void settle();
  // A job was started: what is claimed is told soon. Cheap, however many start.
  void has_grown();

  // Late by so much at most; an estimate moves by little meanwhile.
  static constexpr Duration kInterval = std::chrono::milliseconds(500);
  // After a start: whoever joins meanwhile believes that what it needs is free. And while this one
  // waits until the others have heard of it, who were woken.
  static constexpr Duration kSoon = std::chrono::milliseconds(20);
  // While it is not yet known what jobs need, here or there.
  static constexpr Duration kWhileUnsettled = std::chrono::milliseconds(100);
  // A smaller move is not worth a decision.
  static constexpr double kMove = 0.01;
  // What was taken and is no more always is.
  static_assert(kMove <= policy::kTakenMin);
  // A daemon is back sooner; after that its terms are nobody's.
  static constexpr Duration kTermsLast = std::chrono::seconds(30);
  // What this run claims is told and reckoned with in one look; if that takes longer, the claim is
  // asked for anew in between.
  static constexpr Duration kClaimLasts = kWhileUnsettled;

 private:
  void ask();  // the holder what it claims, which costs a look at all its jobs
  void settle_again(Duration after);
  [[nodiscard]] Duration interval() const;
  void look_away();
  void hear();
  // Whether what is told is worth a look of the others before their time.
  [[nodiscard]] bool is_worth_ringing(const policy::RunClaim& claim);
  [[nodiscard]] LedgerEntry own_entry() const;
  [[nodiscard]] bool is_seen_by(const std::vector<LedgerEntry>& others) const;
  // What others have told by now.
  void heed(const std::vector<LedgerEntry>& others);
  void heed_terms(const std::vector<LedgerEntry>& others);
  void agree();
  // The share as it ought to be.
  [[nodiscard]] policy::Share share_now() const;
  [[nodiscard]] bool has_moved(const policy::Share& share) const;
  void move();
  // With whom the line is shared, for people.
  [[nodiscard]] std::string shared_with() const;

  Ledger ledger_;  // the worker's while is_looking_
  policy::Share whole_;
  LeaseRole role_;
  LeaseHolder& holder_;
  policy::Share shared_;  // by all
  std::size_t parties_ = 1;
  bool beside_daemon_ = false;  // one of them is the daemon
  Others others_;
  policy::Beside beside_;
  std::uint64_t looks_ = 0;
  Instant joined_;
  // By all who were there: their files say that they have looked since; and a look later, by when
  // they plan with it.
  bool is_seen_ = false, is_heard_ = false;
  policy::Share share_;       // ours of it
  policy::RunClaim claim_{};  // as asked for last
  Instant asked_{};
  std::optional<policy::Share> terms_;
  Instant terms_seen_{};
  Instant due_{};  // the next look
  bool is_looking_ = false;
  policy::RunClaim rung_{};  // what the others were woken for last, or less
  std::optional<LedgerBell> bell_;
  loop::Watch bell_watch_;
  loop::Timer timer_;
  std::shared_ptr<Lease*> self_;  // for what comes back from the worker
  loop::Worker worker_;           // first to go: it uses the ledger
};

// What a scheduler's run claims. As long as a job is kYoung, it is about to allocate what it is
// believed to reach.
inline constexpr Duration kYoung = std::chrono::seconds(1);
// A job whose needs are not known is believed to grow on for so long.
inline constexpr Duration kUnsettledAhead = std::chrono::seconds(1);
[[nodiscard]] policy::RunClaim claim_of(const policy::SchedulerStatus& status);

// The jobs of a scheduler, which must outlive this.
class SchedulerLeaseHolder : public LeaseHolder {
 public:
  explicit SchedulerLeaseHolder(policy::Scheduler& scheduler) : scheduler_(scheduler) {}
  [[nodiscard]] policy::RunClaim claim() const override { return claim_of(scheduler_.status()); }
  void on_share(const policy::Share& share, std::string reason) override {
    scheduler_.set_share(share, std::move(reason));
  }

 private:
  policy::Scheduler& scheduler_;
};

}  // namespace plimsoll::supervisor

#include "supervisor/sharing/lease.h"

#include <sys/epoll.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "supervisor/wall_clock.h"

namespace plimsoll::supervisor {
namespace {

// As they tell it.
Others sum_of(const std::vector<LedgerEntry>& entries) {
  Others sum{.runs = entries.size()};
  for (const LedgerEntry& entry : entries) {
    const policy::RunClaim& claim = entry.claim;
    sum.jobs += std::min(claim.running, std::numeric_limits<std::size_t>::max() - sum.jobs);
    sum.used += claim.memory.used;
    sum.claimed += claim.memory.claimed;
    sum.cores_used += claim.cores.used;
  }
  return sum;
}

}  // namespace

Lease::Lease(loop::Loop& loop, Ledger ledger, policy::Share whole, LeaseRole role,
             LeaseHolder& holder)
    : ledger_(std::move(ledger)),
      whole_(whole),
      role_(role),
      holder_(holder),
      shared_(whole),
      joined_(loop::now()),
      share_(whole),
      timer_(loop.timer([this] {
        ask();
        settle_again(interval());  // sooner, if what is settled starts jobs
        look_away();
      })),
      self_(std::make_shared<Lease*>(this)),
      worker_(loop) {
  if (auto bell = ledger_.bell()) {
    bell_.emplace(std::move(*bell));
    // Where it can't be watched, the next look tells.
    auto watch = loop.watch(bell_->fd(), EPOLLIN, [this](std::uint32_t) { hear(); });
    if (watch) bell_watch_ = std::move(*watch);
  }
  // Those who are woken look kSoon later, when this has told; others at their next look. Before it
  // looks, as the date of a file is to say.
  [[maybe_unused]] const auto rung = ledger_.ring();
  settle();
  settle_again(interval());
}

void Lease::ask() {
  claim_ = holder_.claim();
  asked_ = loop::now();
}

void Lease::hear() {
  if (!bell_->has_rung()) return;
  bell_watch_.wait_for(0);  // until it has looked
  has_grown();
}

bool Lease::is_worth_ringing(const policy::RunClaim& claim) {
  const Bytes step = to_bytes(to_double(shared_.line) * kMove);
  const bool is_more = claim.unsettled > rung_.unsettled ||
                       claim.memory.claimed >= rung_.memory.claimed + step ||
                       claim.memory.used >= rung_.memory.used + step;
  if (is_more) {
    rung_ = claim;
  } else {
    rung_.memory.claimed = std::min(rung_.memory.claimed, claim.memory.claimed);
    rung_.memory.used = std::min(rung_.memory.used, claim.memory.used);
    rung_.unsettled = claim.unsettled;
  }
  return is_more;
}

void Lease::settle_again(Duration after) {
  due_ = loop::now() + after;
  timer_.set(due_);
}

Duration Lease::interval() const {
  if (!is_shared()) return kInterval;
  if (is_news()) return kSoon;
  const bool unsettled = share_.unsettled > 0 || claim_.unsettled > 0;
  return unsettled ? kWhileUnsettled : kInterval;
}

void Lease::has_grown() {
  if (due_ - loop::now() > kSoon) settle_again(kSoon);
}

std::string Lease::shared_with() const {
  const std::size_t runs = parties_ - 1 - (beside_daemon_ ? 1 : 0);
  if (runs == 0) {
    return beside_daemon_ ? "the line is shared with the daemon"
                          : "no other run shares the line any more";
  }
  return std::string("the line is shared with ") + (beside_daemon_ ? "the daemon and " : "") +
         std::to_string(runs) + (runs == 1 ? " other run" : " other runs");
}

void Lease::set_line(Bytes line, std::string reason) {
  has_grown();
  if (line == whole_.line) return;
  whole_.line = line;
  agree();
  ask();
  share_ = share_now();
  if (parties_ > 1) reason += "; " + shared_with();
  holder_.on_share(share_, std::move(reason));
}

// The daemon's terms, if there is one.
void Lease::heed_terms(const std::vector<LedgerEntry>& others) {
  const Instant now = loop::now();
  const auto daemon = std::find_if(others.begin(), others.end(), [](const LedgerEntry& entry) {
    return entry.terms.has_value();
  });
  beside_daemon_ = role_ == LeaseRole::run && daemon != others.end();
  if (beside_daemon_) {
    terms_ = daemon->terms;
    terms_seen_ = now;
  } else if (terms_ && now - terms_seen_ > kTermsLast) {
    terms_.reset();
  }
  agree();
}

void Lease::agree() {
  shared_ = whole_;
  if (!terms_) return;
  shared_ = {.line = std::min(whole_.line, terms_->line),
             .cores = std::min(whole_.cores, terms_->cores)};
}

LedgerEntry Lease::own_entry() const {
  LedgerEntry entry{.claim = claim_};
  // What waits for the others to hear of it is no reason for them to give way.
  if (is_news()) entry.claim.memory.wanting = entry.claim.cores.wanting = false;
  if (role_ == LeaseRole::daemon) entry.terms = whole_;
  return entry;
}

// A date that is still to come tells nothing: a clock was set back, or somebody has dated his file.
bool Lease::is_seen_by(const std::vector<LedgerEntry>& others) const {
  const auto since = ledger_.first_told();
  if (!since || !ledger_.has_seen_all()) return false;
  const WallTime now = wall_now();
  return std::ranges::all_of(others, [&since, now](const LedgerEntry& other) {
    return other.told > *since && other.told <= now;
  });
}

void Lease::heed(const std::vector<LedgerEntry>& others) {
  others_ = sum_of(others);
  beside_ = beside_of(others, ::geteuid());
  heed_terms(others);
  parties_ = others.size() + 1;
  is_heard_ = is_heard_ || is_seen_ || loop::now() - joined_ >= kInterval;
  is_seen_ = is_seen_by(others);
  ++looks_;
}

policy::Share Lease::share_now() const {
  policy::Share share = policy::share_of(shared_, claim_, beside_);
  if (!is_news()) return share;
  share.taken = share.line;
  share.told = {};
  return share;
}

bool Lease::has_moved(const policy::Share& share) const {
  const auto by_memory = [this](Bytes now, Bytes before) {
    return std::abs(to_double(now) - to_double(before)) >= to_double(shared_.line) * kMove;
  };
  const auto left = [this](const policy::Share& of) {
    return of.left_by_others.value_or(shared_.line);
  };
  const auto common = [](const policy::Share& of) { return of.common_line.value_or(of.line); };
  return share.has_elder != share_.has_elder || share.unsettled != share_.unsettled ||
         by_memory(share.line, share_.line) || by_memory(share.taken, share_.taken) ||
         by_memory(share.told, share_.told) || by_memory(left(share), left(share_)) ||
         by_memory(common(share), common(share_)) ||
         std::abs(share.cores - share_.cores) >= shared_.cores * kMove;
}

void Lease::move() {
  const policy::Share share = share_now();
  if (!has_moved(share)) return;
  share_ = share;
  holder_.on_share(share_, shared_with());
}

void Lease::settle() {
  worker_.drain();
  ask();
  // Others then plan with what was told last.
  [[maybe_unused]] const auto told = ledger_.tell(own_entry());
  heed(ledger_.others());
  move();
}

void Lease::look_away() {
  if (is_looking_) return settle_again(kSoon);
  is_looking_ = true;
  auto found = std::make_shared<std::vector<LedgerEntry>>();
  const LedgerEntry own = own_entry();
  worker_.submit(
      [this, own, found, rings = is_shared() && is_worth_ringing(own.claim)] {
        [[maybe_unused]] const auto told = ledger_.tell(own);
        if (rings) {
          [[maybe_unused]] const auto rung = ledger_.ring();
        }
        *found = ledger_.others();
      },
      [found, self = std::weak_ptr(self_)] {
        const auto lease = self.lock();
        if (!lease) return;
        (*lease)->is_looking_ = false;
        if ((*lease)->bell_watch_) (*lease)->bell_watch_.wait_for(EPOLLIN);
        (*lease)->heed(*found);
        if (loop::now() - (*lease)->asked_ > kClaimLasts) (*lease)->ask();
        (*lease)->move();
      });
}

namespace {

// What nothing is known of goes on as it has begun until others can have heard of it.
Bytes reach_of(const policy::JobStatus& job) {
  Bytes used = job.used.value_or(Bytes{});
  const bool grows = job.unsettled && job.state == policy::JobState::running;
  if (grows) used += to_bytes(job.growth.value_or(0) * to_seconds(kUnsettledAhead));
  return std::max(job.estimate, used);
}

}  // namespace

policy::RunClaim claim_of(const policy::SchedulerStatus& status) {
  policy::RunClaim claim{.memory = {.used = status.used},
                         .cores = {},
                         .running = status.running,
                         .oldest = status.oldest,
                         .sizeable = status.sizeable};
  for (const policy::JobStatus& job : status.jobs) {
    const Bytes used = job.used.value_or(Bytes{}), reach = reach_of(job);
    claim.unsettled += job.unsettled ? 1 : 0;
    claim.memory.claimed += reach;
    if (job.ran + job.frozen < kYoung) claim.starting += reach - used;
    if (job.state != policy::JobState::running) continue;
    claim.cores.used += job.cores.value_or(job.cores_estimate);
    claim.cores.claimed += std::max(job.cores_estimate, job.cores.value_or(0));
  }
  if (status.waiting > 0 && status.holding) {
    const bool for_cores = status.holding->cause == policy::HoldCause::cores;
    claim.memory.wanting = !for_cores;
    claim.cores.wanting = for_cores;
  }
  return claim;
}

}  // namespace plimsoll::supervisor

#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <set>
#include <unordered_map>

#include "base/units.h"
#include "policy/estimator/estimate.h"
#include "policy/governor/governor_config.h"
#include "policy/governor/member.h"
#include "policy/job/tenant.h"

namespace plimsoll::policy {

// What the running jobs of a kind have shown, before any of them has ended.
struct Shown {
  std::size_t running = 0;
  double ran_seconds = 0;      // of all that run, together
  double peak_bytes = 0;       // the most that any of them ever had
  std::size_t unsettled = 0;   // of those that run: not long enough to show their needs
  std::optional<IoNeed> io{};  // of the one that waited for the largest share of its time
  // The most that any is believed to write in all, of those that have shown it (kWriteShown).
  std::optional<double> to_write{};
};

// The jobs that could run and wait, those of each tenant in the order in which they should start:
// by priority, then the longest expected first, since what is started late must be short; waiting
// counts as length, so that nobody waits for ever (Round says who may start before them). Lengths
// count in powers of two, and kinds that are equally long by that take turns, in proportion to how
// many of each wait: were one to end before the next begins, those that need much memory would run
// beside each other and leave cores idle, and those that need little would leave memory unused.
// Jobs of a kind stand behind each other, in order of input. With StartOrder::input all jobs do.
// Commands come before jobs, which wait for them.
class Waiting {
 public:
  explicit Waiting(StartOrder by) : by_(by) {}

  // Jobs of a kind, as they are to start.
  struct InOrder {
    bool operator()(const Ready* one, const Ready* other) const {
      if (one->is_command != other->is_command) return one->is_command;
      return one->priority != other->priority ? one->priority > other->priority
                                              : one->job < other->job;
    }
  };
  // Where the first of a kind stands.
  struct Rank {
    bool is_command = false;
    int priority = 0;
    double seconds = 0;
    double place = 0;  // among those of the kind that wait or have begun meanwhile, 0..1
    JobId first{};
    Kind kind{};
    // Among those of one tenant.
    bool operator<(const Rank& other) const {
      if (is_command != other.is_command) return is_command;
      if (priority != other.priority) return priority > other.priority;
      if (seconds != other.seconds) return seconds > other.seconds;
      if (place != other.place) return place < other.place;
      return first < other.first;
    }
  };
  struct KindState {
    Estimate estimate;
    Shown shown;
    std::size_t settled = 0;  // ever: have shown their needs
    Tenant tenant = kHost;    // of all of them
    std::set<Ready*, InOrder> jobs;
    std::size_t started = 0;     // since none of it waited last, each once
    std::optional<Rank> rank{};  // as it stands in the order
  };

  void expect(Kind kind, const Estimate& estimate);
  // No job of the kind waits or runs, and what was known of it may go.
  void forget(Kind kind);
  void enter(Ready& job, Instant now);
  void remove(Ready& job);

  // What is shown of a kind has changed: its place in the order may be another.
  void show(Kind kind, const Shown& shown);
  [[nodiscard]] const Shown& shown(Kind kind) const;
  // A job was started, and waits no longer; one of those of a kind that were has shown its needs.
  void started(const Ready& job);
  void settled(Kind kind) { ++kinds_.at(kind).settled; }
  [[nodiscard]] std::size_t settled_ever(Kind kind) const { return kinds_.at(kind).settled; }

  using Order = std::set<Rank>;
  // Of each tenant of whom somebody waits.
  [[nodiscard]] const std::map<Tenant, Order>& orders() const { return orders_; }
  // The first of all, whosever it is; somebody waits.
  [[nodiscard]] const Rank& front() const;
  // The first of a kind in its order.
  [[nodiscard]] Ready& first(Kind kind) const { return **kinds_.at(kind).jobs.begin(); }
  // As last told to expect(), whatever has been shown since.
  [[nodiscard]] const Estimate& estimate(Kind kind) const { return kinds_.at(kind).estimate; }
  // What to expect of a waiting job of the kind: its estimate, and at least what those of its kind
  // have shown while nothing better is known.
  [[nodiscard]] Estimate expected(Kind kind) const;
  [[nodiscard]] std::size_t size() const { return size_; }
  [[nodiscard]] std::size_t size(Kind kind) const { return kinds_.at(kind).jobs.size(); }

 private:
  void rank(Kind kind, KindState& state);

  StartOrder by_;
  std::unordered_map<Kind, KindState> kinds_;
  std::map<Tenant, Order> orders_;  // none is empty
  std::size_t size_ = 0;            // of all kinds
};

}  // namespace plimsoll::policy

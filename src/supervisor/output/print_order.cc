#include "supervisor/output/print_order.h"

#include <algorithm>
#include <deque>
#include <map>
#include <set>
#include <utility>

namespace plimsoll::output {
namespace {

using State = Attempt::State;

class GroupOrder final : public PrintOrder {
 public:
  explicit GroupOrder(PrintOrderOwner& owner) : owner_(owner) {}

  void opened(Attempt&) override {}
  void arrived(Channel&) override {}
  void over(Attempt& attempt) override {
    // One that wrote nothing need not wait for those that did.
    if (attempt.printable()) {
      queue_.push_back(&attempt);
    } else {
      owner_.retire(attempt);
    }
  }
  void passed(JobId) override {}
  void last() override {}

  Channel* next() override {
    while (!queue_.empty()) {
      if (Channel* const channel = queue_.front()->printable()) return channel;
      owner_.retire(*std::exchange(queue_.front(), nullptr));
      queue_.pop_front();
    }
    return nullptr;
  }

  [[nodiscard]] bool live(const Attempt&) const override { return false; }

 private:
  PrintOrderOwner& owner_;
  std::deque<Attempt*> queue_;  // over, in this order
};

// Channels that have something take turns, a piece each, or as many as a line needs.
// Invariant: a channel is in ring_ or is current_ if and only if it is marked as queued; what is in
// ring_ is printable.
class LineOrder final : public PrintOrder {
 public:
  explicit LineOrder(PrintOrderOwner& owner) : owner_(owner) {}

  void opened(Attempt&) override {}
  void arrived(Channel& channel) override {
    if (channel.queued || !channel.stream.printable()) return;
    channel.queued = true;
    ring_.push_back(&channel);
  }
  void over(Attempt& attempt) override {
    arrived(attempt.out);
    arrived(attempt.err);
    retire_if_done(attempt);
  }
  void passed(JobId) override {}
  void last() override {}

  Channel* next() override {
    if (current_ && current_->stream.printable()) {
      if (current_->stream.in_line() == InLine::middle) return current_;
      ring_.push_back(std::exchange(current_, nullptr));
    } else if (current_) {
      current_->queued = false;
      retire_if_done(*std::exchange(current_, nullptr)->attempt);
    }
    if (ring_.empty()) return nullptr;
    current_ = ring_.front();
    ring_.pop_front();
    return current_;
  }

  [[nodiscard]] bool live(const Attempt&) const override { return true; }

 private:
  void retire_if_done(Attempt& attempt) {
    if (attempt.state == State::over && !attempt.out.queued && !attempt.err.queued) {
      owner_.retire(attempt);
    }
  }

  PrintOrderOwner& owner_;
  std::deque<Channel*> ring_;
  Channel* current_ = nullptr;  // was given last
};

// Invariant: every job before turn_ is printed or had nothing to print.
class InputOrder final : public PrintOrder {
 public:
  InputOrder(PrintOrderOwner& owner, std::vector<JobId> jobs)
      : owner_(owner), jobs_(std::move(jobs)) {}

  void opened(Attempt& attempt) override { attempts_.emplace(key_of(attempt), &attempt); }
  void arrived(Channel&) override {}
  void over(Attempt& attempt) override {
    if (!attempt.printable()) leave(attempt);
  }
  void passed(JobId job) override {
    if (job >= turn_) passed_.insert(job);
  }
  void last() override { last_ = true; }

  Channel* next() override {
    for (;;) {
      const auto first = attempts_.begin();
      if (first != attempts_.end() && first->first.first <= turn_) {
        Attempt& attempt = *first->second;
        Channel* const channel = attempt.printable();
        if (channel || attempt.state != State::over) return channel;
        leave(attempt);
      } else if (passed_.erase(turn_) == 1) {
        turn_ = after(turn_);
      } else if (last_ && first != attempts_.end()) {
        turn_ = first->first.first;
      } else {
        return nullptr;
      }
    }
  }

  [[nodiscard]] bool live(const Attempt& attempt) const override {
    return attempt.job <= turn_ && attempts_.begin()->second == &attempt;
  }

 private:
  using Key = std::pair<JobId, unsigned>;
  // In the order of the input.
  [[nodiscard]] JobId after(JobId job) const {
    const auto next = std::upper_bound(jobs_.begin(), jobs_.end(), job);
    return next == jobs_.end() ? JobId{static_cast<std::uint64_t>(job) + 1} : *next;
  }

  static Key key_of(const Attempt& attempt) { return {attempt.job, attempt.number}; }

  void leave(Attempt& attempt) {
    if (attempt.disposition == Disposition::keep) passed(attempt.job);
    attempts_.erase(key_of(attempt));
    owner_.retire(attempt);
  }

  PrintOrderOwner& owner_;
  std::vector<JobId> jobs_;
  std::map<Key, Attempt*> attempts_;
  std::set<JobId> passed_;  // from turn_ on
  JobId turn_ = after(JobId{});
  bool last_ = false;
};

}  // namespace

std::unique_ptr<PrintOrder> make_print_order(Order order, PrintOrderOwner& owner,
                                             std::vector<JobId> jobs) {
  switch (order) {
    case Order::group: return std::make_unique<GroupOrder>(owner);
    case Order::line: return std::make_unique<LineOrder>(owner);
    case Order::ordered: break;
  }
  return std::make_unique<InputOrder>(owner, std::move(jobs));
}

}  // namespace plimsoll::output

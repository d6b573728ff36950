#include "store/history/writer.h"

#include <algorithm>

namespace plimsoll::history {
namespace {

// Trimming looks at everything, which takes some milliseconds.
constexpr std::uint64_t kAddedPerTrim = 1000;

}  // namespace

Writer::Writer(Store store)
    : store_(std::move(store)),
      thread_({.weight_max = kWaitingMax, .gather = kCommitEvery},
              [this](const std::vector<Entry>& batch) { write(batch); }) {
  store_.be_patient();
}

void Writer::add(policy::AttemptSummary attempt_summary, WallTime recorded) {
  (void)thread_.add({std::move(attempt_summary), recorded});  // counted there if dropped
}

void Writer::write(const std::vector<Entry>& batch) {
  auto done = store_.add(batch);
  // The first batch trims too: short runs must not add up without end.
  if (done && (added_ == 0 || added_ >= kAddedPerTrim)) {
    added_ = 0;
    done = store_.trim(batch.back().recorded);
  }
  added_ += batch.size();
  const std::scoped_lock lock(mutex_);
  if (auto notice = store_.take_notice()) notices_.push_back(std::move(*notice));
  if (done) {
    in_trouble_ = false;
    return;
  }
  lost_ += batch.size();
  if (std::exchange(in_trouble_, true)) return;
  notices_.push_back("the history can't be written: " + done.error().message() +
                     "; jobs continue without it");
}

std::optional<std::string> Writer::take_notice() {
  const std::scoped_lock lock(mutex_);
  if (notices_.empty()) return std::nullopt;
  std::string first = std::move(notices_.front());
  notices_.erase(notices_.begin());
  return first;
}

std::uint64_t Writer::dropped() const {
  const std::scoped_lock lock(mutex_);
  return lost_ + thread_.dropped();
}

void Writer::finish() { thread_.finish(); }

}  // namespace plimsoll::history

#include "store/runs/event_summary.h"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include "store/runs/reasons.h"

namespace plimsoll::report {
namespace {

using policy::EventKind;

// Takes events in order and keeps what has begun and not yet ended.
class Teller {
 public:
  void take(const RecordedEvent& event);
  [[nodiscard]] EventSummary finish();

 private:
  struct Reason {
    explicit Reason(const std::string& first) : text(first) {}

    MergedReason text;
    std::size_t times = 0;
    std::set<std::string> jobs;
    Duration in_all{};
  };
  struct DeedOf {
    MergedReason text;
    std::size_t place;  // in story_.deeds
  };
  void end_hold(Duration at);
  void end_pause(const std::string& job, Duration at);
  void note_deed(const RecordedEvent& event);
  void count(const RecordedEvent& event);

  EventSummary story_;
  std::map<std::string, Reason> reasons_;  // by without_numbers()
  std::set<std::string> running_;
  std::map<std::string, std::size_t> paused_;                  // job to its place in story_.pauses
  std::map<std::pair<EventKind, std::string>, DeedOf> deeds_;  // by kind and without_numbers()
  std::optional<std::string> holding_, held_job_;  // what holds now: the reason and the job
  Duration held_since_{};
};

void Teller::end_hold(Duration at) {
  if (holding_) reasons_.at(*holding_).in_all += at - held_since_;
  holding_.reset();
}

void Teller::end_pause(const std::string& job, Duration at) {
  const auto found = paused_.find(job);
  if (found == paused_.end()) return;
  Pause& pause = story_.pauses[found->second];
  pause.length = at - pause.at;
  paused_.erase(found);
}

void Teller::take(const RecordedEvent& event) {
  story_.end = std::max(story_.end, event.t);
  count(event);
  const bool of_held = holding_ && (held_job_->empty() || *held_job_ == event.job);
  switch (event.kind) {
    case EventKind::held: {
      end_hold(event.t);
      holding_ = without_numbers(event.reason);
      held_job_ = event.job;
      held_since_ = event.t;
      Reason& reason = reasons_.try_emplace(*holding_, event.reason).first->second;
      if (reason.times++ > 0) reason.text.add(event.reason);
      if (!event.job.empty()) reason.jobs.insert(event.job);
      break;
    }
    case EventKind::admitted:
    case EventKind::started:
    case EventKind::ended:
      if (of_held) end_hold(event.t);
      end_pause(event.job, event.t);
      break;
    case EventKind::frozen:
      end_pause(event.job, event.t);
      paused_[event.job] = story_.pauses.size();
      story_.pauses.push_back({.at = event.t, .job = event.job, .reason = event.reason});
      break;
    case EventKind::evicted:
    case EventKind::failed:
      story_.losses.push_back(
          {.at = event.t, .kind = event.kind, .job = event.job, .reason = event.reason});
      end_pause(event.job, event.t);
      break;
    case EventKind::thawed:
    case EventKind::requeued: end_pause(event.job, event.t); break;
    case EventKind::reclaimed:
    case EventKind::alarm:
    case EventKind::line: note_deed(event); break;
    case EventKind::queued: break;
  }
}

void Teller::count(const RecordedEvent& event) {
  if (event.kind == EventKind::started) running_.insert(event.job);
  if (event.kind == EventKind::ended || event.kind == EventKind::requeued) {
    running_.erase(event.job);
  }
  if (event.kind == EventKind::ended) ++story_.ended;
}

void Teller::note_deed(const RecordedEvent& event) {
  const auto [found, is_new] =
      deeds_.try_emplace(std::pair(event.kind, without_numbers(event.reason)),
                         DeedOf{MergedReason(event.reason), story_.deeds.size()});
  auto& [text, place] = found->second;
  if (is_new) {
    story_.deeds.push_back({.kind = event.kind, .reason = event.reason, .first = event.t});
  } else {
    text.add(event.reason);
  }
  Deed& deed = story_.deeds[place];
  ++deed.times;
  deed.last = event.t;
}

EventSummary Teller::finish() {
  end_hold(story_.end);
  story_.running.assign(running_.begin(), running_.end());
  for (const auto& [key, deed] : deeds_) {
    if (story_.deeds[deed.place].times > 1) story_.deeds[deed.place].reason = deed.text.text();
  }
  for (const auto& [key, reason] : reasons_) {
    story_.held.push_back({.reason = reason.text.text(),
                           .times = reason.times,
                           .jobs = reason.jobs.size(),
                           .in_all = reason.in_all});
  }
  std::sort(story_.held.begin(), story_.held.end(), [](const HeldFor& a, const HeldFor& b) {
    return std::tie(b.in_all, a.reason) < std::tie(a.in_all, b.reason);
  });
  return std::move(story_);
}

}  // namespace

EventSummary event_summary_of(const std::vector<RecordedEvent>& events) {
  Teller teller;
  for (const RecordedEvent& event : events) teller.take(event);
  return teller.finish();
}

}  // namespace plimsoll::report

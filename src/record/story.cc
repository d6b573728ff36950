#include "record/story.h"

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <tuple>

#include "base/text.h"

namespace plimsoll::record {
namespace {

using policy::EventKind;

// Units that change with the size of what they count.
bool is_unit(std::string_view word) {
  constexpr std::array<std::string_view, 11> kUnits = {"B",  "KiB", "MiB", "GiB", "TiB",  "%",
                                                       "ns", "us",  "ms",  "s",   "cores"};
  return std::find(kUnits.begin(), kUnits.end(), word) != kUnits.end();
}

// `word` is a number, perhaps with signs, a unit or punctuation at its ends: "2.5", "80%,".
bool is_number(std::string_view word) { return !word.empty() && is_digit(word.front()); }

std::string_view punctuation_of(std::string_view word) {
  const std::size_t last = word.find_last_not_of(",;:.)");
  return word.substr(last == std::string_view::npos ? 0 : last + 1);
}

// Takes events in order and keeps what has begun and not yet ended.
class Teller {
 public:
  void take(const RecordedEvent& event);
  [[nodiscard]] Story finish();

 private:
  struct Reason {
    std::string first;  // as it was told first
    std::size_t times = 0;
    std::set<std::string> jobs;
    Duration in_all{};
  };
  void end_hold(Duration at);
  void end_pause(const std::string& job, Duration at);
  void note_deed(const RecordedEvent& event);

  Story story_;
  std::map<std::string, Reason> reasons_;      // by without_numbers()
  std::map<std::string, std::size_t> paused_;  // job to its place in story_.pauses
  std::map<std::pair<EventKind, std::string>, std::size_t> deeds_;  // to their place in the story
  std::optional<std::string> holding_, held_job_;  // what holds now: the reason and the job
  Duration held_since_{};
};

void Teller::end_hold(Duration at) {
  if (holding_) reasons_[*holding_].in_all += at - held_since_;
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
  const bool of_held = holding_ && (held_job_->empty() || *held_job_ == event.job);
  switch (event.kind) {
    case EventKind::held: {
      end_hold(event.t);
      holding_ = without_numbers(event.reason);
      held_job_ = event.job;
      held_since_ = event.t;
      Reason& reason = reasons_[*holding_];
      if (reason.times++ == 0) reason.first = event.reason;
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

void Teller::note_deed(const RecordedEvent& event) {
  const auto [found, is_new] =
      deeds_.try_emplace(std::pair(event.kind, without_numbers(event.reason)), story_.deeds.size());
  if (is_new) {
    story_.deeds.push_back({.kind = event.kind, .reason = event.reason, .first = event.t});
  }
  Deed& deed = story_.deeds[found->second];
  if (++deed.times == 2) deed.reason = found->first.second;
  deed.last = event.t;
}

Story Teller::finish() {
  end_hold(story_.end);
  for (auto& [general, reason] : reasons_) {
    story_.held.push_back({.reason = reason.times == 1 ? reason.first : general,
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

std::string without_numbers(std::string_view reason) {
  constexpr std::string_view kNumber = "...";
  std::string text;
  bool after_number = false;
  while (!reason.empty()) {
    const std::string_view word = take_until(reason, ' ');
    if (word.empty()) continue;
    const std::string_view bare = word.substr(0, word.find_last_not_of(",;:.)") + 1);
    if (after_number && is_unit(bare)) {
      text += punctuation_of(word);
      after_number = false;
      continue;
    }
    after_number = is_number(word);
    if (!text.empty()) text += ' ';
    if (after_number) {
      text += kNumber;
      text += punctuation_of(word);
    } else {
      text += word;
    }
  }
  return text;
}

Story story_of(const std::vector<RecordedEvent>& events) {
  Teller teller;
  for (const RecordedEvent& event : events) teller.take(event);
  return teller.finish();
}

}  // namespace plimsoll::record

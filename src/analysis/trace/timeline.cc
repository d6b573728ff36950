#include "analysis/trace/timeline.h"

#include <algorithm>
#include <functional>
#include <queue>
#include <unordered_map>
#include <utility>

namespace plimsoll::analysis {
namespace {

using policy::EventKind;

// Takes events in order and keeps what has begun and not yet ended.
class TimelineReader {
 public:
  void take(const report::RecordedEvent& event);
  [[nodiscard]] Timeline finish();

 private:
  enum class State : std::uint8_t { absent, waiting, running, paused };
  struct Job {
    State state = State::absent;
    unsigned attempts = 0;
    std::size_t attempt = 0;  // its place, while it runs
    bool is_evicted = false;
    std::string why;
    std::optional<Duration> held_since{};
    std::optional<std::size_t> evicted_attempt{};
    std::optional<std::size_t> admitted_by{};
  };

  void set(Job& job, State state, Duration at);
  void start(const std::string& id, Job& job, Duration at);
  void end(Job& job, const report::RecordedEvent& event);
  void end_pause(Job& job, Duration at);
  void end_hold(Duration at);
  void admit(Job& job);
  void count(Duration at);

  Timeline timeline_;
  std::unordered_map<std::string, Job> jobs_;
  Counted now_;
  bool is_holding_ = false;                // the last of timeline_.holds goes on
  std::optional<std::size_t> last_ended_;  // attempt
};

std::int64_t* count_of(Counted& counted, int state) {
  std::int64_t* const counts[] = {nullptr, &counted.waiting, &counted.running, &counted.paused};
  return counts[state];
}

void TimelineReader::set(Job& job, State state, Duration at) {
  if (job.state == state) return;
  if (auto* const before = count_of(now_, static_cast<int>(job.state))) --*before;
  if (auto* const after = count_of(now_, static_cast<int>(state))) ++*after;
  job.state = state;
  count(at);
}

void TimelineReader::count(Duration at) {
  now_.at = at;
  auto& counts = timeline_.counts;
  if (!counts.empty() && counts.back().at == at) {
    counts.back() = now_;
  } else {
    counts.push_back(now_);
  }
}

void TimelineReader::admit(Job& job) {
  if (job.evicted_attempt) {
    job.admitted_by = job.evicted_attempt;
  } else if (job.held_since && last_ended_ &&
             timeline_.attempts[*last_ended_].to >= *job.held_since) {
    job.admitted_by = last_ended_;
  }
  job.held_since.reset();
  job.evicted_attempt.reset();
}

void TimelineReader::start(const std::string& id, Job& job, Duration at) {
  if (job.state == State::running || job.state == State::paused) return;
  job.attempt = timeline_.attempts.size();
  timeline_.attempts.push_back({.job = id,
                                .attempt = ++job.attempts,
                                .from = at,
                                .to = at,
                                .pauses = {},
                                .reason = {},
                                .admitted_by = std::exchange(job.admitted_by, std::nullopt)});
  job.is_evicted = false;
  set(job, State::running, at);
}

void TimelineReader::end_pause(Job& job, Duration at) {
  if (job.state == State::paused) timeline_.attempts[job.attempt].pauses.back().to = at;
}

void TimelineReader::end(Job& job, const report::RecordedEvent& event) {
  const bool is_over = event.kind == EventKind::ended;
  if (job.state == State::running || job.state == State::paused) {
    end_pause(job, event.t);
    TimelineAttempt& attempt = timeline_.attempts[job.attempt];
    attempt.to = event.t;
    attempt.reason = job.is_evicted ? job.why : event.reason;
    attempt.ending = job.is_evicted ? AttemptEnding::evicted
                     : is_over      ? AttemptEnding::ended
                                    : AttemptEnding::again;
    last_ended_ = job.attempt;
    if (job.is_evicted && !is_over) job.evicted_attempt = job.attempt;
  }
  set(job, is_over ? State::absent : State::waiting, event.t);
}

void TimelineReader::end_hold(Duration at) {
  if (std::exchange(is_holding_, false)) timeline_.holds.back().to = at;
}

void TimelineReader::take(const report::RecordedEvent& event) {
  timeline_.end = std::max(timeline_.end, event.t);
  if (event.job.empty()) return;
  Job& job = jobs_[event.job];
  const bool is_held = is_holding_ && timeline_.holds.back().job == event.job;
  switch (event.kind) {
    case EventKind::queued: set(job, State::waiting, event.t); break;
    case EventKind::held:
      end_hold(event.t);
      timeline_.holds.push_back(
          {.job = event.job, .from = event.t, .to = event.t, .reason = event.reason});
      is_holding_ = true;
      if (!job.held_since) job.held_since = event.t;
      break;
    case EventKind::admitted:
      if (is_held) end_hold(event.t);
      admit(job);
      break;
    case EventKind::started:
      if (is_held) end_hold(event.t);
      start(event.job, job, event.t);
      break;
    case EventKind::frozen:
      if (job.state != State::running) break;
      timeline_.attempts[job.attempt].pauses.push_back(
          {.from = event.t, .to = event.t, .reason = event.reason});
      set(job, State::paused, event.t);
      break;
    case EventKind::thawed:
      if (job.state != State::paused) break;
      end_pause(job, event.t);
      set(job, State::running, event.t);
      break;
    case EventKind::evicted:
      job.is_evicted = true;
      job.why = event.reason;
      break;
    case EventKind::requeued:
    case EventKind::ended:
      if (is_held) end_hold(event.t);
      end(job, event);
      break;
    case EventKind::reclaimed:
    case EventKind::failed:  // its end follows
    case EventKind::alarm:
    case EventKind::line: break;
  }
}

// The lane that has been free for longest would leave long gaps: the lowest that is free.
void fill_lanes(Timeline& timeline) {
  using Busy = std::pair<Duration, std::size_t>;  // until when, which
  std::priority_queue<Busy, std::vector<Busy>, std::greater<>> busy;
  std::priority_queue<std::size_t, std::vector<std::size_t>, std::greater<>> free;
  for (TimelineAttempt& attempt : timeline.attempts) {
    for (; !busy.empty() && busy.top().first <= attempt.from; busy.pop()) {
      free.push(busy.top().second);
    }
    if (free.empty()) free.push(timeline.lanes++);
    attempt.lane = free.top();
    free.pop();
    busy.emplace(attempt.to, attempt.lane);
  }
}

Timeline TimelineReader::finish() {
  end_hold(timeline_.end);
  for (auto& [id, job] : jobs_) {
    if (job.state != State::running && job.state != State::paused) continue;
    end_pause(job, timeline_.end);
    timeline_.attempts[job.attempt].to = timeline_.end;
  }
  fill_lanes(timeline_);
  return std::move(timeline_);
}

}  // namespace

Duration TimelineAttempt::paused() const {
  Duration sum{};
  for (const AttemptPause& pause : pauses) sum += pause.to - pause.from;
  return sum;
}

Timeline timeline_of(const std::vector<report::RecordedEvent>& events) {
  TimelineReader reader;
  for (const report::RecordedEvent& event : events) reader.take(event);
  return reader.finish();
}

}  // namespace plimsoll::analysis

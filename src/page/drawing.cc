#include "page/drawing.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

#include "page/palette.h"
#include "policy/job/event.h"

namespace plimsoll::page {
namespace {

using policy::EventKind;

Duration end_of(const Record& record) {
  Duration end = record.events.empty() ? Duration{} : record.events.back().t;
  if (record.entry.figures) {
    end = std::max(end, record.entry.figures->makespan.value_or(Duration{}));
  }
  for (const Job& job : record.jobs) {
    for (const Attempt& attempt : job.attempts) {
      end = std::max(end, attempt.start + attempt.wall.value_or(Duration{}));
    }
  }
  return end;
}

bool is_bad(const Job& job, std::size_t index) {
  const std::string& outcome = job.attempts[index].outcome;
  if (outcome.empty()) return false;  // it has not ended
  if (outcome != "exited") return true;
  return index + 1 == job.attempts.size() && (job.outcome != "exited" || job.exit_code != 0);
}

std::vector<DrawnAttempt> attempts_of(const Record& record, Duration end) {
  std::vector<DrawnAttempt> all;
  for (std::size_t job = 0; job < record.jobs.size(); ++job) {
    const std::vector<Attempt>& attempts = record.jobs[job].attempts;
    for (std::size_t i = 0; i < attempts.size(); ++i) {
      all.push_back({.job = job,
                     .index = i,
                     .start = attempts[i].start,
                     .end = attempts[i].wall ? attempts[i].start + *attempts[i].wall : end,
                     .is_bad = is_bad(record.jobs[job], i),
                     .is_evicted = attempts[i].outcome == "evicted"});
    }
  }
  std::ranges::sort(all, {}, [](const DrawnAttempt& attempt) {
    return std::tuple(attempt.start, attempt.job, attempt.index);
  });
  return all;
}

// Each attempt goes into the first lane that is free. Returns how many lanes there are.
std::size_t lay_lanes(std::vector<DrawnAttempt>& attempts) {
  std::vector<Duration> free;  // from when on
  for (DrawnAttempt& attempt : attempts) {
    const auto lane =
        std::ranges::find_if(free, [&](Duration from) { return from <= attempt.start; });
    attempt.lane = static_cast<std::size_t>(lane - free.begin());
    if (lane == free.end()) free.emplace_back();
    free[attempt.lane] = attempt.end;
  }
  return free.size();
}

bool ends_a_pause(EventKind kind) {
  switch (kind) {
    case EventKind::thawed:
    case EventKind::evicted:
    case EventKind::failed:
    case EventKind::requeued:
    case EventKind::ended:
    case EventKind::started:
    case EventKind::frozen: return true;
    case EventKind::queued:
    case EventKind::admitted:
    case EventKind::held:
    case EventKind::reclaimed:
    case EventKind::alarm:
    case EventKind::line: return false;
  }
  return false;
}

// Finds the pauses in the events: one ends with whatever is next said of the job's state.
class Pauses {
 public:
  Pauses(const Record& record, std::vector<DrawnAttempt>& attempts, Duration end)
      : record_(record), end_(end), of_job_(record.jobs.size()), open_(record.jobs.size()) {
    for (DrawnAttempt& attempt : attempts) of_job_[attempt.job].push_back(&attempt);
  }

  void find() {
    std::map<std::string_view, std::size_t> places;
    for (std::size_t i = 0; i < record_.jobs.size(); ++i) places.emplace(record_.jobs[i].id, i);
    for (std::size_t i = 0; i < record_.events.size(); ++i) {
      const report::RecordedEvent& event = record_.events[i];
      if (!ends_a_pause(event.kind)) continue;
      const auto place = places.find(event.job);
      if (place != places.end()) add(place->second, i);
    }
  }

 private:
  void add(std::size_t job, std::size_t at) {
    const report::RecordedEvent& event = record_.events[at];
    if (open_[job]) open_[job]->pauses.back().end = event.t;
    open_[job] = nullptr;
    if (event.kind != EventKind::frozen) return;
    for (DrawnAttempt* attempt : of_job_[job]) {
      if (attempt->start <= event.t) open_[job] = attempt;  // the last such
    }
    if (open_[job]) open_[job]->pauses.push_back({.start = event.t, .end = end_, .event = at});
  }

  const Record& record_;
  const Duration end_;
  std::vector<std::vector<DrawnAttempt*>> of_job_;
  std::vector<DrawnAttempt*> open_;  // by job: the attempt that is paused
};

// Of equals by name.
std::vector<std::string> heaviest_first(const Record& record,
                                        const std::vector<DrawnAttempt>& attempts) {
  std::map<std::string, double> weights;
  for (const Job& job : record.jobs) weights[job.job_class];
  for (const DrawnAttempt& attempt : attempts) {
    const Job& job = record.jobs[attempt.job];
    const Bytes peak = job.attempts[attempt.index].peak.value_or(Bytes{});
    weights[job.job_class] += (to_double(peak) + 1) * to_seconds(attempt.end - attempt.start);
  }
  std::vector<std::string> names;
  for (const auto& [name, weight] : weights) names.push_back(name);
  std::ranges::sort(names, {},
                    [&](const std::string& name) { return std::pair(-weights[name], name); });
  return names;
}

}  // namespace

Drawing drawing_of(const Record& record) {
  Drawing drawing{.end = end_of(record)};
  drawing.attempts = attempts_of(record, drawing.end);
  drawing.lanes = lay_lanes(drawing.attempts);
  Pauses(record, drawing.attempts, drawing.end).find();
  drawing.classes = heaviest_first(record, drawing.attempts);
  return drawing;
}

std::string_view colour_of(std::size_t place) {
  return place < kClassColours.size() ? kClassColours[place] : kOtherColour;
}

}  // namespace plimsoll::page

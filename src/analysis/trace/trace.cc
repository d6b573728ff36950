#include "analysis/trace/trace.h"

#include <unordered_map>

#include "analysis/job_row.h"
#include "policy/job/event.h"
#include "policy/job/job.h"

namespace plimsoll::analysis {
namespace {

using Kind = TraceSlice::Kind;
using JobsById = std::unordered_map<std::string, const TracedJob*>;

std::string_view name_of(AttemptEnding ending) {
  switch (ending) {
    case AttemptEnding::ended: return "ended";
    case AttemptEnding::again: return "runs again";
    case AttemptEnding::evicted: return "evicted";
    case AttemptEnding::unending: return "not ended";
  }
  return {};
}

std::string slice_name(const std::string& id, const TracedJob* job) {
  if (job == nullptr || job->job_class.empty() || job->job_class == id) return id;
  return job->job_class + " [" + id + "]";
}

TraceNotes notes_of(const TimelineAttempt& attempt, const TracedJob* job) {
  TraceNotes notes = {{"job", attempt.job}, {"attempt", std::to_string(attempt.attempt)}};
  if (job != nullptr) {
    notes.emplace_back("class", job->job_class);
    notes.emplace_back("command", job->command);
    if (attempt.ending == AttemptEnding::ended) notes.emplace_back("outcome", job->outcome);
  }
  notes.emplace_back("end", name_of(attempt.ending));
  if (!attempt.reason.empty()) notes.emplace_back("reason", attempt.reason);
  return notes;
}

// A stretch for each time that it ran without a pause, a moment for each pause and for an eviction.
// Arrows begin at its last stretch and end at its first.
std::vector<TraceSlice> slices_of(const TimelineAttempt& attempt, const TracedJob* job) {
  const std::string name = slice_name(attempt.job, job);
  const TraceNotes notes = notes_of(attempt, job);
  std::vector<TraceSlice> slices;
  const auto run = [&](Duration from, Duration to) {
    slices.push_back({.from = from,
                      .to = to,
                      .name = name,
                      .category = "job",
                      .notes = notes,
                      .arrows_out = {},
                      .arrows_in = {}});
  };
  const auto tell = [&](Duration at, const char* what, const std::string& why) {
    slices.push_back({.kind = Kind::moment,
                      .from = at,
                      .to = at,
                      .name = what,
                      .category = what,
                      .notes = {{"job", attempt.job}, {"reason", why}},
                      .arrows_out = {},
                      .arrows_in = {}});
  };
  Duration from = attempt.from;
  for (const AttemptPause& pause : attempt.pauses) {
    run(from, pause.from);
    tell(pause.from, "paused", pause.reason);
    from = pause.to;
  }
  // One that was ended while it was paused does not run once more for no time.
  if (from < attempt.to || attempt.pauses.empty()) run(from, attempt.to);
  if (attempt.ending == AttemptEnding::evicted) tell(attempt.to, "evicted", attempt.reason);
  return slices;
}

TraceSlice* first_stretch(std::vector<TraceSlice>& slices) {
  for (TraceSlice& slice : slices) {
    if (slice.kind == Kind::stretch) return &slice;
  }
  return nullptr;
}

TraceSlice* last_stretch(std::vector<TraceSlice>& slices) {
  for (std::size_t i = slices.size(); i-- > 0;) {
    if (slices[i].kind == Kind::stretch) return &slices[i];
  }
  return nullptr;
}

std::vector<TraceLane> job_lanes(const Timeline& timeline, const JobsById& jobs) {
  std::vector<std::vector<TraceSlice>> slices;  // by attempt
  for (const TimelineAttempt& attempt : timeline.attempts) {
    const auto found = jobs.find(attempt.job);
    slices.push_back(slices_of(attempt, found == jobs.end() ? nullptr : found->second));
  }
  std::uint64_t arrows = 0;
  for (std::size_t i = 0; i < slices.size(); ++i) {
    const auto& by = timeline.attempts[i].admitted_by;
    if (!by) continue;
    TraceSlice *const from = last_stretch(slices[*by]), *const to = first_stretch(slices[i]);
    if (from == nullptr || to == nullptr) continue;
    from->arrows_out.push_back(++arrows);
    to->arrows_in.push_back(arrows);
  }
  std::vector<TraceLane> lanes(timeline.lanes);
  for (std::size_t i = 0; i < lanes.size(); ++i) lanes[i].name = "slot " + std::to_string(i + 1);
  for (std::size_t i = 0; i < slices.size(); ++i) {
    for (TraceSlice& slice : slices[i]) {
      lanes[timeline.attempts[i].lane].slices.push_back(std::move(slice));
    }
  }
  return lanes;
}

TraceLane waiting_lane(const Timeline& timeline, const JobsById& jobs) {
  TraceLane lane{.name = "first waiting job", .slices = {}};
  for (const TimelineHold& hold : timeline.holds) {
    const auto found = jobs.find(hold.job);
    lane.slices.push_back(
        {.from = hold.from,
         .to = hold.to,
         .name = slice_name(hold.job, found == jobs.end() ? nullptr : found->second),
         .category = "held",
         .notes = {{"job", hold.job}, {"reason", hold.reason}},
         .arrows_out = {},
         .arrows_in = {}});
  }
  return lane;
}

TraceLane run_lane(const std::vector<report::RecordedEvent>& events) {
  TraceLane lane{.name = "run", .slices = {}};
  for (const report::RecordedEvent& event : events) {
    if (!event.job.empty()) continue;
    const std::string name(policy::name_of(event.kind));
    lane.slices.push_back({.kind = Kind::moment,
                           .from = event.t,
                           .to = event.t,
                           .name = name,
                           .category = name,
                           .notes = {{"reason", event.reason}},
                           .arrows_out = {},
                           .arrows_in = {}});
  }
  return lane;
}

}  // namespace

TracedJob traced_job(const report::RecordedJob& job) {
  TracedJob traced{.id = job.id,
                   .job_class = class_of(job.job_class, job.command),
                   .command = policy::command_line(job.command),
                   .outcome = job.outcome,
                   .looks = {}};
  for (const counters::Sample& sample : job.usage.samples) {
    const auto& memory = sample.memory;
    traced.looks.push_back({.t = sample.t,
                            .used = memory.used ? memory.used : memory.current,
                            .cpu = sample.cpu.usage});
  }
  return traced;
}

Trace trace_of(const TracedRun& run) {
  const Timeline timeline = timeline_of(*run.events);
  JobsById jobs;
  for (const TracedJob& job : run.jobs) jobs.emplace(job.id, &job);
  Trace trace{.name = "plimsoll " + run.entry->id, .lanes = {}, .counters = {}};
  trace.lanes.push_back(run_lane(*run.events));
  trace.lanes.push_back(waiting_lane(timeline, jobs));
  for (TraceLane& lane : job_lanes(timeline, jobs)) trace.lanes.push_back(std::move(lane));
  trace.counters = counters_of(run, timeline);
  return trace;
}

}  // namespace plimsoll::analysis

#include "cli/lines.h"

#include <algorithm>

#include "base/quantity.h"
#include "policy/attempt.h"
#include "record/plain.h"

namespace plimsoll::cli {
namespace {

constexpr std::size_t kTitleWidth = 100;

std::string prefix(const Tally& tally) {
  const std::string jobs = std::to_string(tally.jobs);
  std::string ended = std::to_string(tally.ended);
  ended.insert(0, jobs.size() - std::min(jobs.size(), ended.size()), ' ');
  return "[" + ended + "/" + jobs + "] ";
}

// A name of the user's own says more than the command.
std::string title_of(const policy::JobSpec& job) {
  const bool named = job.name != std::to_string(static_cast<std::uint64_t>(job.id));
  return record::fitted(record::printable(named ? job.name : policy::command_line(job.command)),
                        kTitleWidth);
}

const char* verb_of(policy::EventKind kind) {
  using policy::EventKind;
  switch (kind) {
    case EventKind::started: return "started";
    case EventKind::held: return "waiting";
    case EventKind::frozen: return "paused";
    case EventKind::thawed: return "resumed";
    case EventKind::evicted: return "evicted";
    case EventKind::requeued: return "once more";
    case EventKind::failed: return "over the line";
    case EventKind::alarm: return "alarm";
    case EventKind::line: return "line";
    case EventKind::queued:     // all of them at once, before the first line
    case EventKind::admitted:   // it starts at once
    case EventKind::reclaimed:  // costs nobody anything
    case EventKind::ended: break;
  }
  return nullptr;
}

}  // namespace

std::optional<std::string> event_line(const policy::Event& event, const policy::JobSpec* job,
                                      const Tally& tally) {
  const char* verb = verb_of(event.kind);
  if (verb == nullptr) return std::nullopt;
  std::string line = prefix(tally) + verb;
  if (job != nullptr) line += ": " + title_of(*job);
  // Why something starts is for `explain`: here it would be the same in every second line.
  const bool told = event.kind != policy::EventKind::started && !event.reason.empty();
  if (told) line += ": " + record::printable(event.reason);
  return line;
}

std::string end_line(const policy::JobSpec& job, const record::JobReport& report,
                     const Tally& tally) {
  const policy::AttemptEnd end{report.outcome, report.exit_code, report.signal,
                               report.times.wall.value_or(Duration{})};
  std::string line = prefix(tally) + (policy::succeeded(end) ? "done" : policy::describe(end));
  if (report.times.wall) line += " in " + format_duration(*report.times.wall);
  if (report.usage && report.usage->totals.memory.peak) {
    line += ", peak " + format_bytes(*report.usage->totals.memory.peak);
  } else if (report.usage && report.usage->totals.memory.sampled_peak) {
    line += ", sampled peak " + format_bytes(*report.usage->totals.memory.sampled_peak);
  }
  return line + ": " + title_of(job);
}

}  // namespace plimsoll::cli

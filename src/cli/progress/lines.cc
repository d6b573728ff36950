#include "cli/progress/lines.h"

#include <algorithm>
#include <cstdint>

#include "base/quantity.h"
#include "policy/job/attempt.h"
#include "report/plain.h"

namespace plimsoll::cli {
namespace {

// A command that is cut shorter says nothing; then the line gets longer than the terminal.
constexpr std::size_t kCommandMin = 20;

std::string prefix(const Tally& tally) {
  const std::string jobs = std::to_string(tally.jobs);
  std::string ended = std::to_string(tally.ended);
  ended.insert(0, jobs.size() - std::min(jobs.size(), ended.size()), ' ');
  return "[" + ended + "/" + jobs + "] ";
}

bool is_named(const policy::JobSpec& job) {
  return job.name != std::to_string(static_cast<std::uint64_t>(job.id));
}

// `line` with what follows the verb: the command, unless a name of the user's own says more, and
// the reason. The command is cut if the line is too long.
std::string line_of(std::string line, const policy::JobSpec* job, const std::string& reason,
                    const LineStyle& style) {
  const std::string end = reason.empty() ? "" : ": " + report::printable(reason);
  if (job != nullptr && !is_named(*job)) {
    const std::size_t used = report::columns_of(line) + 2 + report::columns_of(end);
    const std::size_t room = style.width > used ? style.width - used : 0;
    line += ": " + style.commands.fitted(policy::command_line(job->command),
                                         style.width == 0 ? SIZE_MAX : std::max(room, kCommandMin));
  }
  return line + end;
}

std::string subject_of(const policy::JobSpec& job) { return "job " + report::printable(job.name); }

const char* verb_of(policy::EventKind kind) {
  using policy::EventKind;
  switch (kind) {
    case EventKind::started: return "started";
    case EventKind::held: return "waiting";
    case EventKind::frozen: return "paused";
    case EventKind::thawed: return "resumed";
    case EventKind::evicted: return "evicted";
    case EventKind::failed: return "over the line";
    case EventKind::alarm: return "alarm";
    case EventKind::line: return "line";
    case EventKind::queued:     // all of them at once, before the first line
    case EventKind::admitted:   // it starts at once
    case EventKind::reclaimed:  // costs nobody anything
    case EventKind::requeued:   // a notice tells it, whatever the style
    case EventKind::ended: break;
  }
  return nullptr;
}

}  // namespace

std::optional<std::string> event_line(const policy::Event& event, const policy::JobSpec* job,
                                      const Tally& tally, const LineStyle& style) {
  const char* verb = verb_of(event.kind);
  if (verb == nullptr) return std::nullopt;
  const std::string line = prefix(tally) + (job == nullptr ? "" : subject_of(*job) + " ") + verb;
  // Why something starts is for `explain`: here it would be the same in every second line.
  const bool told = event.kind != policy::EventKind::started;
  return line_of(line, job, told ? event.reason : std::string(), style);
}

std::string end_line(const policy::JobSpec& job, const report::JobReport& report,
                     const Tally& tally, const LineStyle& style) {
  const policy::AttemptEnd end{report.outcome, report.exit_code, report.signal,
                               report.times.wall.value_or(Duration{})};
  std::string line = prefix(tally) + subject_of(job) + " " +
                     (policy::succeeded(end) ? "done" : policy::describe(end));
  if (report.times.wall) line += " in " + format_duration(*report.times.wall);
  if (report.usage && report.usage->totals.memory.peak) {
    line += ", peak " + format_bytes(*report.usage->totals.memory.peak);
  } else if (report.usage && report.usage->totals.memory.sampled_peak) {
    line += ", sampled peak " + format_bytes(*report.usage->totals.memory.sampled_peak);
  }
  // How it exited is all that is known of a job that did; of others there is more to say.
  const bool by_itself =
      report.outcome == policy::Outcome::exited || report.outcome == policy::Outcome::signalled;
  return line_of(line, &job, by_itself ? std::string() : report.reason, style);
}

}  // namespace plimsoll::cli

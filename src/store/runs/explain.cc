#include "store/runs/explain.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/quantity.h"
#include "base/text.h"
#include "policy/job/job.h"
#include "report/numbers.h"
#include "report/plain.h"
#include "report/table.h"
#include "store/runs/event_summary.h"
#include "store/runs/human.h"

namespace plimsoll::report {
namespace {

// A reason that wraps is read more easily than one that is cut off.
constexpr std::size_t kTableWidthMin = 160;

std::string table(const std::vector<Column>& columns, const TextStyle& style) {
  return table_text(columns, std::max(style.width, kTableWidthMin));
}

std::string heading(const std::string& text) { return "\n" + text + "\n"; }

std::string more(std::size_t count, std::size_t listed) {
  return count > listed ? fmt::format("  and {} more\n", count - listed) : std::string();
}

// What is to be known of a record that is not whole; nothing of one that is.
std::vector<std::string> record_items(const LeftOut& left_out) {
  std::vector<std::string> items;
  const auto add = [&items](std::uint64_t count, std::string_view one, std::string_view more,
                            const char* why) {
    if (count > 0) items.push_back(counted(count, one, more) + ", because " + why);
  };
  constexpr std::string_view kOneLost = "event or report was lost";
  constexpr std::string_view kLost = "events and reports were lost";
  add(left_out.unstarted, "event or report of a job that never started is left out",
      "events and reports of jobs that never started are left out", "the record is large");
  add(left_out.beyond, "event or report is left out", "events and reports are left out",
      "the record is full");
  add(left_out.late, kOneLost, kLost, "they came faster than they could be written");
  add(left_out.unwritten, kOneLost, kLost, "the disk did not accept them");
  if (!items.empty()) items.front() = "incomplete: " + items.front();
  return items;
}

const char* jobs_label(const RunEntry& run) {
  return run.meta.kind == RunKind::governed ? "steps" : "jobs";
}

// How far a run without an end of its own has come.
std::string progress_text(const RunEntry& run, const EventSummary& story, const TextStyle& style) {
  constexpr std::size_t kNamed = 10;
  const bool died = run.state == RunState::died;
  const bool is_governed = run.meta.kind == RunKind::governed;
  std::vector<std::string> counts = {
      is_governed ? fmt::format("{} ended", story.ended)
                  : fmt::format("{} of {} ended", story.ended, run.meta.jobs),
      fmt::format("{} running{}", story.running.size(), died ? " when it died" : "")};
  std::vector<std::string> names;
  for (const std::string& job : story.running) {
    if (names.size() == kNamed) break;
    names.push_back(printable(job));
  }
  if (story.running.size() > kNamed) {
    names.push_back(fmt::format("and {} more", story.running.size() - kNamed));
  }
  return labelled_text(jobs_label(run), counts, style.width) +
         labelled_text("running", names, style.width) +
         labelled_text(
             died ? "lived" : "ran",
             {fmt::format("at least {}, until its last event", format_duration(story.end))},
             style.width);
}

std::string head(const RunEntry& run, const EventSummary& story, const TextStyle& style) {
  std::string out = run_heading(run, style);
  if (!run.figures) return out + progress_text(run, story, style);
  const RunFigures& figures = *run.figures;
  if (figures.makespan) {
    out += labelled_text("took", {format_duration(*figures.makespan)}, style.width);
  }
  out += labelled_text(
      jobs_label(run),
      {figures.jobs == 0 ? "0" : fmt::format("{} ({})", figures.jobs, outcomes_text(figures))},
      style.width);
  std::vector<std::string> memory;
  if (figures.line) memory.push_back(format_bytes(*figures.line));
  if (figures.used_peak) memory.push_back("used at most " + format_bytes(*figures.used_peak));
  out += labelled_text(figures.line ? "line" : "memory", memory, style.width);
  std::vector<std::string> decisions = {counted(figures.holds, "hold", "holds"),
                                        counted(figures.pauses, "pause", "pauses"),
                                        counted(figures.evictions, "eviction", "evictions")};
  if (figures.lost_cpu && *figures.lost_cpu > Duration{}) {
    decisions.push_back("lost " + format_duration(*figures.lost_cpu) + " of CPU time");
  }
  return out + labelled_text("decisions", decisions, style.width);
}

std::string held_table(const std::vector<HeldFor>& held, const TextStyle& style) {
  if (held.empty()) return heading("No job had to wait.");
  Column in_all{.heading = "FOR", .cells = {}};
  Column times{.heading = "TIMES", .cells = {}};
  Column jobs{.heading = "JOBS", .cells = {}};
  Column reason{.heading = "REASON", .align = Align::left, .cells = {}};
  for (const HeldFor& what : held) {
    in_all.cells.push_back(format_duration(what.in_all));
    times.cells.push_back(std::to_string(what.times));
    jobs.cells.push_back(std::to_string(what.jobs));
    reason.cells.push_back(printable(what.reason));
  }
  return heading("Why jobs waited") + table({in_all, times, jobs, reason}, style);
}

std::string pauses_table(const std::vector<Pause>& pauses, const TextStyle& style) {
  if (pauses.empty()) return {};
  Column at{.heading = "AT", .cells = {}};
  Column length{.heading = "FOR", .cells = {}};
  Column job{.heading = "JOB", .align = Align::left, .cells = {}};
  Column reason{.heading = "REASON", .align = Align::left, .cells = {}};
  for (std::size_t i = 0; i < std::min(pauses.size(), kDecisionsListedMax); ++i) {
    const Pause& pause = pauses[i];
    at.cells.push_back(format_duration(pause.at));
    length.cells.push_back(pause.length ? format_duration(*pause.length) : "-");
    job.cells.push_back(printable(pause.job));
    reason.cells.push_back(printable(pause.reason));
  }
  return heading("Pauses") + table({at, length, job, reason}, style) +
         more(pauses.size(), kDecisionsListedMax);
}

std::string losses_table(const std::vector<Loss>& losses, const TextStyle& style) {
  if (losses.empty()) return {};
  Column at{.heading = "AT", .cells = {}};
  Column kind{.heading = "WHAT", .align = Align::left, .cells = {}};
  Column job{.heading = "JOB", .align = Align::left, .cells = {}};
  Column reason{.heading = "REASON", .align = Align::left, .cells = {}};
  for (std::size_t i = 0; i < std::min(losses.size(), kDecisionsListedMax); ++i) {
    const Loss& loss = losses[i];
    at.cells.push_back(format_duration(loss.at));
    kind.cells.emplace_back(policy::name_of(loss.kind));
    job.cells.push_back(printable(loss.job));
    reason.cells.push_back(printable(loss.reason));
  }
  return heading("Attempts that were ended to free memory") +
         table({at, kind, job, reason}, style) + more(losses.size(), kDecisionsListedMax);
}

std::string deeds_table(const std::vector<Deed>& deeds, const TextStyle& style) {
  if (deeds.empty()) return {};
  Column first{.heading = "FIRST", .cells = {}};
  Column last{.heading = "LAST", .cells = {}};
  Column times{.heading = "TIMES", .cells = {}};
  Column kind{.heading = "WHAT", .align = Align::left, .cells = {}};
  Column reason{.heading = "REASON", .align = Align::left, .cells = {}};
  for (std::size_t i = 0; i < std::min(deeds.size(), kDecisionsListedMax); ++i) {
    const Deed& deed = deeds[i];
    first.cells.push_back(format_duration(deed.first));
    last.cells.push_back(format_duration(deed.last));
    times.cells.push_back(std::to_string(deed.times));
    kind.cells.emplace_back(policy::name_of(deed.kind));
    reason.cells.push_back(printable(deed.reason));
  }
  return heading("What concerned all jobs together") +
         table({first, last, times, kind, reason}, style) + more(deeds.size(), kDecisionsListedMax);
}

// How the job ended, as a sentence.
std::string end_text(const JobBrief& end) {
  std::string text = "Ended: " + printable(end.outcome);
  if (end.exit_code) text += fmt::format(" with code {}", *end.exit_code);
  if (!end.signal.empty()) text += " by signal " + printable(end.signal);
  if (end.wall) text += " after " + format_duration(*end.wall);
  if (end.attempts > 1) text += fmt::format(", attempt {}", end.attempts);
  if (end.peak) text += ", peak " + format_bytes(*end.peak);
  if (end.held) text += ", waited " + format_duration(*end.held);
  if (end.paused && *end.paused > Duration{}) text += ", paused " + format_duration(*end.paused);
  if (!end.reason.empty()) text += "; " + printable(end.reason);
  return text;
}

}  // namespace

std::string run_heading(const RunEntry& run, const TextStyle& style) {
  std::string out = fmt::format("Run {}, ", printable(run.id));
  out += run.state == RunState::died ? "which died" : name_of(run.state);
  const std::string command = policy::command_line(run.meta.command_line);
  out += command.empty() ? "\n" : ": ";
  if (!command.empty()) append_wrapped(out, printable(command), 2, style.width);
  return out + labelled_text("began", {wall_text(run.meta.started)}, style.width) +
         labelled_text("record", record_items(run.meta.left_out), style.width);
}

std::string explain_run(const RunEntry& run, const std::vector<RecordedEvent>& events,
                        const TextStyle& style) {
  const EventSummary story = event_summary_of(events);
  std::string out = head(run, story, style);
  if (events.empty()) return out + heading("No event of this run was recorded.");
  out += held_table(story.held, style);
  out += pauses_table(story.pauses, style);
  out += losses_table(story.losses, style);
  out += deeds_table(story.deeds, style);
  return out;
}

std::string numbers_legend(const std::vector<RecordedEvent>& events, const TextStyle& style) {
  std::vector<std::string_view> names;  // in the order in which they come
  for (const RecordedEvent& event : events) {
    for (const auto& [name, value] : event.numbers) {
      if (std::ranges::find(names, name) == names.end()) names.push_back(name);
    }
  }
  Column number{.heading = "NUMBER", .align = Align::left, .cells = {}};
  Column meaning{.heading = "MEANING", .align = Align::left, .cells = {}};
  for (const std::string_view name : names) {
    if (number_meaning(name).empty()) continue;
    number.cells.push_back(number_label(name));
    meaning.cells.emplace_back(number_meaning(name));
  }
  return number.cells.empty() ? std::string() : "\n" + table({number, meaning}, style);
}

std::vector<RecordedEvent> events_of(const std::vector<RecordedEvent>& events,
                                     std::string_view job) {
  std::vector<RecordedEvent> found;
  const auto take = [&](auto is_it) {
    std::copy_if(events.begin(), events.end(), std::back_inserter(found), is_it);
  };
  take([&](const RecordedEvent& event) { return event.job == job; });
  if (!found.empty()) return found;
  take([&](const RecordedEvent& event) {
    return event.number && std::to_string(*event.number) == job;
  });
  return found;
}

std::string explain_job(const RunEntry& run, const std::vector<RecordedEvent>& events,
                        const std::optional<JobBrief>& end, const TextStyle& style) {
  const std::string job = !events.empty() ? events.front().job : end ? end->id : std::string();
  std::string out = "Job " + printable(job);
  const bool numbered = !events.empty() && events.front().number;
  if (numbered && std::to_string(*events.front().number) != job) {
    out += fmt::format(" (number {})", *events.front().number);
  }
  out += " of run " + printable(run.id) + (end && !end->command.empty() ? ": " : "\n");
  if (end && !end->command.empty()) append_wrapped(out, printable(end->command), 2, style.width);

  for (const RecordedEvent& event : events) {
    const std::string start =
        fmt::format("{:>10}  {:<10}", format_duration(event.t), policy::name_of(event.kind));
    out += start;
    append_wrapped(out, printable(event.reason), start.size(), style.width);
    if (event.numbers.empty()) continue;
    std::string numbers;
    for (const auto& [name, value] : event.numbers) {
      numbers += (numbers.empty() ? "" : ", ") + number_text(name, value);
    }
    out.append(start.size(), ' ');
    append_wrapped(out, numbers, start.size(), style.width);
  }
  if (end) append_wrapped(out, end_text(*end), 2, style.width);
  return out;
}

}  // namespace plimsoll::report

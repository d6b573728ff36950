#include "cli/top/pages.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "base/quantity.h"
#include "base/text.h"
#include "cli/progress/parts.h"
#include "cli/top/run_figures.h"
#include "report/plain.h"

namespace plimsoll::cli::top {
namespace {

constexpr std::string_view kHelp = R"(Keys

  Up, Down            select a job; also Page Up, Page Down, Home and End
  Enter               tell all that is known of the job, and what was decided
  s, S                sort by the next column; reverse the order
  /                   show only jobs with a text in their name, command or state;
                      Esc shows all again
  p                   pause the job until it is resumed
  r                   resume it
  k                   kill it, after a question
  a                   choose a run, or all of them
  ?                   this help
  q                   leave

Columns

  state     running, paused or waiting (the next job that would start)
  age       since the start of this attempt, pauses included
  used      memory that cannot be dropped
  estimate  the most memory that the job is expected to use
  growth/s  by how much its memory has grown lately, a second
  cores     how many cores it has used lately
  io/s      what it has read and written since the last look, a second

Above them

  estimate  of all jobs that have started, together
  wanted    cores that the running jobs would use if they could have them
  others    cores that other programs of this machine use
  stalls    the share of the time in which tasks of this machine were stalled
)";

Line text_line(std::string_view text, Tone tone, const ScreenStyle& style) {
  TintedLine line(style.width, report::Colour::none);
  line.add(text, tone);
  return {line.spans(), false};
}

// Lines that fit, of a text that has lines.
std::vector<Line> lines_of(std::string_view text, const ScreenStyle& style) {
  std::vector<Line> lines;
  while (!text.empty()) {
    lines.push_back(text_line(report::printable(take_line(text)), Tone::plain, style));
  }
  return lines;
}

// "  label      text", wrapped.
void add_fact(std::vector<Line>& lines, std::string_view label, std::string_view value,
              const ScreenStyle& style) {
  constexpr std::size_t kValueAt = 13;
  if (value.empty()) return;
  std::string text = "  " + std::string(label);
  text.resize(std::max(text.size(), kValueAt), ' ');
  report::append_wrapped(text, report::printable(value), kValueAt, style.width);
  std::string_view rest = text;
  while (!rest.empty()) lines.push_back(text_line(take_line(rest), Tone::plain, style));
}

std::string memory_text(const supervisor::RunningJob& job) {
  std::string text;
  if (job.used) text = format_bytes(*job.used);
  if (job.estimate > Bytes{}) {
    text += (text.empty() ? "estimate " : ", estimate ") + format_bytes(job.estimate);
  }
  if (job.growth && *job.growth >= 1) {
    text += ", grows by " + format_bytes(to_bytes(*job.growth)) + " a second";
  }
  return text;
}

std::string time_text(const supervisor::RunningJob& job) {
  std::string text = "has run for " + format_duration(job.ran);
  if (job.frozen > Duration{}) text += ", was paused for " + format_duration(job.frozen);
  if (job.remaining) text += ", about " + rough_text(*job.remaining) + " left";
  return text;
}

std::string io_text(const Row& row) {
  if (!row.job->io) return "";
  std::string text = format_bytes(*row.job->io) + " read and written";
  if (row.io_rate) text += ", " + format_bytes(to_bytes(*row.io_rate)) + " a second";
  return text;
}

void add_facts(std::vector<Line>& lines, const Row& row, const ScreenStyle& style) {
  const supervisor::RunningJob& job = *row.job;
  const bool waits = job.state == policy::JobState::waiting;
  std::string state(state_text(job.state));
  if (!job.reason.empty()) state += ": " + job.reason;
  add_fact(lines, "state", state, style);
  add_fact(lines, "command", job.command, style);
  if (waits) return;
  add_fact(lines, "attempt", std::to_string(job.attempt), style);
  add_fact(lines, "time", time_text(job), style);
  add_fact(lines, "memory", memory_text(job), style);
  if (job.cores) add_fact(lines, "cores", decimal(*job.cores), style);
  add_fact(lines, "io", io_text(row), style);
}

}  // namespace

void add_page(Frame& frame, std::vector<Line> lines, const Model& model, const ScreenStyle& style) {
  const std::size_t used = frame.lines.size() + 1;
  frame.room = style.height > used ? style.height - used : 0;
  frame.scrollable = lines.size();
  const std::size_t first = std::min(model.first(), lines.size());
  const std::size_t last = std::min(first + frame.room, lines.size());
  for (std::size_t i = first; i < last; ++i) frame.lines.push_back(std::move(lines[i]));
}

void add_runs(Frame& frame, const Model& model, const ScreenStyle& style) {
  frame.lines.push_back(text_line("Which run?", Tone::plain, style));
  frame.lines.push_back(run_heading(style));
  std::vector<Line> lines;
  for (const RunView& run : model.runs()) lines.push_back(run_line(run, style));
  lines.push_back(text_line("  all of them", Tone::strong, style));
  lines[model.chosen()].selected = true;
  const std::size_t used = frame.lines.size() + 1;
  frame.room = style.height > used ? style.height - used : 0;
  const std::size_t first = model.chosen() < frame.room ? 0 : model.chosen() + 1 - frame.room;
  for (std::size_t i = first; i < lines.size() && i < first + frame.room; ++i) {
    frame.lines.push_back(std::move(lines[i]));
  }
}

std::vector<Line> help_lines(const ScreenStyle& style) { return lines_of(kHelp, style); }

std::vector<Line> job_page_lines(const Model& model, const ScreenStyle& style) {
  const std::string run = report::printable(model.runs()[model.asked_run()].run);
  std::vector<Line> lines;
  lines.push_back(text_line("Job " + report::printable(model.asked_name()) + " of " + run,
                            Tone::strong, style));
  if (const Row* row = model.asked()) {
    add_facts(lines, *row, style);
  } else {
    lines.push_back(text_line("  It is over.", Tone::plain, style));
  }
  if (model.story().empty()) return lines;
  lines.push_back({});
  for (Line& line : lines_of(model.story(), style)) lines.push_back(std::move(line));
  return lines;
}

Line bottom_line(const Model& model, const ScreenStyle& style) {
  if (model.prompt() == Prompt::filter) {
    const std::string text = "Show jobs with: " + report::printable(model.choice().filter) + "_";
    return text_line(text, Tone::strong, style);
  }
  if (model.prompt() == Prompt::kill) {
    const std::string end = "? y or n";
    const std::size_t room = style.width > end.size() ? style.width - end.size() : 0;
    const Row* row = model.asked();
    const std::string title =
        row != nullptr ? title_of(*row->job, room) : report::printable(model.asked_name());
    return text_line(report::fitted("Kill job " + title, room) + end, Tone::bad, style);
  }
  if (const auto& message = model.message()) {
    const bool is_fault = message->kind == Message::Kind::fault;
    return text_line(report::printable(message->text), is_fault ? Tone::bad : Tone::good, style);
  }
  if (model.page() == Page::runs) return text_line("Enter choose   q leave", Tone::faint, style);
  if (model.page() != Page::jobs) return text_line("Esc back", Tone::faint, style);
  std::string text = "q leave  ? help  Enter explain  p pause  r resume  k kill  / filter  s sort";
  if (!model.choice().filter.empty()) {
    text = "filter: " + report::printable(model.choice().filter) + "  Esc all jobs  " + text;
  }
  return text_line(text, Tone::faint, style);
}

}  // namespace plimsoll::cli::top

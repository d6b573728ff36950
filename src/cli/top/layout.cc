#include "cli/top/layout.h"

#include <algorithm>
#include <utility>

#include "cli/progress/parts.h"
#include "cli/top/pages.h"
#include "cli/top/run_figures.h"
#include "policy/scheduler/status.h"
#include "report/plain.h"

namespace plimsoll::cli::top {
namespace {

using policy::JobState;

// What the terminal's characters leave of a text.
std::string shown(std::string_view text, Glyphs glyphs) {
  if (glyphs == Glyphs::unicode) return std::string(text);
  std::string plain;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    constexpr unsigned char kAsciiEnd = 0x80, kFirstByte = 0xC0;
    if (byte < kAsciiEnd) plain += c;
    if (byte >= kFirstByte) plain += '?';
  }
  return plain;
}

Line title_line(const Model& model, const ScreenStyle& style) {
  TintedLine line = line_of(style);
  line.add("plimsoll top", Tone::strong);
  line.add("  ");
  const auto only = only_run(model);
  if (!only) {
    line.add(std::to_string(model.runs().size()) + " runs");
    return made(line);
  }
  const RunView& run = model.runs()[*only];
  line.add(report::printable(run.run), Tone::strong);
  const std::string silence = silence_text(run, style.now);
  if (run.status) {
    line.add("  " + clock_text(run.status->elapsed), Tone::faint);
    const std::string left = left_text(*run.status);
    if (!left.empty() && silence.empty()) line.add(", " + left, Tone::faint);
  }
  if (!silence.empty()) line.add("  " + report::printable(silence), Tone::warning);
  return made(line);
}

// Where the figures of a job's line stand; the narrower the screen, the fewer there are.
struct JobColumn {
  SortKey key;
  const char* heading;
  std::size_t width;
  std::size_t from;  // columns of the screen from which on it is shown
};
constexpr JobColumn kJobColumns[] = {
    {SortKey::state, "state", 8, 0},      {SortKey::age, "age", 8, 30},
    {SortKey::used, "used", 7, 40},       {SortKey::estimate, "estimate", 9, 58},
    {SortKey::growth, "growth/s", 9, 68}, {SortKey::cores, "cores", 6, 50},
    {SortKey::io, "io/s", 7, 74}};

bool has_runs_column(const Model& model, const ScreenStyle& style) {
  constexpr std::size_t kWide = 100;
  return !only_run(model) && style.width >= kWide;
}

std::string growth_text(const supervisor::RunningJob& job) {
  constexpr double kMemoryTold = 64 << 10;  // a second; less is noise
  if (!job.growth || job.state != JobState::running) return "";
  return *job.growth < kMemoryTold ? "0" : "+" + short_bytes(to_bytes(*job.growth));
}

std::string cell_of(const Row& row, SortKey key) {
  const supervisor::RunningJob& job = *row.job;
  const bool waits = job.state == JobState::waiting;
  switch (key) {
    case SortKey::state: return std::string(state_text(job.state));
    case SortKey::age: return waits ? "" : clock_text(age_of(job));
    case SortKey::used: return job.used ? short_bytes(*job.used) : "";
    case SortKey::estimate: return job.estimate > Bytes{} ? short_bytes(job.estimate) : "";
    case SortKey::growth: return growth_text(job);
    case SortKey::cores:
      return job.cores && job.state == JobState::running ? decimal(*job.cores) : "";
    case SortKey::io: return row.io_rate ? short_bytes(to_bytes(*row.io_rate)) : "";
    case SortKey::job: return "";
  }
  return "";
}

void add_cell(TintedLine& line, const JobColumn& column, std::string_view text, Tone tone) {
  if (column.key != SortKey::state) return add_right(line, text, column.width, tone);
  const std::size_t end = line.columns() + column.width;
  line.add(text, tone);
  line.pad_to(end);
}

// Why the job does not run, in a word or two; nothing if it does.
std::string why_of(const supervisor::RunningJob& job) {
  if (job.state == JobState::waiting) return job.reason;
  const std::string_view cause = cause_text(job);
  if (cause.empty()) return "";
  return "(" + std::string(cause) + ")";
}

std::string_view no_jobs_text(const Model& model) {
  const auto& runs = model.runs();
  const auto has_answered = [](const RunView& run) { return run.status || run.end; };
  if (std::none_of(runs.begin(), runs.end(), has_answered)) return "Waiting for an answer.";
  return model.choice().filter.empty() ? "No job is running."
                                       : "No job matches the filter; Esc removes it.";
}

void add_jobs(Frame& frame, const Model& model, const ScreenStyle& style) {
  frame.lines.push_back(heading_line(model, style));
  const std::size_t used = frame.lines.size() + 1;  // the bottom line is still to come
  frame.room = style.height > used ? style.height - used : 0;
  frame.scrollable = model.rows().size();
  if (model.rows().empty() && frame.room > 0) {
    TintedLine line = line_of(style);
    line.add(kMargin);
    line.add(no_jobs_text(model), Tone::faint);
    frame.lines.push_back(made(line));
  }
  for (std::size_t i = model.first(); i < model.rows().size(); ++i) {
    if (i - model.first() >= frame.room) break;
    frame.lines.push_back(job_line(model, model.rows()[i], style));
    frame.lines.back().selected = i == model.selected();
  }
}

}  // namespace

Line heading_line(const Model& model, const ScreenStyle& style) {
  TintedLine line = line_of(style);
  line.add(kMargin);
  const auto tone = [&model](SortKey key) {
    return key == model.choice().sort ? Tone::strong : Tone::faint;
  };
  for (const JobColumn& column : kJobColumns) {
    if (style.width >= column.from) add_cell(line, column, column.heading, tone(column.key));
  }
  line.add(kMargin);
  if (has_runs_column(model, style)) {
    line.add("run", Tone::faint);
    line.pad_to(line.columns() - 3 + kRunNameWidth);
  }
  line.add("job", tone(SortKey::job));
  return made(line);
}

Line job_line(const Model& model, const Row& row, const ScreenStyle& style) {
  const supervisor::RunningJob& job = *row.job;
  const Tone tone = job.state == JobState::running ? Tone::plain : Tone::warning;
  TintedLine line = line_of(style);
  line.add(kMargin);
  for (const JobColumn& column : kJobColumns) {
    if (style.width < column.from) continue;
    const bool is_faint = column.key == SortKey::estimate;
    add_cell(line, column, cell_of(row, column.key), is_faint ? Tone::faint : tone);
  }
  line.add(kMargin);
  if (has_runs_column(model, style)) {
    const std::string run = report::fitted(report::printable(model.runs()[row.run].run),
                                           kRunNameWidth - kMargin.size());
    const std::size_t end = line.columns() + kRunNameWidth;
    line.add(run, Tone::faint);
    line.pad_to(end);
  }
  const std::string why = report::printable(why_of(job));
  if (why.empty()) {
    line.add(title_of(job, line.room()), tone);
    return made(line);
  }
  // The cause is what people look for; the command gets what that leaves.
  constexpr std::size_t kTitleMin = 8;
  const std::size_t taken = report::columns_of(why) + kMargin.size();
  const std::size_t room = line.room() > taken ? line.room() - taken : 0;
  line.add(title_of(job, std::max(room, kTitleMin)), tone);
  line.add(kMargin);
  line.add(why, Tone::faint);
  return made(line);
}

Frame frame_of(const Model& model, const ScreenStyle& style) {
  Frame frame;
  frame.lines.push_back(title_line(model, style));
  switch (model.page()) {
    case Page::jobs: {
      for (Line& line : run_lines(model, style)) frame.lines.push_back(std::move(line));
      add_jobs(frame, model, style);
      break;
    }
    case Page::runs: add_runs(frame, model, style); break;
    case Page::help: add_page(frame, help_lines(style), model, style); break;
    case Page::job: add_page(frame, job_page_lines(model, style), model, style); break;
  }
  if (style.height < 2) frame.lines.clear();
  const std::size_t above = style.height > 0 ? style.height - 1 : 0;
  frame.lines.resize(above);
  if (style.height > 0) frame.lines.push_back(bottom_line(model, style));
  for (Line& line : frame.lines) {
    for (Span& span : line.spans) {
      // Bars are of characters that the style allows already.
      span.text = shown(span.text, style.glyphs);
    }
  }
  return frame;
}

}  // namespace plimsoll::cli::top

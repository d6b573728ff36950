#include "cli/top/run_figures.h"

#include <algorithm>
#include <utility>

#include "base/quantity.h"
#include "base/text.h"
#include "cli/link/run_link.h"
#include "cli/progress/parts.h"
#include "report/plain.h"

namespace plimsoll::cli::top {
namespace {

using supervisor::RunStatus;

constexpr double kPercent = 100;

Line counts_line(const RunStatus& status, const ScreenStyle& style) {
  TintedLine line = line_of(style);
  line.add(kMargin);
  auto parts = count_parts(status);
  // Of the daemon's jobs none stays that has ended.
  if (status.run == kDaemon) parts.erase(parts.begin());
  bool first = true;
  for (const Span& part : parts) {
    if (!std::exchange(first, false)) line.add(", ");
    line.add(part.text, part.tone);
  }
  if (parts.empty()) line.add("no jobs");
  const policy::Counts& counts = status.counts;
  if (counts.pauses > 0) line.add("   pauses " + std::to_string(counts.pauses), Tone::faint);
  if (counts.evictions > 0) {
    line.add("   evictions " + std::to_string(counts.evictions), Tone::faint);
  }
  return made(line);
}

void add_bar(TintedLine& line, double share, Tone tone, const ScreenStyle& style) {
  // Of so many columns: figures go before bars.
  constexpr std::size_t kWithBars = 72, kWithLongBars = 100, kShort = 16, kLong = 24;
  if (style.width < kWithBars) return;
  add_gauge(line, share, style.width < kWithLongBars ? kShort : kLong, tone, style.glyphs);
  line.add(" ");
}

Line memory_line(const RunStatus& status, const ScreenStyle& style) {
  TintedLine line = line_of(style);
  line.add("  memory ");
  const double share = share_of(to_double(status.used), to_double(status.line));
  if (status.line > Bytes{}) add_bar(line, share, tone_of(share), style);
  line.add(format_bytes(status.used), share > 1 ? Tone::bad : Tone::plain);
  if (status.line > Bytes{}) line.add(" of " + format_bytes(status.line));
  if (status.estimate) line.add(", estimate " + format_bytes(*status.estimate), Tone::faint);
  if (status.counts.used_peak > Bytes{}) {
    line.add(", peak " + format_bytes(status.counts.used_peak), Tone::faint);
  }
  return made(line);
}

std::string percent_text(double share) {
  return std::to_string(static_cast<int>(std::clamp(share, 0.0, 1.0) * kPercent + 0.5)) + "%";
}

Line cores_line(const RunStatus& status, const ScreenStyle& style) {
  TintedLine line = line_of(style);
  line.add("  cores  ");
  add_bar(line, share_of(status.cores_used, status.cores), Tone::good, style);
  line.add(decimal(status.cores_used) + " of " + cores_text(status.cores));
  if (status.cores_wanted) line.add(", wanted " + decimal(*status.cores_wanted), Tone::faint);
  if (status.cores_of_others) line.add(", others " + decimal(*status.cores_of_others), Tone::faint);
  return made(line);
}

// Nothing where the host tells nothing.
std::string stall_text(const policy::StallShares& stall) {
  std::string text;
  const auto add = [&text](const char* what, std::optional<double> share) {
    if (share) text += (text.empty() ? "" : "  ") + std::string(what) + " " + percent_text(*share);
  };
  add("cpu", stall.cpu_some);
  add("memory", stall.memory_full);
  add("io", stall.io_full);
  return text;
}

Line stall_line(const RunStatus& status, const ScreenStyle& style) {
  TintedLine line = line_of(style);
  line.add("  stalls ");
  const std::string text = stall_text(status.stall);
  line.add(text.empty() ? "not known on this host" : text + "  of the time", Tone::faint);
  return made(line);
}

Line next_line(const RunStatus& status, const ScreenStyle& style) {
  TintedLine line = line_of(style);
  if (!status.holding) return made(line);
  line.add("  next   ");
  line.add(report::printable(status.holding->name + " " + reason_of(*status.holding)),
           Tone::warning);
  return made(line);
}

// Several runs: figures of each in a line of their own.
struct RunColumn {
  const char* heading;
  std::size_t width;
};
constexpr RunColumn kRunColumns[] = {{"running", 9}, {"paused", 8},    {"waiting", 9},
                                     {"used", 8},    {"estimate", 10}, {"line", 8},
                                     {"cores", 9},   {"wanted", 8},    {"stalls", 14}};

// CPU, memory and I/O; nothing where the host tells nothing.
std::string short_stall_text(const policy::StallShares& stall) {
  std::string text;
  bool any = false;
  for (const auto& share : {stall.cpu_some, stall.memory_full, stall.io_full}) {
    text += (text.empty() ? "" : " ") + (share ? percent_text(*share) : "-");
    any = any || share;
  }
  return any ? text : "";
}

// As kRunColumns.
std::vector<std::string> run_cells(const RunStatus& status) {
  return {std::to_string(status.jobs.running),
          std::to_string(status.jobs.paused),
          std::to_string(status.jobs.waiting),
          short_bytes(status.used),
          status.estimate ? short_bytes(*status.estimate) : "",
          status.line > Bytes{} ? short_bytes(status.line) : "",
          decimal(status.cores_used) + "/" + cores_text(status.cores),
          status.cores_wanted ? decimal(*status.cores_wanted) : "",
          short_stall_text(status.stall)};
}

std::vector<Line> several_run_lines(const Model& model, const ScreenStyle& style) {
  std::vector<Line> lines = {run_heading(style)};
  for (const RunView& run : model.runs()) lines.push_back(run_line(run, style));
  const std::size_t most = std::max<std::size_t>(style.height / 3, 2);
  if (lines.size() > most) {
    const std::size_t left = lines.size() - most + 1;
    lines.resize(most);
    TintedLine line = line_of(style);
    line.add("  and " + counted(left, "more run", "more runs"), Tone::faint);
    lines.back() = made(line);
  }
  return lines;
}

}  // namespace

std::optional<std::size_t> only_run(const Model& model) {
  if (model.choice().run) return model.choice().run;
  return model.runs().size() == 1 ? std::optional<std::size_t>(0) : std::nullopt;
}

std::string silence_text(const RunView& run, Instant now) {
  if (run.end) return *run.end;
  if (!run.status) return "has not answered yet";
  const Duration silence = now - run.heard;
  return silence < kSilenceTold ? "" : "has not answered for " + format_duration(silence);
}

Line run_heading(const ScreenStyle& style) {
  TintedLine line = line_of(style);
  line.add("  run", Tone::faint);
  line.pad_to(kRunNameWidth);
  for (const RunColumn& column : kRunColumns) {
    if (line.room() < column.width) break;
    add_right(line, column.heading, column.width, Tone::faint);
  }
  return made(line);
}

Line run_line(const RunView& run, const ScreenStyle& style) {
  TintedLine line = line_of(style);
  line.add(kMargin);
  line.add(report::fitted(report::printable(run.run), kRunNameWidth - kMargin.size()),
           Tone::strong);
  line.pad_to(kRunNameWidth);
  const std::string silence = silence_text(run, style.now);
  if (!silence.empty() || !run.status) {
    line.add("  " + report::printable(silence), Tone::warning);
    return made(line);
  }
  std::size_t i = 0;
  for (const std::string& cell : run_cells(*run.status)) {
    const RunColumn& column = kRunColumns[i++];
    if (line.room() < column.width) break;
    add_right(line, cell, column.width, Tone::plain);
  }
  return made(line);
}

std::vector<Line> run_lines(const Model& model, const ScreenStyle& style) {
  const auto only = only_run(model);
  if (!only) return several_run_lines(model, style);
  const RunView& run = model.runs()[*only];
  if (!run.status) return {};
  return {counts_line(*run.status, style), memory_line(*run.status, style),
          cores_line(*run.status, style), stall_line(*run.status, style),
          next_line(*run.status, style)};
}

}  // namespace plimsoll::cli::top

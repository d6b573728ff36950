#include "cli/progress/frame.h"

#include <algorithm>

#include "base/quantity.h"
#include "cli/progress/parts.h"
#include "policy/governor/processors.h"
#include "report/plain.h"

namespace plimsoll::cli {
namespace {

using policy::JobState;
using supervisor::RunningJob;
using supervisor::RunStatus;

// The cursor rests at the start of the first line, over blanks.
constexpr std::string_view kMargin = "  ";
constexpr std::size_t kBytesWidest = 8;  // "1023 MiB"

std::string counts_line(const RunStatus& status, const FrameStyle& style) {
  TintedLine line(style.width, style.colour);
  line.add(kMargin);
  bool first = true;
  for (const Span& part : count_parts(status)) {
    if (!std::exchange(first, false)) line.add(", ");
    line.add(part.text, part.tone);
  }
  const std::string elapsed = clock_text(status.elapsed);
  const std::string left = left_text(status);
  for (const std::string& end : {left.empty() ? elapsed : elapsed + ", " + left, elapsed}) {
    if (line.room() < end.size() + kMargin.size()) continue;
    line.pad_to(style.width - end.size());
    line.add(end, Tone::faint);
    break;
  }
  return line.text();
}

std::string of_text(Bytes part, Bytes whole) {
  return format_bytes(part) + " of " + format_bytes(whole);
}

// As wide as its numbers may get, so that the bars stand still while they change.
struct Figures {
  std::string text;
  std::size_t width;
};

Figures memory_figures(const RunStatus& status) {
  if (status.line == Bytes{}) return {format_bytes(status.used), kBytesWidest};
  return {of_text(status.used, status.line),
          kBytesWidest + std::string(" of ").size() + format_bytes(status.line).size()};
}

Figures cores_figures(const RunStatus& status) {
  const std::string of = " of " + cores_text(status.cores);
  return {decimal(status.cores_used) + of, decimal(status.cores).size() + of.size()};
}

// ", others 1.9"; nothing where they use next to none.
std::string others_text(const RunStatus& status, std::string_view who) {
  const double cores = status.cores_of_others.value_or(0);
  return cores >= policy::kCoresTold ? ", " + std::string(who) + " " + decimal(cores)
                                     : std::string();
}

// What follows the cores of the run: room for it is kept while nothing is to be told, too.
Figures others_figures(const RunStatus& status) {
  const std::size_t widest = std::string(", others ").size() + decimal(status.cores).size();
  return {others_text(status, "others"), status.cores_of_others ? widest : 0};
}

std::string bars_line(const RunStatus& status, const FrameStyle& style) {
  constexpr std::string_view kMemory = "memory ", kCores = "   cores ";
  constexpr std::size_t kMemoryBarMax = 40, kCoresBarMax = 16;
  const bool bounded = status.line > Bytes{};
  const Figures memory = memory_figures(status), cores = cores_figures(status);
  Figures others = others_figures(status);
  std::size_t fixed = kMargin.size() + kMemory.size() + memory.width + kCores.size() + cores.width +
                      2;  // a space after each bar
  if (fixed + others.width + 2 * kGaugeMin > style.width) others = {};
  fixed += others.width;
  const std::size_t room = style.width > fixed ? style.width - fixed : 0;
  const std::size_t third = room >= 2 * kGaugeMin ? std::max(room / 3, kGaugeMin) : room / 3;
  const std::size_t cores_bar = std::min(bounded ? third : room, kCoresBarMax);
  const std::size_t memory_bar = bounded ? std::min(room - cores_bar, kMemoryBarMax) : 0;
  const double share = share_of(to_double(status.used), to_double(status.line));

  TintedLine line(style.width, style.colour);
  line.add(kMargin);
  line.add(kMemory);
  if (memory_bar >= kGaugeMin) {
    add_gauge(line, share, memory_bar, tone_of(share), style.glyphs);
    line.add(" ");
  }
  const std::size_t memory_end = line.columns() + memory.width;
  line.add(memory.text, bounded && share > 1 ? Tone::bad : Tone::plain);
  if (line.room() < kCores.size() + cores.width) return line.text();
  if (memory_bar >= kGaugeMin) line.pad_to(memory_end);
  line.add(kCores);
  if (cores_bar >= kGaugeMin) {
    add_gauge(line, share_of(status.cores_used, status.cores), cores_bar, Tone::good, style.glyphs);
    line.add(" ");
  }
  line.add(cores.text);
  line.add(others.text, Tone::warning);
  return line.text();
}

// Of a line that ends with a text that may be long.
std::size_t width_of(const FrameStyle& style) {
  constexpr std::size_t kWhole = 4096;  // no name, command or reason is longer
  return style.long_text == LongText::whole ? kWhole : style.width;
}

// What is to be said is the reason; the name gets what that leaves.
std::string holding_line(const supervisor::HoldingStatus& holding, const FrameStyle& style) {
  constexpr std::size_t kNameMin = 12;
  TintedLine line(width_of(style), style.colour);
  line.add(kMargin);
  line.add("next: ", Tone::faint);
  const std::string reason = report::printable(reason_of(holding));
  const std::size_t used = report::columns_of(reason) + 1;
  const std::size_t room = line.room() > used ? line.room() - used : 0;
  line.add(report::fitted_in_the_middle(report::printable(holding.name), std::max(room, kNameMin)),
           Tone::warning);
  line.add(" " + reason, Tone::warning);
  return line.text();
}

// Where the figures of a job's line stand; the narrower the terminal, the fewer there are.
struct Columns {
  bool memory, most, cores;
};

Columns columns_for(std::size_t width) {
  constexpr std::size_t kMemoryFrom = 44, kCoresFrom = 52, kMostFrom = 62;
  return {.memory = width >= kMemoryFrom, .most = width >= kMostFrom, .cores = width >= kCoresFrom};
}

constexpr std::size_t kStateWidth = 7, kTimeWidth = 8, kBytesWidth = 10, kCoresWidth = 7;

void add_right(TintedLine& line, std::string_view text, std::size_t width, Tone tone) {
  const std::size_t columns = report::columns_of(text);
  line.pad_to(line.columns() + (width > columns ? width - columns : 0));
  line.add(text, tone);
}

std::string heading_line(const FrameStyle& style) {
  const Columns columns = columns_for(style.width);
  TintedLine line(style.width, style.colour);
  line.add(kMargin);
  line.add("state", Tone::faint);
  line.pad_to(kMargin.size() + kStateWidth);
  add_right(line, "time", kTimeWidth, Tone::faint);
  if (columns.memory) add_right(line, "memory", kBytesWidth, Tone::faint);
  if (columns.most) add_right(line, "estimate", kBytesWidth, Tone::faint);
  if (columns.cores) add_right(line, "cores", kCoresWidth, Tone::faint);
  line.add("  job", Tone::faint);
  return line.text();
}

std::string job_line(const RunningJob& job, const FrameStyle& style) {
  const Columns columns = columns_for(style.width);
  const bool runs = job.state == JobState::running;
  const Tone tone = runs ? Tone::plain : Tone::warning;
  TintedLine line(width_of(style), style.colour);
  line.add(kMargin);
  line.add(runs ? "running" : job.state == JobState::frozen ? "paused" : "waiting", tone);
  line.pad_to(kMargin.size() + kStateWidth);
  add_right(line, clock_text(job.ran + job.frozen), kTimeWidth, tone);
  if (columns.memory) add_right(line, job.used ? format_bytes(*job.used) : "", kBytesWidth, tone);
  if (columns.most) {
    const bool known = job.estimate > Bytes{};
    add_right(line, known ? format_bytes(job.estimate) : "", kBytesWidth, Tone::faint);
  }
  if (columns.cores) {
    add_right(line, runs && job.cores ? decimal(*job.cores) : "", kCoresWidth, tone);
  }
  line.add("  ");
  const std::string_view cause = cause_text(job);
  const std::string why = cause.empty() ? std::string() : " (" + std::string(cause) + ")";
  const std::size_t room = line.room() - std::min(line.room(), why.size());
  line.add(report::fitted(title_of(job, room), room), tone);
  line.add(why, tone);
  return line.text();
}

std::string rest_line(const std::vector<const RunningJob*>& rest, const FrameStyle& style) {
  Bytes used{};
  double cores = 0;
  for (const RunningJob* job : rest) {
    used += job->used.value_or(Bytes{});
    cores += job->state == JobState::running ? job->cores.value_or(0) : 0;
  }
  TintedLine line(style.width, style.colour);
  line.add(kMargin);
  line.add("and " + std::to_string(rest.size()) + " more: " + format_bytes(used) + ", " +
               decimal(cores) + " cores",
           Tone::faint);
  return line.text();
}

void add_jobs(std::vector<std::string>& lines, const RunStatus& status, const FrameStyle& style) {
  const std::size_t rows = style.height > lines.size() ? style.height - lines.size() : 0;
  std::vector<const RunningJob*> shown;
  for (const RunningJob& job : status.running) {
    if (job.state == JobState::running && job.ran < style.shown_after) continue;
    shown.push_back(&job);
  }
  constexpr std::size_t kRowsMin = 2;  // the heading and a job
  if (shown.empty() || rows < kRowsMin) return;
  std::vector<const RunningJob*> rest;
  if (shown.size() + 1 > rows) {
    const std::size_t kept = rows > kRowsMin ? rows - kRowsMin : 1;
    // Of the heaviest, the older ones stay: lines that come and go are hard to read.
    std::sort(shown.begin(), shown.end(), [](const RunningJob* a, const RunningJob* b) {
      return std::pair(b->used.value_or(Bytes{}), a) < std::pair(a->used.value_or(Bytes{}), b);
    });
    rest.assign(shown.begin() + static_cast<std::ptrdiff_t>(kept), shown.end());
    shown.resize(kept);
    std::sort(shown.begin(), shown.end());  // they point into one list, which is in order of age
  }
  lines.push_back(heading_line(style));
  for (const RunningJob* job : shown) lines.push_back(job_line(*job, style));
  if (!rest.empty() && lines.size() < style.height) lines.push_back(rest_line(rest, style));
}

}  // namespace

std::vector<std::string> frame_lines(const RunStatus& status, const FrameStyle& style) {
  std::vector<std::string> lines;
  if (style.height == 0 || style.width <= kMargin.size()) return lines;
  lines.push_back(counts_line(status, style));
  const bool looked_at = status.cores > 0 || status.used > Bytes{};
  if (looked_at && lines.size() < style.height) lines.push_back(bars_line(status, style));
  if (status.holding && lines.size() < style.height) {
    lines.push_back(holding_line(*status.holding, style));
  }
  add_jobs(lines, status, style);
  return lines;
}

std::string status_line(const RunStatus& status) {
  std::string text;
  for (const Span& part : count_parts(status)) text += (text.empty() ? "" : ", ") + part.text;
  text += "; memory " +
          (status.line > Bytes{} ? of_text(status.used, status.line) : format_bytes(status.used));
  text += ", cores " + decimal(status.cores_used) + " of " + cores_text(status.cores);
  text += others_text(status, "other programs");
  text += "; " + clock_text(status.elapsed);
  if (const std::string left = left_text(status); !left.empty()) text += ", " + left;
  if (status.holding) {
    text += "; next: " + report::printable(status.holding->name + " " + reason_of(*status.holding));
  }
  return text;
}

}  // namespace plimsoll::cli

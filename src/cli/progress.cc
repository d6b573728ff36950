#include "cli/progress.h"

#include <unistd.h>

#include <cstdio>

#include "base/quantity.h"
#include "cli/diagnostics.h"
#include "policy/attempt.h"
#include "record/plain.h"

namespace plimsoll::cli {
namespace {

// A terminal drawn more often costs more than it tells.
constexpr Duration kRedrawInterval = std::chrono::milliseconds(100);

void print(const std::string& text) { std::fwrite(text.data(), 1, text.size(), stderr); }

}  // namespace

Result<ProgressStyle> parse_progress(std::string_view text) {
  if (text == "plain") return ProgressStyle::plain;
  if (text == "none") return ProgressStyle::none;
  if (text == "auto")
    return ::isatty(STDERR_FILENO) != 0 ? ProgressStyle::bar : ProgressStyle::none;
  return fail("found \"" + std::string(text) + "\", expected auto, plain or none");
}

void ProgressLine::update(const engine::Progress& progress, Instant now) {
  progress_ = progress;
  if (style_ != ProgressStyle::bar) return;
  if (!drawn_at_ || now - *drawn_at_ >= kRedrawInterval) draw(now);
}

void ProgressLine::ended(const policy::JobSpec& job, const record::JobReport& report) {
  if (style_ != ProgressStyle::plain) return;
  const std::size_t done = progress_.succeeded + progress_.failed + progress_.skipped;
  const std::size_t width = std::to_string(progress_.jobs).size();
  std::string count = std::to_string(done);
  count.insert(0, width - std::min(width, count.size()), ' ');
  const policy::AttemptEnd end{report.outcome, report.exit_code, report.signal,
                               report.times.wall.value_or(Duration{})};
  std::string line = "[" + count + "/" + std::to_string(progress_.jobs) + "] ";
  line += policy::succeeded(end) ? "done" : policy::describe(end);
  if (report.times.wall) line += " in " + format_duration(*report.times.wall);
  if (report.usage && report.usage->totals.memory.peak) {
    line += ", peak " + format_bytes(*report.usage->totals.memory.peak);
  }
  line += ": ";
  // A name of the user's own says more than the command.
  const bool named = job.name != std::to_string(static_cast<std::uint64_t>(job.id));
  constexpr std::size_t kCommandWidth = 100;
  line += record::fitted(
      record::printable(named ? job.name : policy::command_line(job.command)), kCommandWidth);
  print(line + "\n");
}

void ProgressLine::note(const std::string& text) {
  erase();
  complain(text);
}

void ProgressLine::draw(Instant now) {
  std::string line = std::to_string(progress_.succeeded + progress_.failed + progress_.skipped) +
                     "/" + std::to_string(progress_.jobs) + " done, " +
                     std::to_string(progress_.running) + " running";
  if (progress_.failed > 0) line += ", " + std::to_string(progress_.failed) + " failed";
  line += ", " + format_duration(std::chrono::floor<std::chrono::seconds>(now - begun_));
  print("\r\033[K" + record::fitted(line, stderr_style().width - 1));
  drawn_at_ = now;
}

void ProgressLine::erase() {
  if (!drawn_at_) return;
  print("\r\033[K");
  drawn_at_.reset();
}

}  // namespace plimsoll::cli

#include "cli/progress/display.h"

#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <string_view>
#include <utility>

#include "base/text.h"
#include "cli/progress/terminal.h"
#include "policy/job/attempt.h"
#include "report/plain.h"
#include "supervisor/control/progress_json.h"

namespace plimsoll::cli {
namespace {

// A terminal drawn more often costs more than it tells.
constexpr Duration kRedrawInterval = std::chrono::milliseconds(100);
// Memory and clocks move even if nothing happens.
constexpr Duration kIdleInterval = std::chrono::milliseconds(500);
// One line of counts in a log; a program that reads JSON wants more.
constexpr Duration kPlainStatusInterval = std::chrono::seconds(30);
constexpr Duration kJsonStatusInterval = std::chrono::seconds(1);
// Jobs that are over sooner would only flicker.
constexpr Duration kShownAfter = std::chrono::milliseconds(500);
// The frame takes no more of the screen than this: what jobs write is to be read as well.
constexpr std::size_t kFrameRowsMax = 20;
constexpr std::size_t kFrameRowsMin = 4;
// So much of what jobs write is collected for one drawing; more is written at once.
constexpr std::size_t kAboveBytes = 64 << 10;
// The end of a line that is so long is not waited for.
constexpr std::size_t kPartialBytesMax = 4 << 10;
// Lines of our own that wait for a slow reader; more are left out, and counted.
constexpr std::size_t kPendingBytesMax = 4 << 20;
constexpr Duration kFlushPatience = std::chrono::seconds(1);

bool can_draw(int fd) {
  const char* value = std::getenv("TERM");
  const std::string_view terminal = value == nullptr ? "" : value;
  return ::isatty(fd) != 0 && !terminal.empty() && terminal != "dumb";
}

// Of the fd's terminal now: it may have been made another size.
FrameStyle frame_style(int fd, Glyphs glyphs) {
  FrameStyle style{.glyphs = glyphs, .shown_after = kShownAfter};
  winsize size{};
  if (::ioctl(fd, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 && size.ws_row > 0) {
    // A full last column makes some terminals wrap.
    style.width = size.ws_col - 1u;
    style.height = size.ws_row;
  }
  const std::size_t share = std::max(kFrameRowsMin, style.height * 2 / 3);
  style.height = std::min({style.height - 1, share, kFrameRowsMax});
  style.colour = terminal_colour();
  return style;
}

// In the background of a terminal somebody types at another command. The supervisor has a group of
// its own; what the shell knows is the guardian's, its parent's.
bool in_foreground(int fd) {
  const pid_t group = ::tcgetpgrp(fd);
  return group < 0 || group == ::getpgrp() || group == ::getpgid(::getppid());
}

}  // namespace

Result<ProgressStyle> parse_progress(std::string_view text) {
  if (text == "plain") return ProgressStyle::plain;
  if (text == "failures") return ProgressStyle::failures;
  if (text == "json") return ProgressStyle::json;
  if (text == "none") return ProgressStyle::none;
  if (text == "auto") return can_draw(STDERR_FILENO) ? ProgressStyle::live : ProgressStyle::plain;
  return fail("found \"" + std::string(text) + "\", expected auto, plain, failures, json or none");
}

Display::Display(loop::Loop& loop, DisplayConfig config, output::NonblockingFd nonblocking_fd)
    : config_(std::move(config)), writer_(loop, std::move(nonblocking_fd), *this) {
  glyphs_ = terminal_glyphs();
  timer_ = loop.timer([this] { on_timer(); });
}

void Display::changed() {
  dirty_ = true;
  schedule();
}

void Display::event(const policy::Event& event) {
  const policy::JobSpec* job = event.job ? &config_.run.spec_of(*event.job) : nullptr;
  if (config_.style == ProgressStyle::plain) {
    const auto line = event_line(event, job, tally_, line_style());
    if (line && is_news(event)) put_line(*line + "\n");
    if (event.kind == policy::EventKind::alarm) told_alarm_ = event.reason;
  } else if (config_.style == ProgressStyle::json && event.kind != policy::EventKind::ended &&
             event.kind != policy::EventKind::queued) {
    put_line(supervisor::progress_event(event, job, event.at - config_.begun));
  }
  changed();
}

void Display::ended(const policy::JobSpec& job, const report::JobReport& report) {
  if (report.outcome != policy::Outcome::skipped) ++tally_.ended;
  const bool in_lines = config_.style == ProgressStyle::plain ||
                        (config_.style == ProgressStyle::failures &&
                         !policy::succeeded(report.outcome, report.exit_code));
  if (in_lines && is_news(report)) put_line(end_line(job, report, tally_, line_style()) + "\n");
  if (config_.style == ProgressStyle::json) put_line(supervisor::progress_end(job, report, age()));
  changed();
}

void Display::note(const std::string& text) {
  if (config_.style == ProgressStyle::json)
    return put_line(supervisor::progress_notice(text, age()));
  if (!text.empty() && text == std::exchange(told_alarm_, {})) return;
  say("plimsoll: " + report::printable(text));
}

void Display::say(const std::string& line) {
  if (config_.style == ProgressStyle::json) return;
  if (config_.style != ProgressStyle::live) return put_line(line + "\n");
  above_ += line + "\n";
  schedule();
}

void Display::print_above(std::string text, std::function<void(Result<void>)> done) {
  const bool last = text.empty();
  partial_ += text;
  above_ += take_whole_lines(partial_);
  if (!partial_.empty() && (last || partial_.size() > kPartialBytesMax)) {
    above_ += std::exchange(partial_, {}) + "\n";
  }
  const bool full = above_.size() >= kAboveBytes;
  if (last || full) {
    waiting_.push_back(std::move(done));
    write_above();
    return answer_waiting();
  }
  schedule();
  done({});
}

void Display::suspend() {
  writer_.put(canvas_.erase());
  suspended_ = true;
  lines_.clear();
  // What stops in a moment must not leave half a frame behind.
  writer_.flush_until(loop::now() + kRedrawInterval);
}

void Display::resume() {
  suspended_ = false;
  if (!waiting_.empty()) write_above();
  answer_waiting();
  changed();
}

void Display::finish() {
  if (std::exchange(finished_, true)) return;
  timer_.off();
  above_ += std::exchange(partial_, {});
  if (!above_.empty() && !above_.ends_with('\n')) above_ += '\n';
  writer_.put(canvas_.replace(std::exchange(above_, {}), {}));
  tell_lost();
  writer_.flush_until(loop::now() + kFlushPatience);
  answer_waiting();
}

// Jobs wait for the same again and again: it is told once, and later in the line of counts. A
// share changes with all that other runs do.
bool Display::is_news(const policy::Event& event) {
  if (event.kind == policy::EventKind::line) {
    return std::exchange(told_line_, event.reason) != event.reason;
  }
  return !event.hold || told_holds_.insert(*event.hold).second;
}

// All that a halt or Ctrl-C leaves are skipped at once and for the same reason: told of one.
bool Display::is_news(const report::JobReport& report) {
  if (report.outcome != policy::Outcome::skipped) return true;
  return std::exchange(told_skip_, report.reason) != report.reason;
}

LineStyle Display::line_style() const {
  const bool is_terminal = ::isatty(STDERR_FILENO) != 0;
  return {.width = is_terminal ? style_of(STDERR_FILENO).width : 0, .commands = config_.commands};
}

// Never from within a call of the engine's: drawing asks it for its status.
void Display::schedule() {
  if (finished_ || suspended_ || config_.style == ProgressStyle::none ||
      config_.style == ProgressStyle::failures) {
    return;
  }
  Duration interval = kRedrawInterval;
  if (config_.style == ProgressStyle::plain) interval = kPlainStatusInterval;
  if (config_.style == ProgressStyle::json) interval = kJsonStatusInterval;
  // The first status of a log comes when there is something to tell of.
  if (!shown_at_ && !draws()) shown_at_ = loop::now();
  arm(shown_at_ ? std::max(*shown_at_ + interval, loop::now()) : loop::now());
}

void Display::arm(Instant when) {
  if (armed_for_ && *armed_for_ <= when) return;
  armed_for_ = when;
  timer_.set(when);
}

void Display::on_timer() {
  armed_for_.reset();
  if (finished_ || suspended_) return;
  if (draws()) return draw();
  shown_at_ = loop::now();
  if (!std::exchange(dirty_, false)) return;
  const supervisor::RunStatus status = config_.run.status();
  put_line(config_.style == ProgressStyle::json ? supervisor::progress_status(status, age())
                                                : status_line(status) + "\n");
}

void Display::draw() {
  // A terminal that has not taken the last frame gets the newest one when it has.
  if (writer_.pending() > 0) return;
  dirty_ = false;
  shown_at_ = loop::now();
  std::vector<std::string> lines;
  if (in_foreground(STDERR_FILENO)) {
    lines = frame_lines(config_.run.status(), frame_style(STDERR_FILENO, glyphs_));
  } else {
    canvas_.forget();
  }
  if (!above_.empty() || lines != lines_) {
    lines_ = std::move(lines);
    writer_.put(canvas_.replace(std::exchange(above_, {}), lines_));
  }
  arm(*shown_at_ + kIdleInterval);
}

// Without a new look: this may be from within a call of the engine's.
void Display::write_above() {
  if (suspended_ || above_.empty()) return;
  writer_.put(canvas_.replace(std::exchange(above_, {}), lines_));
}

void Display::on_drained() {
  answer_waiting();
  if (dirty_ || !above_.empty()) schedule();
  tell_lost();
}

void Display::answer_waiting() {
  if (writer_.pending() > 0 || (!above_.empty() && !finished_)) return;
  for (const auto& done : std::exchange(waiting_, {})) done(writer_.state());
}

void Display::put_line(const std::string& line) {
  if (writer_.pending() + line.size() > kPendingBytesMax) {
    ++lost_;
    return;
  }
  writer_.put(line);
}

void Display::tell_lost() {
  if (lost_ == 0) return;
  note(counted(std::exchange(lost_, 0), "line of progress was", "lines of progress were") +
       " dropped here, because standard error was not read fast enough");
}

Result<std::unique_ptr<Display>> Display::start(loop::Loop& loop, DisplayConfig config) {
  auto nonblocking_fd = output::NonblockingFd::onto(STDERR_FILENO);
  if (!nonblocking_fd) return pass(std::move(nonblocking_fd), "standard error");
  return std::unique_ptr<Display>(new Display(loop, std::move(config), std::move(*nonblocking_fd)));
}

Display::~Display() { finish(); }

bool Display::owns(int fd) const {
  struct stat theirs{}, ours{};
  return draws() && ::isatty(fd) != 0 && ::fstat(fd, &theirs) == 0 &&
         ::fstat(STDERR_FILENO, &ours) == 0 && theirs.st_rdev == ours.st_rdev;
}

}  // namespace plimsoll::cli

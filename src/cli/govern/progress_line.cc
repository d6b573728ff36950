#include "cli/govern/progress_line.h"

#include <fcntl.h>
#include <unistd.h>

#include <utility>

#include "base/text.h"
#include "cli/progress/terminal.h"

namespace plimsoll::cli {
namespace {

constexpr std::string_view kErase = "\r\033[K";

}  // namespace

Result<std::unique_ptr<ProgressLine>> ProgressLine::start(loop::Loop& loop, Text text) {
  if (::isatty(STDOUT_FILENO) == 1 || ::isatty(STDERR_FILENO) == 1) {
    return fail("the command writes to the terminal, and a line there would disturb it");
  }
  UniqueFd terminal(::open("/dev/tty", O_WRONLY | O_NOCTTY | O_NONBLOCK | O_CLOEXEC));
  if (!terminal) return fail("there is no terminal to show it on");
  std::unique_ptr<ProgressLine> line(new ProgressLine(loop, std::move(terminal), std::move(text)));
  return line;
}

ProgressLine::ProgressLine(loop::Loop& loop, UniqueFd terminal, Text text)
    : terminal_(std::move(terminal)),
      text_(std::move(text)),
      timer_(loop.timer([this] { draw(); })) {
  timer_.set(loop::now());
}

ProgressLine::~ProgressLine() {
  if (is_drawn_ && has_foreground()) write(std::string(kErase));
}

// Of the command, which is in the guardian's process group. A shell that has the terminal back
// prints its prompt there.
bool ProgressLine::has_foreground() const {
  return ::tcgetpgrp(terminal_.get()) == ::getpgid(::getppid());
}

void ProgressLine::draw() {
  timer_.set(loop::now() + kGap);
  if (!has_foreground()) return;
  const std::size_t width = style_of(terminal_.get()).width;
  const std::string text = "plimsoll: " + text_();
  write(std::string(kErase) + std::string(cut_utf8(text, width - 1)));
  is_drawn_ = true;
}

// A terminal that takes nothing now gets the next.
void ProgressLine::write(const std::string& text) {
  [[maybe_unused]] const auto wrote = ::write(terminal_.get(), text.data(), text.size());
}

}  // namespace plimsoll::cli

#include "cli/diagnostics.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <cstdlib>
#include <string>

#include "report/plain.h"
#include "supervisor/reporting.h"

namespace plimsoll::cli {

void complain_of_stuck(const reap::Stuck& stuck) {
  complain("run: " + supervisor::stuck_text(stuck));
  complain_of_processes(stuck.processes);
}

void complain_of_processes(const std::vector<cgroup::StuckProcess>& processes) {
  for (const cgroup::StuckProcess& process : processes) {
    complain("  process " + std::to_string(process.pid) + " (" + report::printable(process.comm) +
             "), state " + process.state + ", waits in " +
             (process.wchan.empty() ? "the run queue of a CPU" : process.wchan));
  }
}

namespace {

report::TextStyle uncut_style_of(int fd) {
  constexpr std::size_t kUncut = 4096;
  report::TextStyle style = style_of(fd);
  if (::isatty(fd) == 0) style.width = kUncut;
  return style;
}

std::string_view environment_value(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? std::string_view() : value;
}

}  // namespace

report::TextStyle stderr_style() { return uncut_style_of(STDERR_FILENO); }
report::TextStyle list_style() { return uncut_style_of(STDOUT_FILENO); }

report::Colour terminal_colour() {
  const bool plain = !environment_value("NO_COLOR").empty() || environment_value("TERM") == "dumb";
  return plain ? report::Colour::none : report::Colour::ansi;
}

report::TextStyle style_of(int fd) {
  report::TextStyle style;
  winsize size{};
  if (::isatty(fd) == 0) return style;
  if (::ioctl(fd, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) style.width = size.ws_col;
  style.colour = terminal_colour();
  return style;
}

}  // namespace plimsoll::cli

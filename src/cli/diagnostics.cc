#include "cli/diagnostics.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <string>

#include "base/quantity.h"
#include "record/plain.h"

namespace plimsoll::cli {

void complain(std::string_view text) {
  const std::string line = "plimsoll: " + std::string(text) + "\n";
  std::fwrite(line.data(), 1, line.size(), stderr);
}

void complain_of_stuck(const reap::Stuck& stuck) {
  complain("still waiting after " + format_duration(stuck.since) + " for killed processes to end");
  complain_of_processes(stuck.processes);
  if (stuck.trouble) complain("  " + stuck.trouble->message());
}

void complain_of_processes(const std::vector<cgroup::StuckProcess>& processes) {
  for (const cgroup::StuckProcess& process : processes) {
    complain("  process " + std::to_string(process.pid) + " (" + record::printable(process.comm) +
             "), state " + process.state + ", waits in " +
             (process.wchan.empty() ? "the CPU queue" : process.wchan));
  }
}

record::TextStyle stderr_style() { return style_of(STDERR_FILENO); }

record::TextStyle list_style() {
  constexpr std::size_t kUncut = 4096;
  record::TextStyle style = style_of(STDOUT_FILENO);
  if (::isatty(STDOUT_FILENO) == 0) style.width = kUncut;
  return style;
}

record::TextStyle style_of(int fd) {
  record::TextStyle style;
  winsize size{};
  if (::isatty(fd) == 0) return style;
  if (::ioctl(fd, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) style.width = size.ws_col;
  const char* no_color = std::getenv("NO_COLOR");
  const bool colour = no_color == nullptr || *no_color == '\0';
  style.colour = colour ? record::Colour::ansi : record::Colour::none;
  return style;
}

}  // namespace plimsoll::cli

#include "cli/progress/terminal.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <cstdlib>
#include <string_view>

namespace plimsoll::cli {
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

Glyphs terminal_glyphs() {
  for (const char* name : {"LC_ALL", "LC_CTYPE", "LANG"}) {
    const std::string_view locale = environment_value(name);
    if (locale.empty()) continue;
    const bool utf8 = locale.find("UTF-8") != std::string_view::npos ||
                      locale.find("utf8") != std::string_view::npos;
    return utf8 ? Glyphs::unicode : Glyphs::ascii;
  }
  return Glyphs::ascii;
}

}  // namespace plimsoll::cli

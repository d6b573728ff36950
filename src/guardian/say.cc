#include "guardian/say.h"

#include <signal.h>

#include <cstdio>

namespace plimsoll::guardian {

std::string plain(std::string_view name) {
  std::string text(name);
  for (char& one : text) {
    if (one < ' ' || one > '~') one = '?';
  }
  return text;
}

// Children are not to inherit what is ignored here.
void say(const std::string& text) {
  const auto pipe = ::signal(SIGPIPE, SIG_IGN);
  const auto background = ::signal(SIGTTOU, SIG_IGN);
  std::fprintf(stderr, "plimsoll: %s\n", text.c_str());
  ::signal(SIGPIPE, pipe);
  ::signal(SIGTTOU, background);
}

}  // namespace plimsoll::guardian

#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "policy/job/job.h"

// Which program of a command does the work.
namespace plimsoll::policy {

// The name of the program without directory, version and prefix of a cross compiler ("gcc" of
// /usr/bin/x86_64-linux-gnu-gcc-12), and its arguments as they are.
struct Program {
  std::string name;
  // What an interpreter runs: the file name of a script, a module or a jar; else empty.
  std::string script;
  std::vector<std::string> arguments;
};

// Looks through what only starts others (env, nice, timeout, ccache, sh -c, ...). Of shell text the
// first command that is none of the shell's own counts. Empty name: there is none.
[[nodiscard]] Program program_of(const Command& command);

// The words of the first command of shell text: quotes are taken off, nothing is expanded, and what
// only prepares (`cd`, `set`, an assignment) is passed over.
[[nodiscard]] std::vector<std::string> first_command(std::string_view text);

// `path` without its directories.
[[nodiscard]] std::string_view base_name(std::string_view path);

}  // namespace plimsoll::policy

#pragma once

#include <string>
#include <vector>

#include "kernel/procfs/parse.h"

namespace plimsoll::govern {

// A program that a process is about to execute, as far as it was read.
struct Exec {
  procfs::Id process;
  int parent = 0;
  std::string file;               // as the process names it
  std::vector<std::string> argv;  // its beginning
  // Of a script: the words of its first line after "#!", else empty.
  std::vector<std::string> interpreter{};
  // It executes that already: nobody has held it in its exec, and what it has started since may
  // have executed something as well.
  bool is_done = false;
};

}  // namespace plimsoll::govern

#pragma once

namespace plimsoll::cli {

// The subcommand. `argv[0]` is the name; the answer is the exit status of the program.
int govern_command(int argc, char** argv);
int session_command(int argc, char** argv);

}  // namespace plimsoll::cli

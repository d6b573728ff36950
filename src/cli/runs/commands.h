#pragma once

namespace plimsoll::cli {

// Subcommands. `argv[0]` is the name; the answer is the exit status of the program.
int runs_command(int argc, char** argv);
int explain_command(int argc, char** argv);
int report_command(int argc, char** argv);
int history_command(int argc, char** argv);
int advise_command(int argc, char** argv);
int compare_command(int argc, char** argv);
int whatif_command(int argc, char** argv);
int simulate_command(int argc, char** argv);

}  // namespace plimsoll::cli

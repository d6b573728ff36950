#pragma once

namespace plimsoll::cli {

// Subcommands. `argv[0]` is the name; the answer is the exit status of the program.
int run_command(int argc, char** argv);
int batch_command(int argc, char** argv);
int reap_command(int argc, char** argv);
int doctor_command(int argc, char** argv);
int ctl_command(int argc, char** argv);
int serve_command(int argc, char** argv);
int submit_command(int argc, char** argv);
int list_command(int argc, char** argv);
int top_command(int argc, char** argv);

}  // namespace plimsoll::cli

#pragma once

#include <string_view>

namespace plimsoll::cli {

// A subcommand. `argv[0]` is its name; the answer is the exit status of the program.
struct Command {
  std::string_view name;
  int (*main)(int argc, char** argv);
};

int run_command(int argc, char** argv);
int govern_command(int argc, char** argv);
int exec_command(int argc, char** argv);
int batch_command(int argc, char** argv);
int reap_command(int argc, char** argv);
int doctor_command(int argc, char** argv);
int ctl_command(int argc, char** argv);
int simulate_command(int argc, char** argv);
int history_command(int argc, char** argv);
int runs_command(int argc, char** argv);
int explain_command(int argc, char** argv);
int report_command(int argc, char** argv);
int serve_command(int argc, char** argv);
int submit_command(int argc, char** argv);
int list_command(int argc, char** argv);
int advise_command(int argc, char** argv);
int compare_command(int argc, char** argv);
int whatif_command(int argc, char** argv);
int top_command(int argc, char** argv);

}  // namespace plimsoll::cli

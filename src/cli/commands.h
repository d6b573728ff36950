#pragma once

#include <cstdint>

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

// How the answer of `plimsoll doctor --build` is written.
enum class DoctorForm : std::uint8_t { text, json };

// The part of `doctor` that looks at the build tools on PATH and prints which of them obey a
// jobserver, and how each can be governed. The exit status. Waits for each to tell its version.
int doctor_build(DoctorForm form);

}  // namespace plimsoll::cli

#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "base/words.h"
#include "govern/exec.h"

namespace plimsoll::govern {

// What a program is to the run.
enum class Role : std::uint8_t {
  driver,    // starts steps: never held, paused or bounded by the line; launchers of one are, too
  whole,     // a step with all that it starts, however many it starts at once, but drivers
  sealed,    // a step with all that it starts, whatever that is
  governor,  // a Plimsoll that governs what it starts itself
  unknown,   // a step, unless it turns out to start several programs at a time
};

// Says which program is what, by its name and arguments: build tools, test runners, workflow
// engines and shells that run a script are drivers; compilers and `sh -c` are whole. Pure.
class Drivers {
 public:
  // `further`: names that the user adds to the drivers.
  explicit Drivers(std::vector<std::string> further = {});

  [[nodiscard]] Role role_of(const Exec& exec) const;

 private:
  [[nodiscard]] bool is_named(std::string_view name) const;
  [[nodiscard]] Role role_of_interpreter(std::string_view name,
                                         const std::vector<std::string>& words) const;

  std::set<std::string, std::less<>> further_;
};

// The name of a program as its family is called: without directories and a version, "python" for
// /usr/bin/python3.11.
[[nodiscard]] std::string program_name(std::string_view file);

// Whether this is the family name of a shell.
[[nodiscard]] bool is_shell(std::string_view name);

// Whether the program may hold several tokens of a jobserver for threads of its own or for programs
// that it starts unseen.
[[nodiscard]] bool may_hold_tokens(const Exec& exec);

// Of `plimsoll govern` or `plimsoll session`, which has what it starts governed by the run that it
// is in.
[[nodiscard]] bool is_inner_govern(const Exec& exec);

// Whether it only shows or steers runs: whoever asks why nothing starts must not wait for the
// answer.
[[nodiscard]] bool shows_runs(const Exec& exec);

// Whether the driver goes on where it was when it is started again, as build tools do.
[[nodiscard]] bool resumes(const Words& command);

}  // namespace plimsoll::govern

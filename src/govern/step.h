#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "base/loop/loop.h"
#include "base/unique_fd.h"
#include "base/units.h"
#include "govern/exec.h"
#include "govern/exec_observer.h"
#include "govern/exec_reader.h"
#include "policy/job/job.h"
#include "supervisor/processes/place.h"

namespace plimsoll::govern {

// From its exec until its job is over and its place is removed.
struct Step {
  enum class State : std::uint8_t {
    moving,   // into its place
    waiting,  // for the scheduler
    running,
    withdrawn,  // from the scheduler: its process goes on without it, or is gone
  };

  JobId id{};
  Exec exec;
  policy::JobSpec spec;
  UniqueFd pidfd;
  std::shared_ptr<supervisor::Place> place;
  std::optional<PendingExec> pending;  // while it is moved, or held in its exec
  bool is_held = false;                // stopped, after its exec
  bool was_held = false;               // and is counted as such
  bool waits_in_exec = false;          // never stopped, as its parent would mind
  std::optional<ExecMark> before;      // its exec, if that is to be looked at
  Instant held_since{};
  WallTime queued{};
  Instant waiting_since{};
  Duration waited{};
  State state = State::moving;
  bool is_over = false;          // its job
  bool is_driver = false;        // it has turned out to be none
  bool may_hold_tokens = false;  // several, of a jobserver
  loop::Watch death;             // while it waits
  loop::Timer birth;             // or, once its process has ended, until nobody is left
};

// The job that a step is: what its process executes, as `sh -c` is given it where it is that, in
// the directory of the process. Nobody runs it again but its parent.
[[nodiscard]] policy::JobSpec spec_for(JobId id, const Exec& exec);

[[nodiscard]] std::unique_ptr<Step> step_of_exec(JobId id, const Exec& exec, UniqueFd pidfd);

// Moves the process up among the kernel's victims when memory runs out, and with it what it starts
// from then on. Who is further up stays there.
inline constexpr int kStepOomScoreAdj = 300;  // a guess
void become_victim(int pid);

// Whether the command says more than what the process executes next: it is a shell's text.
[[nodiscard]] bool is_shell_text(const Exec& exec);

}  // namespace plimsoll::govern

#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/units.h"
#include "cli/exec/attempt_output.h"
#include "cli/exec/command_kinds.h"
#include "cli/exec/held_process.h"
#include "cli/link/light_link.h"

namespace plimsoll::cli {

struct LauncherConfig {
  std::vector<std::string> command;
  std::string job_class{};
  std::optional<Bytes> memory_hint{};
  std::optional<Duration> hold_max{};
  bool verbose = false;  // tell why it waits
};

// One command between its caller and whoever governs it: it waits to be admitted, and otherwise is
// as its caller has started it. Where the governor is gone, it goes on without. A command that can
// be run again is, if it is killed to free memory, and nothing is seen of the lost attempt.
class Launcher {
 public:
  Launcher(LauncherConfig config, LightLink link);

  // The exit status of this process, which has one thread. Once; blocks until the command has
  // ended, or is not waited for any more.
  Result<int> run();

 private:
  Result<void> start_attempt();
  void enter();
  // Waits for one of what it is told and what becomes of the process; whether that has ended.
  [[nodiscard]] bool wait_once();
  void on_signals();
  void on_news();
  void on_refused(const supervisor::LightRefused& refused);
  void on_time(Instant now);
  // When on_time() is due.
  [[nodiscard]] std::optional<Instant> due() const;
  void go_on_alone();
  void give_up(const ProcessEnd& end);
  void hear_all();
  void hear_why(const ProcessEnd& end);
  // An attempt has ended: the exit status, unless another one follows.
  Result<std::optional<int>> end_attempt();
  [[nodiscard]] int end_cancelled() const;

  LauncherConfig config_;
  bool is_rerunnable_;
  Duration busy_pause_;
  std::optional<LightLink> link_;
  UniqueFd signals_;
  std::optional<AttemptOutput> output_;    // of one that can be run again
  std::optional<NewOutputs> new_outputs_;  // likewise
  std::optional<HeldProcess> process_;
  Instant began_{};
  std::optional<Instant> ask_again_;      // there was no room for it
  std::optional<LightLink> had_no_room_;  // then
  std::string why_held_;                  // as told last
  std::optional<supervisor::LightCancelled> cancelled_;
  // It does not wait any more: how this process ends instead.
  std::optional<ProcessEnd> given_up_;
};

}  // namespace plimsoll::cli

#include "govern/step.h"

#include <fcntl.h>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "base/file.h"
#include "base/text.h"
#include "govern/drivers.h"
#include "govern/exec_reader.h"

namespace plimsoll::govern {

bool is_shell_text(const Exec& exec) {
  const bool is_plain = exec.argv.size() >= 3 && exec.argv[1] == "-c";
  const std::string name = program_name(exec.file);
  return is_plain && (name == "sh" || name == "bash" || name == "dash");
}

void become_victim(int pid) {
  const std::string name = "/proc/" + std::to_string(pid) + "/oom_score_adj";
  const auto now = read_text_at(AT_FDCWD, name);
  if (!now || to_i64(trim(*now)).value_or(0) >= kStepOomScoreAdj) return;
  // Who is gone needs nothing.
  [[maybe_unused]] const auto wrote =
      write_text_at(AT_FDCWD, name, std::to_string(kStepOomScoreAdj));
}

std::unique_ptr<Step> step_of_exec(JobId id, const Exec& exec, UniqueFd pidfd) {
  auto step = std::make_unique<Step>();
  step->id = id;
  step->spec = spec_for(id, exec);
  step->exec = exec;
  step->pidfd = std::move(pidfd);
  step->may_hold_tokens = may_hold_tokens(exec);
  return step;
}

policy::JobSpec spec_for(JobId id, const Exec& exec) {
  policy::JobSpec spec;
  spec.id = id;
  spec.name = std::to_string(static_cast<std::uint64_t>(id));
  spec.cwd = directory_of(exec.process.pid);
  spec.restartable = false;
  spec.may_be_awaited = true;
  if (is_shell_text(exec)) {
    spec.command = exec.argv[2];
    return spec;
  }
  std::vector<std::string> argv = exec.argv;
  if (argv.empty()) argv.push_back(exec.file);
  spec.command = std::move(argv);
  return spec;
}

}  // namespace plimsoll::govern

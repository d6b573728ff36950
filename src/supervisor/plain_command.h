#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/words.h"
#include "guardian/spawn_request.h"
#include "policy/job/job.h"

namespace plimsoll::supervisor {

// The words of a shell command that is nothing but a program and its arguments, so that a shell
// would only execute them; to start one costs as much as to start a small program. Nothing: it may
// mean more to some shell, as what is quoted, expanded, redirected, assigned, built in or reserved
// does; or it is longer than kPlainMax.
[[nodiscard]] std::optional<Words> plain_words(std::string_view shell_command);

inline constexpr std::size_t kPlainMax = 4096;

// Says which commands of a run need no shell, though they are text for one.
class PlainCommands {
 public:
  // With the name of the working directory that this process' environment has. Waits for a look at
  // it; later nothing is waited for, whatever jobs say.
  PlainCommands();

  // What is to be executed in place of the shell; no words where that would change the environment,
  // or find another program. So it may in another directory than PWD says, in that of a job of its
  // own, as another user, without PATH, and where a function of bash has the program's name.
  [[nodiscard]] Words words_of(const policy::Command& command,
                               const guardian::SpawnRequest& request) const;

 private:
  [[nodiscard]] bool is_plain(const Words& environment, std::string_view program) const;

  std::string directory_;  // "PWD=..."; empty: the shell would correct it
};

}  // namespace plimsoll::supervisor

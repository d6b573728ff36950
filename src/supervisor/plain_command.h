#pragma once

#include <optional>
#include <string_view>

#include "base/words.h"

namespace plimsoll::supervisor {

// The words of a shell command that is nothing but a program and its arguments, so that the shell
// would only execute them: to start it costs as much as a small program itself. Nothing: it may
// mean more to some shell, as what is quoted, expanded, redirected, assigned, built in or reserved
// does; or it is longer than kPlainMax.
[[nodiscard]] std::optional<Words> plain_words(std::string_view shell_command);

inline constexpr std::size_t kPlainMax = 4096;

// Whether a shell that is started in this process' working directory hands on this environment as
// it is, and finds the same programs: PWD is that directory, PATH is set, and no function is
// exported, which would come first. Looks at the two directories.
[[nodiscard]] bool is_plain(const Words& environment);

}  // namespace plimsoll::supervisor

#pragma once

#include <optional>

namespace plimsoll::procfs {

// How the process of a pidfd has ended, for whoever is not its parent: a status as of wait(2).
// Until its parent has waited for it /proc tells (proc(5)), and from Linux 6.15 on the pidfd does
// after that. Nothing: it lives, or nobody can tell any more. Does not wait.
[[nodiscard]] std::optional<int> end_status(int pidfd);

}  // namespace plimsoll::procfs

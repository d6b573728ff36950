#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "govern/exec.h"

struct seccomp_notif;

// What a process that stands in an exec is about to execute, read from its memory and /proc. It may
// change what was read before the kernel reads it: nothing that has to be safe may rest on it.
namespace plimsoll::govern {

// Of the words of a command line so many are read, and so many bytes of all: what tells programs
// apart comes early.
inline constexpr std::size_t kWordsMax = 64;
inline constexpr std::size_t kWordBytesMax = 4096;

// The call as the notification tells it. Nothing if it will fail, as far as can be seen: the file
// is not there, or can't be executed (execvp(3) tries a directory of PATH after the other). Errors:
// gone(), and operation_not_permitted where the memory of the process can't be read.
[[nodiscard]] Result<std::optional<Exec>> read_exec(const seccomp_notif& notification);

// What tells the memory of a process before an exec from that after it.
struct ExecMark {
  bool has_executed = false;  // since its fork
  std::uint64_t stack = 0;    // where its stack begins: another place after each exec
  bool operator==(const ExecMark&) const = default;
};
// Of the text of /proc/PID/stat; nothing if it is none.
[[nodiscard]] std::optional<ExecMark> parse_mark(std::string_view stat);
[[nodiscard]] std::optional<ExecMark> mark_of(int pid);

// The words after "#!" in a script's first bytes; empty if it is no script.
[[nodiscard]] std::vector<std::string> parse_interpreter(std::string_view beginning);

// The file that the process executes; empty if it can't be told.
[[nodiscard]] std::string program_of(int pid);

// The directory that the process is in; empty if it can't be told.
[[nodiscard]] std::string directory_of(int pid);

}  // namespace plimsoll::govern

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "govern/exec.h"

struct seccomp_notif;

// What a process executes already, for whoever was not told before: by /proc alone, which the
// kernel shows to everybody who may see the process. Of a script that is its interpreter, with the
// script among the words.
namespace plimsoll::govern {

// The process of the texts: `words` as in /proc/PID/cmdline, `program` the file that it executes,
// empty if that can't be told. Nothing if neither says anything, and in the middle of its exec,
// when its stack or its words are not yet what they will be. Pure.
//
// A program goes by what it was called, as one file may be several programs by its name. Who has
// overwritten its words with a title goes by that.
[[nodiscard]] std::optional<Exec> exec_of(const procfs::Stat& stat, std::string_view words,
                                          std::string_view program);

// A process that was seen, as ExecReaders takes it along: in the fields of a call, though it stands
// in none.
[[nodiscard]] seccomp_notif call_of(const procfs::Stat& seen);
[[nodiscard]] procfs::Id process_of(const seccomp_notif& call);
[[nodiscard]] std::uint64_t stack_of(const seccomp_notif& call);

// What the process of such a call executes. Nothing if it executes the next program by then, or is
// about to. Error: gone().
[[nodiscard]] Result<std::optional<Exec>> read_seen_exec(const seccomp_notif& call);

}  // namespace plimsoll::govern

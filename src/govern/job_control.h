#pragma once

#include <string_view>

#include "kernel/procfs/parse.h"

// Shells that look after the jobs of their user: they are told of a child that stops, take that for
// the user's wish, and take the terminal back.
namespace plimsoll::govern {

// Whether the child of `parent`, which executes the file `program`, is such a job: a shell with job
// control gives each a process group of its own (setpgid(2)); others that do so, such as ninja,
// wait for ends only. Pure.
[[nodiscard]] bool is_job_of_shell(const procfs::Stat& child, const procfs::Stat& parent,
                                   std::string_view program);

// The same of a process and its parent as they are now; false if it can't be told.
[[nodiscard]] bool is_job_of_shell(int pid);

}  // namespace plimsoll::govern

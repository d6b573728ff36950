#include "govern/job_control.h"

#include "govern/drivers.h"
#include "govern/exec_reader.h"
#include "kernel/procfs/table.h"

namespace plimsoll::govern {

bool is_job_of_shell(const procfs::Stat& child, const procfs::Stat& parent,
                     std::string_view program) {
  return child.group != parent.group && is_shell(program_name(program));
}

bool is_job_of_shell(int pid) {
  const auto child = procfs::stat_of(pid);
  const auto parent = child ? procfs::stat_of(child->parent) : std::nullopt;
  return parent && is_job_of_shell(*child, *parent, program_of(parent->id.pid));
}

}  // namespace plimsoll::govern

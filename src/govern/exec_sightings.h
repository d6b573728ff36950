#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "kernel/procfs/table.h"

namespace plimsoll::govern {

// Which processes below one have executed something since the last look. A process that has ended
// by then was never there, and of several programs of one process the last is seen. Pure: tables
// go in.
//
// A process that the kernel still has as a copy of its parent has executed nothing: neither a
// subshell nor a child of vfork(2), which borrows its parent's memory, is ever told.
class ExecSightings {
 public:
  // `top`: who is above all of the command's; `before`: who lived below it before the command did,
  // and is none of the command's with all that it starts.
  ExecSightings(int top, std::set<procfs::Id> before);

  // Parents before their children.
  [[nodiscard]] std::vector<procfs::Stat> take(const procfs::Table& table);

  // What it executes is seen once more by the next take().
  void forget(const procfs::Id& process);
  // The same of what was seen then, unless something else has been seen of the process since.
  void forget(const procfs::Id& process, std::uint64_t stack);

 private:
  // What tells one program of a process from the next. The name, which the program itself can
  // change, counts only where the stack is not told.
  struct Mark {
    bool has_executed = false;
    std::uint64_t stack = 0, code_end = 0;
    std::string comm;
    bool operator==(const Mark&) const = default;
  };
  // Whose a process is.
  enum class Side : std::uint8_t { nobodys, others, commands };
  struct Place {
    Side side{};
    std::size_t depth = 0;  // below the top, as far as that can be told
  };

  [[nodiscard]] static Mark mark_of(const procfs::Stat& stat);
  [[nodiscard]] Side known_side(const procfs::Id& id) const;
  [[nodiscard]] Place place_of(const procfs::Stat& stat, const procfs::Table& table,
                               std::map<int, Place>& found) const;

  int top_;
  std::set<procfs::Id> others_;       // of the last table, or who was there before the command
  std::map<procfs::Id, Mark> marks_;  // of the last table
};

}  // namespace plimsoll::govern

#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "kernel/procfs/parse.h"

// The name that a job's processes carry in their environment, so that those which have left their
// parents and their session are known again. A hint, never a proof: who clears its environment
// loses it.
namespace plimsoll::procfs {

// In a job's environment: the marks of the runs that it is within, the outermost first, with spaces
// between.
inline constexpr const char* kTagVariable = "PLIMSOLL_MARK";

// Marks of runs within runs that are kept; deeper ones lose the outermost. Nobody nests so deep.
inline constexpr std::size_t kMarksMax = 16;

// One job of one run. The two processes of the run are in it, so that anybody can tell whether the
// run lives. As text: RUN/SPACE/GUARDIAN.START/SUPERVISOR.START/JOB.
struct EnvTag {
  std::string run;
  std::uint64_t space = 0;  // the pid namespace of the two: its inode (namespaces(7))
  Id guardian;
  Id supervisor;
  std::string job;  // name of its group; no space, no slash
  bool operator==(const EnvTag&) const = default;
};
std::string to_text(const EnvTag& mark);
std::optional<EnvTag> parse_tag(std::string_view word);

// What the variable has to be for a job of `mark`, started by somebody whose own is `inherited`.
std::string with_tag(std::string_view inherited, const EnvTag& mark);

// The mark of a run among those of a variable's value.
std::optional<EnvTag> find_mark(std::string_view value, std::string_view run);

// The innermost mark.
std::optional<EnvTag> last_mark(std::string_view value);

}  // namespace plimsoll::procfs

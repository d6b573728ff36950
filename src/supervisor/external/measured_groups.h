#pragma once

#include <string>
#include <string_view>
#include <unordered_set>

namespace plimsoll::supervisor {

// Groups that are measured as a whole, each for one job or for all of ours: what a process there
// uses is counted already. Paths are from the root of a hierarchy.
class MeasuredGroups {
 public:
  void add(std::string path);
  [[nodiscard]] bool empty() const { return paths_.empty(); }

  // Whether a process with this /proc/PID/cgroup is counted in one of them: by the hierarchy that
  // its memory is charged in.
  [[nodiscard]] bool count(std::string_view memberships) const;

 private:
  std::unordered_set<std::string> paths_;
};

}  // namespace plimsoll::supervisor

#pragma once

#include <string>
#include <vector>

#include "kernel/cgroup/group.h"

namespace plimsoll::cgroup {

// Gives a group of somebody else's a weight of CPU time and I/O, and puts back in its destructor
// what it had before, unless somebody has changed it since. A wish: what may not be written or has
// no weight stays as it is. Has handles of its own on the group, so the Group need not live on.
class WeightGuard {
 public:
  WeightGuard(const Group& group, unsigned weight);

  WeightGuard(const WeightGuard&) = delete;
  WeightGuard& operator=(const WeightGuard&) = delete;
  ~WeightGuard();

 private:
  struct Place {
    Directory directory;
    std::string file;
    std::string before;
    std::string set{};
  };
  void note(const Group& group, Controller controller, const char* file);

  std::vector<Place> places_;  // those whose weight is another than before
};

}  // namespace plimsoll::cgroup

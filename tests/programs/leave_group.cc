// leave_group out|remove|rename: leaves its v2 group, removes it too, or renames its v1 freezer's.
// Checks: that such a group is no error, and that the parts it stayed in are reaped.
#include <sys/stat.h>

#include "program.h"

int main(int argc, char** argv) {
  if (is(argc, argv, 1, "rename")) {
    const std::string group = own_group(":freezer:", "/sys/fs/cgroup/freezer");
    if (std::rename(group.c_str(), (group + "-renamed").c_str()) != 0) die("rename");
  } else {
    const std::string group = own_v2_group();
    if (!put(v2_root() + "/cgroup.procs", "0")) die("move out");
    if (is(argc, argv, 1, "remove") && ::rmdir(group.c_str()) != 0) die("rmdir");
  }
  ready();
  sleep_for_ever();
}

// touch_group freeze|loosen: freezes its v1 group, or keeps taking back v1 pids.max and quota.
// Checks: that what a job does to its own group's files does not keep it alive.
#include <chrono>
#include <thread>

#include "program.h"

int main(int argc, char** argv) {
  ready();
  if (is(argc, argv, 1, "freeze")) {
    const std::string group = own_group(":freezer:", "/sys/fs/cgroup/freezer");
    put(group + "/freezer.state", "FROZEN");
    sleep_for_ever();
  }
  const std::string pids = own_group(":pids:", "/sys/fs/cgroup/pids");
  const std::string cpu = own_group(":cpu:", "/sys/fs/cgroup/cpu");
  for (;;) {
    put(pids + "/pids.max", "max");
    put(cpu + "/cpu.cfs_quota_us", "1000");
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
}

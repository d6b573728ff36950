// touch_group freeze|loosen: freezes its group, or keeps taking back every limit of it, v1 and v2.
// Checks: that what a job does to its own group's files does not keep it alive, and harms only it.
#include <chrono>
#include <thread>

#include "program.h"

int main(int argc, char** argv) {
  ready();
  const std::string v2 = own_v2_group();
  if (is(argc, argv, 1, "freeze")) {
    const std::string group = own_group(":freezer:", "/sys/fs/cgroup/freezer");
    if (group.empty() || !put(group + "/freezer.state", "FROZEN")) put(v2 + "/cgroup.freeze", "1");
    sleep_for_ever();
  }
  const std::string pids = own_group(":pids:", "/sys/fs/cgroup/pids");
  const std::string cpu = own_group(":cpu:", "/sys/fs/cgroup/cpu");
  const std::string memory = own_group(":memory:", "/sys/fs/cgroup/memory");
  for (;;) {
    put(pids + "/pids.max", "max");
    put(cpu + "/cpu.cfs_quota_us", "1000");
    put(memory + "/memory.limit_in_bytes", "-1");
    for (const char* file : {"/pids.max", "/memory.max", "/memory.high", "/memory.swap.max"}) {
      put(v2 + file, "max");
    }
    put(v2 + "/cpu.max", "1000 100000");
    put(v2 + "/cgroup.freeze", "0");
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
}

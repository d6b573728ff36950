// nest_groups DEPTH|frozen|threaded: lives in v2 groups below its own, one of them such.
// Checks: that kill, emptiness and removal see what a job has made below its group.
#include <sys/stat.h>
#include <sys/wait.h>

#include <thread>

#include "program.h"

namespace {

std::string make_below(const std::string& group) {
  const std::string made = group + "/nested";
  if (::mkdir(made.c_str(), 0755) != 0) die("mkdir");
  return made;
}

}  // namespace

int main(int argc, char** argv) {
  std::string group = own_v2_group();
  if (is(argc, argv, 1, "threaded")) {
    group = make_below(group);
    if (!put(group + "/cgroup.type", "threaded")) die("make it threaded");
    std::thread inside([&] {
      if (!put(group + "/cgroup.threads", "0")) die("move a thread");
      ready();
      sleep_for_ever();
    });
    inside.join();
  }
  const bool frozen = is(argc, argv, 1, "frozen");
  const unsigned long depth = frozen ? 1 : number(argc, argv, 1, 3);
  for (unsigned long i = 0; i < depth; ++i) group = make_below(group);
  const pid_t child = ::fork();
  if (child < 0) die("fork");
  if (child > 0) {
    if (!put(group + "/cgroup.procs", std::to_string(child))) die("move a process");
    if (frozen && !put(group + "/cgroup.freeze", "1")) die("freeze");
    ready();
  }
  sleep_for_ever();
}

// wander: makes two groups below its v2 group and moves a child from one to the other without end.
// Checks: that a process is found, frozen and killed which is elsewhere at each look.
#include <sys/stat.h>

#include <string>

#include "program.h"

int main() {
  const std::string group = own_v2_group();
  const std::string places[] = {group + "/a", group + "/b"};
  for (const std::string& place : places) {
    if (::mkdir(place.c_str(), 0755) != 0) die("mkdir");
  }
  const pid_t child = ::fork();
  if (child < 0) die("fork");
  if (child == 0) sleep_for_ever();
  const std::string who = std::to_string(child);
  if (!put(places[0] + "/cgroup.procs", who)) die("move");
  ready();
  for (unsigned i = 1;; ++i) put(places[i % 2] + "/cgroup.procs", who);
}

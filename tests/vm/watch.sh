#!/bin/bash
# What only pure v2 and a machine of one's own can show of watching memory: the pool's events, fast
# triggers, and memory that is charged to somebody else.
# vm: --kernel 6.1
# vm: --kernel 6.12
# shellcheck disable=SC2317 # called by name
set -u
tree=$(cd "$(dirname "$0")/../.." && pwd)
source "$tree/tests/cli/cases.bash"

# Its groups are children of the root, which gives nothing away by itself.
case_monitors_of_v2() {
  echo +memory >/sys/fs/cgroup/cgroup.subtree_control
  env -u PLIMSOLL_CGROUP "$tree/build/tests/kernel_monitor_host_test" >log 2>&1 || wrong "$(grep -v '^\[ *\(RUN\|OK\)' log | tail -n 40)"
  local name
  for name in EventsOfThePoolWakeAndOldOnesDoNot EventsOfAPoolThatIsRemovedFail ATriggerOfThePoolFires \
    AMonitorThatFailsIsReplacedByLooksAndSaysSo; do
    has log "[       OK ] $(grep -o "[A-Za-z]*Test\\.$name" log | head -n 1) "
  done
}

case_a_run_has_them() {
  echo true >jobs.txt
  gives 0 "$plimsoll" batch --report report jobs.txt
  tail -n 1 report >summary
  told summary '[m["health"] for m in r["monitors"]] == ["working"] * 4' \
    '"memory.events" in r["monitors"][0]["why"]' '"kernel watches" in r["monitors"][1]["why"]'
}

# Half of the machine's memory is in a tmpfs that no pool is charged with: jobs that fit below the
# line would take the rest, and the kernel would kill.
case_memory_that_escapes() {
  head -c 350M /dev/zero >/dev/shm/hoard
  for _ in 1 2 3; do
    echo "$python -c 'import time; b = bytearray(150 << 20); time.sleep(3)'"
  done >jobs.txt
  gives 0 "$plimsoll" batch --line 600M --reserve 150M --memory-hint 40M --cores 8 --report report jobs.txt
  rm /dev/shm/hoard
  tail -n 1 report >summary
  told summary 'r["oom_kills"] == 0' 'r["outcomes"] == {"exited": 3}' \
    'r["holds"] + r["pauses"] + r["evictions"] > 0' \
    'r["machine"]["memory_available_min_bytes"] > 60e6'
  same 0 "$(awk '$1 == "oom_kill" { print $2 }' /proc/vmstat)" 'kills by the kernel'
}

run_cases "${1:-}"

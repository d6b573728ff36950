#!/bin/bash
# Hosts that lack something Plimsoll rests on, and that take it away: no pressure figures, no memory
# controller, swap on zram, a clock that is set, a controller that goes.
# vm all: --append psi=0 --env HOST=psi_off
# vm all: --append cgroup_disable=memory --env HOST=no_memory
# vm all: --zram --env HOST=zram
# shellcheck disable=SC2016,SC2317 # dollars for the shells that are run; called by name
set -uo pipefail
source "$(dirname "$(realpath "$0")")/../cli/cases.bash"
export PATH=$(dirname "$plimsoll")/tests/programs:$PATH
host=${HOST:-usual}

only_where() { [[ $host == "$1" ]] || skip_quietly; }
# Not a skipped test: another machine of this script has it.
skip_quietly() { exit 0; }

kernel_kills() { awk '$1 == "oom_kill" { print $2 }' /proc/vmstat; }

# More than the line altogether, each less; some are paused.
hogs() {
  yes 'hog 150 100 exit && echo fine' | head -n 6 >jobs.txt
  gives 0 "$plimsoll" batch --line 400M --progress none --cores 100 --report report "$@" jobs.txt
  tail -n 1 report >summary
  same 6 "$(grep -c fine out)" 'jobs that ended well'
  same 0 "$(kernel_kills)" 'kills by the kernel'
  becomes_true nothing_left || wrong "left: $(groups_left | head -n 3)"
}

case_memory_is_governed() {
  [[ $host != no_memory ]] || skip_quietly
  hogs
  told summary 'r["oom_kills"] == 0' '300 << 20 < r["used_peak_bytes"] < 460 << 20'
}

# Who is paused gives back what he has (memory.reclaim), instead of being evicted.
case_what_is_paused_is_swapped_out() {
  only_where zram
  hogs -v
  head -n -1 report | sed '1s/^/[/; $!s/$/,/; $s/$/]/' >jobs.json
  told jobs.json 'any(j["times"]["paused_ns"] > 0 and j["memory"].get("swap_peak_bytes", 0) > 10 << 20 for j in r)'
  gives 0 "$plimsoll" explain last
  has out 'reclaim'
}

case_without_pressure_figures() {
  only_where psi_off
  gives 0 "$plimsoll" doctor --json
  told out 'any(c["state"] == "missing" and "pressure" in c["id"] for c in r["checks"])'
  echo true >jobs.txt
  gives 0 "$plimsoll" batch --report report jobs.txt
  tail -n 1 report >summary
  told summary 'r["monitors"][0]["health"] == "working"' 'r["monitors"][1]["health"].startswith("missing")'
}

case_without_a_memory_controller() {
  only_where no_memory
  gives 0 "$plimsoll" doctor --json
  told out 'any(c["state"] == "missing" and "memory" in c["id"] + c["value"] for c in r["checks"])'
  yes 'echo fine' | head -n 20 >jobs.txt
  gives 0 "$plimsoll" batch --progress none --report report jobs.txt
  same 20 "$(grep -c fine out)"
  head -n 1 report >job
  told job '"cpu" in r' '"peak_bytes" not in r.get("memory", {})'
  gives 125 "$plimsoll" run --memory-max 64M -- true
  has err memory
  becomes_true nothing_left || wrong "left: $(groups_left | head -n 3)"
}

# A day forward and a month back: no time-out fires, no job is older than the run.
case_a_clock_that_is_set() {
  local began=$SECONDS
  yes 'sleep 2; echo fine' | head -n 4 >jobs.txt
  "$plimsoll" batch --progress none --timeout 120s -j 2 --cores 8 --report report jobs.txt >out 2>err &
  local pid=$!
  sleep 1
  date -s '+1 day' >/dev/null
  sleep 1
  date -s '-31 days' >/dev/null
  wait $pid
  same 0 $? "$(<err)"
  date -s '+30 days' >/dev/null
  same 4 "$(grep -c fine out)"
  tail -n 1 report >summary
  told summary '3e9 < r["makespan_ns"] < '$((SECONDS - began + 2))'e9' 'r["outcomes"] == {"exited": 4}'
  gives 0 "$plimsoll" runs
}

# Somebody else's hand: first the jobs lose their counters, then the pool; the jobs go on, and who
# watched says that he no longer can.
case_a_controller_that_is_taken_away() {
  [[ $host != no_memory ]] || skip_quietly
  echo 'touch started; until [ -e go ]; do sleep 0.1; done; echo fine' >jobs.txt
  "$plimsoll" batch --progress none --report report jobs.txt >out 2>err &
  local pid=$! pool
  becomes_true test -e started
  pool=$(find "/sys/fs/cgroup$PLIMSOLL_CGROUP" -name pool)
  echo -memory >"$pool/cgroup.subtree_control" || wrong 'the controller stays'
  sleep 1
  echo -memory >"$(dirname "$pool")/cgroup.subtree_control" || wrong 'the controller stays with the pool'
  sleep 1
  touch go
  wait $pid
  same 0 $? "$(<err)"
  has out fine
  tail -n 1 report >summary
  told summary 'any(m["name"] == "event" and m["health"] != "working" for m in r["monitors"])' \
    'any(m["name"] == "oom" and m["health"].startswith("failed: ") for m in r["monitors"])'
  becomes_true nothing_left || wrong "left: $(groups_left | head -n 3)"
}

run_cases "${1:-}"

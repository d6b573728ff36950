#!/bin/bash
# Process mode: jobs without cgroups, by --cgroup none, which needs no right and tries on any host
# what one without cgroups does.
# program: released
# shellcheck disable=SC2016,SC2317 # dollars for the shells that are run; called by name
set -u
source "$(dirname "$0")/cases.bash"

# Stands among the arguments of whatever cases start, so that what is left of it is found. A number,
# so that it can be how long to sleep.
readonly needle=1$$.125
readonly bomber=$((50000 + $$ % 10000)) # who has no other processes

none() { gives "$1" "$plimsoll" "$2" --cgroup none "${@:3}"; }

# started_here: pids of processes that bear the needle in their arguments, this script's own shells
# and dead ones not counted.
started_here() {
  local file pid state
  for file in $(grep -lsa -- "$needle" /proc/[0-9]*/cmdline); do
    pid=${file//[^0-9]/}
    state=$(grep -s '^State:' "/proc/$pid/status")
    [[ -z $state || $state == *[ZX]' ('* ]] || echo "$pid"
  done
}

all_gone() { [[ -z $(started_here) ]]; }
any_left() { [[ -n $(started_here) ]]; }

# Ends what should not have been there, so that the next case starts from nothing.
check_all_gone() {
  local pid
  becomes_true all_gone && return
  for pid in $(started_here); do
    wrong "left: $pid $(tr '\0' ' ' <"/proc/$pid/cmdline")"
    kill -KILL "$pid"
  done
}

# A process that sleeps, under a name that can be found again.
sleeper="sleep $needle"
# The same in a session of its own, and nobody's child.
daemon="(setsid sh -c 'setsid $sleeper &' &)"

case_it_is_announced_in_a_line() {
  none 0 run -- true
  same 1 "$(grep -c 'process mode, without cgroups' err)"
  has err 'memory is sampled'
  none 0 run -q -- true
  empty err
  PLIMSOLL_CGROUP=none gives 0 "$plimsoll" batch -q -- echo {} ::: a
  same a "$(<out)"
  none 0 batch --progress none -- echo {} ::: a
  has err 'process mode, without cgroups'
}

case_the_reason_is_the_true_one() {
  can_mount || skip 'mounts can not be changed here'
  gives 0 env -u PLIMSOLL_CGROUP unshare -m sh -c '
    for root in $(awk "\$3 ~ /^cgroup2?\$/ { print \$2 }" /proc/mounts); do
      mount -o remount,bind,ro "$root" || exit 9
    done
    exec "$1" run -- true' sh "$plimsoll"
  has err 'process mode'
  has err 'is mounted read-only'
  lacks err 'delegated'

  gives 125 env -u PLIMSOLL_CGROUP unshare -m sh -c 'mount -t tmpfs none /proc && exec "$1" run -- true' \
    sh "$plimsoll"
  has err '/proc is not mounted here'
  gives 125 unshare -m sh -c 'mount -t tmpfs none /proc && exec "$1" run -- true' sh "$plimsoll"
  has err '/proc is not mounted here' # with a named group, too
}

case_results_are_those_of_the_command() {
  none 7 run -q -- sh -c 'exit 7'
  none 143 run -q -- sh -c 'kill -TERM $$'
  none 127 run -q -- ./nosuch
  none 124 run -q --timeout 300ms -- sleep 100
  none 2 batch -q -- 'exit {}' ::: 0 1 2
}

case_a_report_says_what_was_not_counted() {
  none 0 run -q --report r.json -- "$python" -c 'a = bytearray(60 << 20); import time
end = time.process_time() + 0.4
while time.process_time() < end: pass
time.sleep(2.5)  # looks are up to a second apart where they are dear'
  told r.json 'r["host"]["hierarchy"] == "process"' \
    'r["memory"]["sampled_peak_bytes"] > 60 << 20' 'r["memory"]["sampled_peak_bytes"] < 200 << 20' \
    '"peak_bytes" not in r["memory"]' '"pressure" not in r["cpu"]' '"peak" not in r.get("pids", {})' \
    'r["unavailable"]["memory.peak_bytes"]' 'r["unavailable"]["cpu.pressure"]' \
    'r["cpu"]["usage_ns"] > 3e8' 'r["rusage"]["maxrss_bytes"] > 60 << 20' \
    'any(s.get("used_bytes", 0) > 60 << 20 for s in r["samples"])'
}

case_memory_that_processes_share_is_counted_once() {
  none 0 run -q --report r.json -- "$python" -c '
import os, time
a = bytearray(80 << 20)
for i in range(3):
    if os.fork() == 0: time.sleep(2.5); os._exit(0)
time.sleep(2.5)'
  told r.json 'any(80 << 20 < s.get("used_bytes", 0) < 160 << 20 for s in r["samples"])'
}

case_cpu_of_children_is_counted() {
  none 0 run -q --report r.json -- sh -c '"$0" -c "
import time
end = time.process_time() + 0.3
while time.process_time() < end: pass" & wait' "$python"
  told r.json 'r["cpu"]["usage_ns"] > 2.9e8'
}

case_limits_are_refused_with_the_reason() {
  none 125 run --memory-max 1G -- touch ran
  has err '--memory-max needs a cgroup'
  none 125 run --pids-max 5 -- touch ran
  printf '{"argv": ["touch", "ran"]}\n{"argv": ["touch", "ran"], "cpus": 1}\n' >jobs
  none 125 batch jobs
  has err 'job 2: --cpus needs a cgroup'
  [[ ! -e ran ]] || wrong 'something was started'
}

case_what_a_command_leaves_behind_is_ended() {
  none 0 run --report r.json -- sh -c "$sleeper & until grep -q sleep /proc/\$!/comm; do sleep 0.01; done"
  check_all_gone
  told r.json 'any(p["comm"] == "sleep" for p in r["left_behind"])'
  none 0 run -q -- sh -c "$daemon; sleep 0.2"
  check_all_gone
  # Without a look in between, and without its environment.
  none 0 run -q -- sh -c "(setsid env -i sh -c 'setsid $sleeper &' &)"
  check_all_gone
}

case_of_many_jobs_too() {
  printf '%s\n' "$daemon; sleep 0.1" "$daemon" 'sleep 0.5; true' "$daemon; exit 1" >jobs
  none 1 batch -q -j4 jobs
  check_all_gone
}

# Its job is over while others run: then it is ended with its own job, by its mark.
case_a_daemon_ends_with_its_own_job() {
  printf '%s\n' "$daemon; until [ -e go ]; do sleep 0.05; done" 'until [ -e stop ]; do sleep 0.05; done' >jobs
  "$plimsoll" batch --cgroup none -q -j2 jobs 2>err &
  local pid=$!
  becomes_true any_left
  touch go
  becomes_true all_gone
  touch stop
  wait $pid
  same 0 $?
}

case_signals_that_are_ignored() {
  none 124 run -q --timeout 300ms --kill-after 300ms -- sh -c "trap '' TERM HUP INT; $sleeper & $sleeper"
  check_all_gone
}

case_pause_and_resume_by_hand() {
  "$plimsoll" batch --cgroup none -q -- \
    'echo $$ >pid; while :; do echo x >>ticks; [ ! -e stop ] || exit 0; sleep 0.02; done; : {}' ::: a 2>err &
  local pid=$! before
  becomes_true test -s ticks
  gives 0 "$plimsoll" ctl pause 1
  # Or it stands in vfork(2), as its child was stopped before its exec.
  becomes_true grep -q '^State:.[DT]' "/proc/$(<pid)/status"
  before=$(wc -l <ticks)
  sleep 0.5
  same "$before" "$(wc -l <ticks)" 'while it is paused'
  gives 0 "$plimsoll" ctl status
  gives 0 "$plimsoll" ctl resume 1
  becomes_true eval '(($(wc -l <ticks) > before))'
  touch stop
  wait $pid
  same 0 $?
}

case_a_small_line_pauses_or_evicts() {
  cat >grow.py <<'GROW'
import time
held = []
for i in range(60):
    held.append(bytearray(1 << 20))
    time.sleep(0.015)
time.sleep(0.3)
GROW
  yes "$python grow.py $needle" | head -n 4 >jobs
  none 0 batch --line 130M --memory-hint 5M --cores 8 -j4 --report rep --progress plain jobs
  has err 'paused:'
  tail -n 1 rep >run.json
  told run.json 'r["pauses"] + r["evictions"] > 0' 'r["outcomes"] == {"exited": 4}' \
    'r["used_peak_bytes"] < 160 << 20'
  gives 0 "$plimsoll" explain last
  gives 0 "$plimsoll" history
  check_all_gone
}

start_victim() {
  printf '%s\n' "$daemon; $sleeper" "trap '' TERM INT HUP; $daemon; $sleeper & $sleeper" \
    "while :; do true | true; sleep 0.05; : $needle; done" >jobs
  "$plimsoll" batch --cgroup none -q -j3 --cores 100 --memory-hint 1M jobs >/dev/null 2>err &
  guardian=$!
  becomes_true eval '(($(started_here | wc -l) >= 6))'
  supervisor=$(supervisor_of $guardian)
}

case_the_supervisor_is_killed() {
  start_victim
  kill -KILL "$supervisor"
  wait $guardian
  same 125 $?
  has err 'supervisor process was ended by signal 9'
  check_all_gone
}

case_the_guardian_is_killed() {
  start_victim
  kill -KILL $guardian
  wait $guardian 2>/dev/null
  becomes_true gone "$supervisor"
  has err 'was killed'
  check_all_gone
}

case_both_are_killed() {
  start_victim
  kill -KILL $guardian "$supervisor"
  wait $guardian 2>/dev/null
  becomes_true gone "$supervisor"
  gives 0 reap_stale
  check_all_gone
}

case_both_are_killed_and_another_starts() {
  start_victim
  kill -KILL $guardian "$supervisor"
  wait $guardian 2>/dev/null
  becomes_true gone "$supervisor"
  none 0 run -q -- sleep 1
  check_all_gone
}

# Sleeps only where its limit stops it, so that the test itself gets a CPU.
bomb='
import os, time
while True:
    try: os.fork()
    except OSError: time.sleep(0.02)'

case_a_fork_bomb() {
  # Of a user of its own, as its limit counts all processes of a user.
  is_root || skip 'not root'
  look_for_no_leaks
  cp "$plimsoll" program
  chmod 755 . program
  gives 124 timeout -k 5 40 setpriv --reuid $bomber --regid $bomber --clear-groups \
    env PLIMSOLL_STATE_DIR=/nonexistent PLIMSOLL_RUNTIME_DIR=/nonexistent prlimit --nproc=100 \
    ./program run -q --cgroup none --timeout 2s --kill-after 200ms -- "$python" -c "$bomb" $needle
  check_all_gone
}

case_the_supervisor_of_a_fork_bomb_is_killed() {
  is_root || skip 'not root'
  look_for_no_leaks
  cp "$plimsoll" program
  chmod 755 . program
  setpriv --reuid $bomber --regid $bomber --clear-groups prlimit --nproc=60 \
    ./program run -q --cgroup none -- "$python" -c "$bomb" $needle 2>err &
  guardian=$!
  becomes_true eval '(($(started_here | wc -l) > 20))'
  kill -KILL "$(supervisor_of $guardian)"
  wait $guardian
  same 125 $?
  check_all_gone
}

case_a_run_within_a_job() {
  none 3 run -q -- "$plimsoll" run -q --cgroup none -- sh -c "$daemon; exit 3"
  check_all_gone
  none 124 run -q --timeout 1s -- "$plimsoll" run -q --cgroup none -- sh -c "$daemon; $sleeper"
  check_all_gone
}

# What the shell that Plimsoll was executed from had started is none of ours.
case_children_from_before_are_left_alone() {
  echo "$daemon; sleep 0.3" >job
  sh -c "$sleeper & echo \$! >before; exec \"\$0\" run -q --cgroup none -- sh job" "$plimsoll"
  lives "$(<before)" || wrong 'a process that was there before was ended'
  kill -KILL "$(<before)"
  check_all_gone
}

case_doctor_says_so() {
  gives 0 "$plimsoll" doctor --cgroup none
  has out 'process mode'
  has out 'memory is sampled'
}

case_nothing_is_left() { check_all_gone; }

run_cases "${1:-}"

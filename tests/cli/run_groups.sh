#!/bin/bash
# `plimsoll run`: limits, what is left behind, time-outs, signals, and others beside it.
# shellcheck disable=SC2016 # dollars in single quotes are for the shells that are run
set -u
source "$(dirname "$0")/cases.bash"

# --- limits

case_limits_are_set_on_the_group() {
  run 0 --pids-max 123 -- sh -c "$cat_own own pids/pids.max"
  same 123 "$(<out)"
  run 0 --cpus 1.5 -- sh -c "$cat_own own cpu/cpu.max cpu/cpu.cfs_quota_us"
  [[ $(<out) == '150000 100000' || $(<out) == 150000 ]] || wrong "cpus: $(<out)"
  run 0 --cpuset 0 -- sh -c "$cat_own own cpuset/cpuset.cpus; grep Cpus_allowed_list /proc/self/status"
  same $'0\nCpus_allowed_list:\t0' "$(<out)"
  run 0 --cpu-weight 200 -- sh -c "$cat_own own cpu/cpu.weight cpu/cpu.shares"
  [[ $(<out) == 200 || $(<out) == 2048 ]] || wrong "cpu-weight: $(<out)"
  run 0 --memory-max 64M -- sh -c "$cat_own own memory/memory.max memory/memory.limit_in_bytes"
  same $((64 << 20)) "$(<out)"
  run 0 --pids-max 50 --cpus 1 --cpuset 0 --memory-max 1G --cpu-weight 50 -- sh -c "$cat_own"'
    own pids/pids.max; own cpuset/cpuset.cpus'
  same $'50\n0' "$(<out)"
}

# Looked at from outside: a shell takes long with so little.
case_a_thousandth_of_a_core_is_a_thousandth() {
  "$plimsoll" run --cpus 0.001 -- sleep 1000 >out 2>err &
  local pid=$! seen=''
  look() {
    cd "$(mount_of cpu)$PLIMSOLL_CGROUP"/plimsoll-*/pool/job-1 || return
    seen=$(cat cpu.max || echo "$(<cpu.cfs_quota_us) $(<cpu.cfs_period_us)")
    cd - >/dev/null && [[ $seen == '1000 1000000' ]]
  }
  becomes_true look || wrong "quota and period: $seen"
  kill -TERM $pid
  wait $pid
  same 143 $? "$(<err)"
}

case_processes_over_the_limit_are_refused() {
  run 0 --pids-max 5 --report report.json -- "$python" -c '
import subprocess
children = []
try:
    for _ in range(20): children.append(subprocess.Popen(["sleep", "1000"]))
except OSError as error:
    print(len(children), type(error).__name__)'
  same '4 BlockingIOError' "$(<out)"
  told report.json 'r["pids"]["peak"] == 5' 'len(r["left_behind"]) == 4'
}

case_a_fork_bomb_within_its_limit() {
  run 124 --pids-max 60 --timeout 1s --kill-after 0s -- sh -c 'bomb() { bomb | bomb & }; (bomb) 2>/dev/null & exec sleep 1000' 
  becomes_true eval '[[ -z $(processes_left) ]]'
}

case_memory_high() {
  if on_v1 memory; then
    run 125 --memory-high 1G -- touch started
    has err '--memory-max'
    has err 'cgroup v1'
    [[ ! -e started ]] || wrong started
  else
    run 0 --memory-high 64M -- sh -c "$cat_own own memory/memory.high"
    same $((64 << 20)) "$(<out)"
  fi
}

# --- the end

case_what_is_left_behind_is_named_and_killed() {
  run 3 --report report.json -- sh -c '
    sleep 1000 & echo $! >pid
    until grep -q sleep "/proc/$!/comm"; do sleep 0.01; done
    exit 3'
  gone "$(<pid)" || wrong "$(<pid) lives"
  told report.json 'r["outcome"] == "exited"' '[p["comm"] for p in r["left_behind"]] == ["sleep"]' \
    "r['left_behind'][0]['pid'] == $(<pid)"
  has err sleep
}

case_daemons_do_not_get_away() {
  run 0 --report report.json -- sh -c '(setsid sh -c "setsid sleep 1000 & echo \$! >pid" &)
    until [ -s pid ] && grep -q sleep "/proc/$(cat pid)/comm"; do sleep 0.01; done'
  gone "$(<pid)" || wrong "$(<pid) lives"
  told report.json '"sleep" in [p["comm"] for p in r["left_behind"]]'
}

# escape DIRECTORY: what a job does to leave its v2 group for another one of the same tree.
case_moving_to_another_group_of_the_tree_does_not_help() {
  is_root || skip 'not root'
  local where
  for where in '..' '../other' '../../other' '../../other/deeper'; do
    rm -f pid moved
    run 0 -- sh -c '
      root=$(awk "\$3 == \"cgroup2\" { print \$2; exit }" /proc/mounts)
      group=$root$(grep ^0:: /proc/self/cgroup | cut -d: -f3-)
      sleep 1000 & echo $! >pid
      mkdir -p "$group/$1" 2>/dev/null
      echo $(cat pid) >"$group/$1/cgroup.procs" && touch moved
      exit 0' sh "$where"
    gone "$(<pid)" || wrong "$(<pid) lives after moving to $where"
    becomes_true eval '[[ -z $(groups_left) ]]'
  done
}

case_a_job_that_makes_groups_of_its_own() {
  is_root || skip 'not root'
  run 0 -- sh -c '
    root=$(awk "\$3 == \"cgroup2\" { print \$2; exit }" /proc/mounts)
    group=$root$(grep ^0:: /proc/self/cgroup | cut -d: -f3-)
    mkdir -p "$group/a/b/c"; sleep 1000 & echo $! >"$group/a/b/c/cgroup.procs"; echo $! >pid'
  gone "$(<pid)" || wrong "$(<pid) lives"
  becomes_true eval '[[ -z $(groups_left) ]]'
}

# A job that leaves so many empty groups, one in another. Its directory is a relative one: the path
# from the root is too long.
nest='
  root=$(awk "\$3 == \"cgroup2\" { print \$2; exit }" /proc/mounts)
  cd "$root$(grep ^0:: /proc/self/cgroup | cut -d: -f3-)" || exit
  for i in $(seq "$1"); do mkdir n && cd n || exit; done
  exit 4'

case_groups_deep_in_groups() {
  is_root || skip 'not root'
  local depth
  for depth in 63 64 70 200; do
    gives 4 timeout "$patience" "$plimsoll" run -q -- sh -c "$nest" sh "$depth"
    empty err
    [[ -z $(groups_left) ]] || wrong "left at depth $depth: $(groups_left | tail -n 1)"
  done
  echo "$nest" >nest.sh
  gives 3 timeout "$patience" "$plimsoll" batch -q -- sh nest.sh ::: 3 70 130
  empty err
  [[ -z $(groups_left) ]] || wrong "left: $(groups_left | tail -n 1)"
}

case_reap_of_groups_deep_in_groups() {
  is_root || skip 'not root'
  local top i
  top=$(awk '$3 == "cgroup2" { print $2; exit }' /proc/mounts)$PLIMSOLL_CGROUP/top
  mkdir -p "$top"
  (cd "$top" && for i in {1..80}; do mkdir n && cd n; done
    sleep 1000 & echo $! >cgroup.procs)
  gives 0 timeout "$patience" "$plimsoll" reap "$top"
  [[ ! -e $top ]] || wrong 'it is still there'
}

case_on_time_out_a_job_may_clean_up() {
  local soon
  # The shell must have its trap by then.
  for soon in 300ms 3s 20s; do
    run 124 --timeout $soon --kill-after 30s --report report.json -- \
      sh -c 'trap "echo cleaned up; exit 7" TERM; touch ready; sleep 1000 & wait'
    [[ ! -e ready ]] || break
  done
  same 'cleaned up' "$(<out)"
  told report.json 'r["outcome"] == "timed_out"' 'r["exit_code"] == 7'
}

case_on_time_out_a_job_that_will_not_end_is_killed() {
  local soon
  for soon in 200ms 2s 20s; do
    run 124 --timeout $soon --kill-after 100ms --report report.json -- \
      sh -c 'trap "" TERM; touch ready; while :; do sleep 0.01; done'
    [[ ! -e ready ]] || break
  done
  told report.json 'r["signal"] == "KILL"' 'r["outcome"] == "timed_out"'
  run 124 --timeout $soon --kill-after 0s -- sh -c 'trap "" TERM; while :; do sleep 0.01; done'
}

case_on_time_out_a_stopped_job_ends() {
  run 124 --timeout 100ms -- sh -c 'kill -STOP $$'
}

# --- signals

# started STATUS-FILE COMMAND...: in the background, in a process group of its own with no signal
# ignored; $! is its pid. It is ready when the file `ready` exists.
started() {
  "$python" -c '
import os, signal, sys
os.setpgid(0, 0)
for number in (signal.SIGINT, signal.SIGQUIT): signal.signal(number, signal.SIG_DFL)
os.execv(sys.argv[1], sys.argv[1:])' "$plimsoll" "$@" >out 2>err &
}

case_signals_go_on_to_the_command() {
  local signal pid
  for signal in TERM INT HUP QUIT USR1 USR2; do
    rm -f ready
    started run -q -- sh -c 'trap "echo got it; exit 9" '"$signal"'; touch ready; while :; do sleep 0.01; done'
    pid=$!
    becomes_true test -e ready
    kill -"$signal" "$pid"
    wait "$pid"
    same 9 $? "$signal"
    same 'got it' "$(<out)" "$signal"
  done
}

case_a_signal_without_a_handler_ends_it() {
  local pid
  started run -- sh -c 'touch ready; exec sleep 1000'
  pid=$!
  becomes_true test -e ready
  kill -TERM "$pid"
  wait "$pid"
  same 143 $?
}

case_a_signal_arrives_once() {
  local pid
  started run -q -- "$python" -c '
import signal, time
got = []
signal.signal(signal.SIGUSR1, lambda *_: got.append(1))
open("ready", "w").close()
end = time.time() + 60
while not got and time.time() < end: time.sleep(0.01)
time.sleep(0.3)
print(len(got))'
  pid=$!
  becomes_true test -e ready
  kill -USR1 "$pid"
  wait "$pid"
  same 1 "$(<out)"
}

# A shell script that cleans up with `kill 0` signals plimsoll as well, which is in its group.
case_a_signal_of_the_jobs_own_does_not_come_back() {
  local pid
  started run -q -- "$python" -c '
import os, signal, time
got = []
signal.signal(signal.SIGTERM, lambda *_: got.append(1))
os.kill(0, signal.SIGTERM)
time.sleep(0.5)
print(len(got))'
  pid=$!
  wait "$pid"
  same 0 $?
  same 1 "$(<out)"
}

case_nohup() {
  local pid
  nohup "$plimsoll" run -q -- sh -c 'kill -HUP $$; touch ready; sleep 0.3; echo alive' >out 2>err &
  pid=$!
  becomes_true test -e ready
  kill -HUP "$pid"
  wait "$pid"
  same 0 $?
  same alive "$(<out)"
}

# A terminal that is closed tells both processes of a batch, whose jobs are in sessions of their own. It goes on.
case_nohup_batch() {
  local pid
  nohup "$plimsoll" batch --progress none -- sh -c 'touch ready; until [ -e go ]; do sleep 0.05; done; echo alive' \
    ::: once >out 2>err &
  pid=$!
  becomes_true test -e ready
  kill -HUP "$pid" "$(supervisor_of "$pid")" || wrong 'HUP'
  sleep 0.3
  touch go
  wait "$pid"
  same 0 $?
  has out alive
}

# A shell ends its loop when what it runs dies of the signal, not when it says so by its status.
case_who_is_ended_by_a_signal_dies_of_it() {
  "$python" - "$plimsoll" <<'END' >out 2>&1 || wrong "$(<out)"
import os, signal, subprocess, sys, time
plimsoll, wrong = sys.argv[1], 0
job = "echo $$ >ready; exec sleep 1000"

def ended(expected, command, *signals, stdin=None, **how):
    global wrong
    if os.path.exists("ready"): os.remove("ready")
    child = subprocess.Popen([plimsoll, *command], stderr=subprocess.PIPE, start_new_session=True, **how)
    while not os.path.exists("ready") or not open("ready").read(): time.sleep(0.01)
    err = b""
    for i, number in enumerate(signals):
        # Of two at once the kernel may make one.
        while i > 0 and b"interrupted" not in err:
            part = os.read(child.stderr.fileno(), 1000)
            if not part: break
            err += part
        child.send_signal(number)
    err += child.communicate()[1]
    if child.returncode != expected:
        wrong = 1
        print(command[:3], signals, "expected", expected, "saw", child.returncode, err)

for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
    ended(-number, ["run", "-q", "--", "sh", "-c", job], number)
    again = (number, number) if number == signal.SIGINT else (number,)
    ended(-number, ["batch", "-q", "--", job + "; : {}", ":::", "1"], *again)
# The first signal tells why it ended.
ended(-signal.SIGINT, ["batch", "-q", "--", job + "; : {}", ":::", "1"], signal.SIGINT, signal.SIGTERM)
# Who has caught it and ended in its own way has done so.
ended(7, ["run", "-q", "--", "sh", "-c", 'trap "exit 7" INT; echo >ready $$; while :; do sleep 0.01; done'],
      signal.SIGINT)
# Of a signal that nobody has sent to Plimsoll, the status tells alone.
ended(143, ["run", "-q", "--", "sh", "-c", "echo $$ >ready; sleep 0.1; kill -TERM $$"])
# What was ignored from the start stays so.
ignoring = lambda: signal.signal(signal.SIGHUP, signal.SIG_IGN)
ended(0, ["batch", "-q", "--", "echo $$ >ready; sleep 1; : {}", ":::", "1"], signal.SIGHUP, preexec_fn=ignoring)
ended(0, ["run", "-q", "--", "sh", "-c", "echo $$ >ready; sleep 1"], signal.SIGHUP, preexec_fn=ignoring)
# Children are waited for, whatever the caller does with its own.
ended(5, ["run", "-q", "--", "sh", "-c", "echo $$ >ready; exit 5"],
      preexec_fn=lambda: signal.signal(signal.SIGCHLD, signal.SIG_IGN))
sys.exit(wrong)
END
}

# A single command stands where its caller had it; a job of many starts afresh.
case_ignored_signals_are_for_the_command_alone() {
  local ignoring=0000000000001003
  ignored_in() { (trap '' HUP INT PIPE && exec "$plimsoll" "$@") >out 2>err </dev/null; awk '{ print $2 }' out; }
  same "$ignoring" "$(ignored_in run -q -- grep SigIgn /proc/self/status)" run
  same 0000000000000000 "$(ignored_in batch -q -- 'exec grep SigIgn /proc/self/status; : {}' ::: 1)" batch
}

case_in_the_background() {
  "$plimsoll" run -q -- sh -c 'cat; exit 6' >out 2>err &
  wait $!
  same 6 $?
}

# --- together

case_many_at_once_below_one_new_group() {
  local i pids=() pid
  for i in 1 2 3; do
    pids=()
    for _ in 1 2 3 4 5 6 7 8; do
      "$plimsoll" run --cgroup "$PLIMSOLL_CGROUP/new/deeper" -q -- true 2>>errors &
      pids+=($!)
    done
    for pid in "${pids[@]}"; do
      wait "$pid"
      same 0 $? "round $i"
    done
    # What the runs have made of the path goes with the last of them.
    [[ -z $(groups_left) ]] || wrong "left: $(groups_left)"
  done
  [[ ! -s errors ]] || wrong "$(sort errors | uniq -c)"
}

case_one_within_another() {
  run 7 -- "$plimsoll" run -q -- "$plimsoll" run -q --pids-max 20 -- sh -c 'exit 7'
  run 124 --timeout 300ms -- "$plimsoll" run -q -- sh -c 'sleep 1000 & wait'
  becomes_true eval '[[ -z $(groups_left) ]]'
}

case_without_a_named_group() {
  is_root || skip 'not root'
  (
    unset PLIMSOLL_CGROUP
    run 7 -- sh -c 'cat /proc/self/cgroup; exit 7'
    has out plimsoll-
  )
}

case_jobserver_of_make() {
  type -P make >/dev/null || skip 'no make'
  printf 'all:\n\t+%s run -q -- $(MAKE) -f inner.mk\n' "$plimsoll" >Makefile
  printf 'all: a b c\na b c:\n\t@echo made $@\n' >inner.mk
  gives 0 make -j2
  same 3 "$(grep -c ^made out)"
  lacks err jobserver
}

case_nothing_is_left() {
  becomes_true nothing_left || wrong "left: $(groups_left) $(processes_left)"
}

run_cases "${1:-}"

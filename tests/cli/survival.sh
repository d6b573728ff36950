#!/bin/bash
# Nothing survives: plimsoll's own processes are killed at random moments, with trees of processes
# under them, and no process and no group of theirs may be left.
# long: a run for each round
# program: released
#
# ROUNDS (15) rounds with JOBS (20) jobs, taken in turns: the supervisor, the guardian, both at once,
# both of one that has only just started.
# SHORT_JOBS (1000), at least 300: whether each leaves a descriptor behind.
# shellcheck disable=SC2016,SC2317 # dollars for the shells that are run; called by name
set -u
source "$(dirname "$0")/cases.bash"
rounds=${ROUNDS:-15}
short_jobs=${SHORT_JOBS:-1000}
readonly jobs=${JOBS:-20}

# What a job is: a shell with a daemon, a process that ignores what can be ignored, and a busy one
# that makes children all the time.
job='
(setsid sh -c "setsid sleep 1000 &" &)
sh -c "trap \"\" TERM INT HUP; sleep 1000; sleep 1000" &
while :; do true | true; sleep 0.05; done'

# A pause of up to MILLISECONDS.
pause() { sleep "$(printf '0.%03d' $((RANDOM % $1)))"; }

start_runs() {
  local i
  guardians=()
  for ((i = 0; i < jobs; i++)); do
    "$plimsoll" run -q --pids-max 50 -- sh -c "$job" 2>"err.$i" &
    guardians+=($!)
  done
}

# A batch holds the same jobs under one supervisor.
start_batch() {
  yes "sh $PWD/job" | head -n $jobs >jobs.txt
  "$plimsoll" batch -j $jobs --cores 1000 --memory-hint 1M --pids-max 50 jobs.txt >/dev/null 2>err.0 &
  guardians=($!)
}

start_jobs() {
  echo "$job" >job
  if ((round % 2)); then start_batch; else start_runs; fi
}

under_way() { (($(processes_left | wc -l) >= jobs * 3)); }

kill_supervisors() {
  local guardian status i=0
  for guardian in "${guardians[@]}"; do
    becomes_true eval '[[ $(supervisor_of '"$guardian"') ]]' || return
    # shellcheck disable=SC2046 # one word or none
    kill -KILL $(supervisor_of "$guardian")
  done
  for guardian in "${guardians[@]}"; do
    wait "$guardian" 2>/dev/null
    status=$?
    same 125 $status 'the guardian'
    has "err.$i" 'supervisor process was ended by signal 9'
    i=$((i + 1))
  done
}

kill_guardians() {
  local guardian i=0 supervisors=()
  for guardian in "${guardians[@]}"; do
    becomes_true eval '[[ $(supervisor_of '"$guardian"') ]]' || return
    supervisors+=("$(supervisor_of "$guardian")")
  done
  kill -KILL "${guardians[@]}"
  wait "${guardians[@]}" 2>/dev/null
  for i in "${!supervisors[@]}"; do
    becomes_true gone "${supervisors[i]}"
    has "err.$i" 'was killed; all jobs were killed with it'
  done
}

kill_both() {
  local guardian both=()
  for guardian in "${guardians[@]}"; do
    # shellcheck disable=SC2207 # pids are words
    both+=("$guardian" $(supervisor_of "$guardian"))
  done
  kill -KILL "${both[@]}"
  wait "${guardians[@]}" 2>/dev/null
  # A killed process is not dead at once.
  for guardian in "${both[@]}"; do becomes_true gone "$guardian"; done
  reap_stale >reaped 2>&1 || wrong "reap --stale: $(<reaped)"
}

# Says what is left and ends it, so that the next round starts from nothing.
check_nothing_left() {
  becomes_true nothing_left && return
  wrong "round $round, $1: $(groups_left | wc -l) groups, as $(groups_left | head -n 1); processes $(
    for pid in $(processes_left | head -n 5); do echo "$pid $(tr '\0' ' ' <"/proc/$pid/cmdline")"; done)"
  "$plimsoll" reap "$PLIMSOLL_CGROUP" >/dev/null 2>&1
}

case_killed_at_any_moment() {
  local victims=(supervisors guardians both both)
  draws_are_told
  for ((round = 0; round < rounds; round++)); do
    victim=${victims[(round / 2) % 4]}
    start_jobs
    # At its start, among the starts of jobs, or with all of them running.
    if ((round % 3)); then becomes_true under_way; fi
    pause 300
    "kill_$victim"
    check_nothing_left "$victim"
    ((wrong == 0)) || return
  done
}

case_the_next_start_sweeps_what_both_left() {
  round=0
  start_runs
  becomes_true under_way
  local guardian both=()
  for guardian in "${guardians[@]}"; do
    # shellcheck disable=SC2207
    both+=("$guardian" $(supervisor_of "$guardian"))
  done
  kill -KILL "${both[@]}"
  wait "${guardians[@]}" 2>/dev/null
  for guardian in "${both[@]}"; do becomes_true gone "$guardian"; done
  run 0 -- true
  # The sweep does not hold up the command, and need not be over when that is.
  becomes_true eval 'nothing_left || { "$plimsoll" run -q true; false; }'
  check_nothing_left 'the next start'
}

case_a_sweep_leaves_the_living_alone() {
  "$plimsoll" run -q -- sh -c 'touch ready; while [ ! -e stop ]; do sleep 0.01; done; exit 9' &
  local pid=$! i
  becomes_true test -e ready
  for i in 1 2 3; do run 0 -- true; done
  gives 0 reap_stale
  touch stop
  wait $pid
  same 9 $?
}

# Who could lock the directories of a run could keep them from being swept once it is dead.
case_nobody_else_locks_the_groups_of_a_run() {
  is_root || skip 'not root'
  local pid group groups
  "$plimsoll" run -q -- sh -c 'touch ready; while [ ! -e stop ]; do sleep 0.01; done' &
  pid=$!
  becomes_true test -e ready
  mapfile -t groups < <(groups_left | grep -E '/plimsoll-[-0-9a-f]+$')
  ((${#groups[@]} > 0)) || wrong 'there is no group of the run'
  for group in "${groups[@]}"; do
    ! setpriv --reuid 65534 --regid 65534 --clear-groups flock --shared --nonblock "$group" true 2>/dev/null ||
      wrong "$group can be locked by another user"
  done
  touch stop
  wait $pid
  # Their own groups are open to jobs of another user all the same.
  run 0 --uid 65534:65534 -- sh -c '
    path=$(sed -n "s/^0:://p" /proc/self/cgroup)
    for root; do ! test -r "$root$path/cgroup.procs" || exit 0; done
    exit 1' sh $(hierarchies_used)
}

case_reap_removes_the_path_that_a_dead_run_had_made() {
  is_root || skip 'not root'
  local pid supervisor
  keep_the_stale
  "$plimsoll" run -q --cgroup "$PLIMSOLL_CGROUP/made/deeper" -- sh -c 'touch ready; sleep 1000' 2>err &
  pid=$!
  becomes_true test -e ready
  supervisor=$(supervisor_of $pid)
  # Or one would clean up before it is killed: also a supervisor that is stopped, as the kernel
  # continues it when the guardian is gone.
  kill -STOP "$supervisor" "$pid"
  kill -KILL "$supervisor" "$pid"
  wait $pid 2>/dev/null
  becomes_true gone "$supervisor"
  [[ $(groups_left) == */made/deeper/plimsoll-* ]] || wrong "expected the dead run's groups: $(groups_left)"
  gives 0 reap_stale
  has out 'reaped plimsoll-'
  has out "/made/deeper"
  nothing_left || wrong "left: $(groups_left)"
  # A path that was there already is the user's.
  mkdir -p "$(mount_of memory)$PLIMSOLL_CGROUP/mine"
  gives 0 reap_stale
  rmdir "$(mount_of memory)$PLIMSOLL_CGROUP/mine" || wrong 'a group of the user was removed'
}

case_descriptors_stay_bounded() {
  local pid i most=0 now
  yes true | head -n "$short_jobs" >jobs.txt
  "$plimsoll" batch -j 4 jobs.txt >/dev/null 2>err &
  pid=$!
  becomes_true eval '[[ $(supervisor_of '$pid') ]]'
  local supervisor
  supervisor=$(supervisor_of $pid)
  while [[ -e /proc/$supervisor/fd ]]; do
    for i in "$supervisor" "$pid"; do
      now=$(ls "/proc/$i/fd" 2>/dev/null | wc -l)
      ((now <= most)) || most=$now
    done
    sleep 0.2 # an emulated processor has better to do
  done
  wait $pid
  same 0 $?
  # A job that runs or is being removed takes about 30; one descriptor lost with each would show.
  ((most > 0 && most < 200 + short_jobs / 2)) || wrong "$most descriptors"
}

case_a_kill_by_the_process_group() {
  # `kill -9 -PGID` of the caller's job takes the guardian and the command, not the supervisor.
  "$python" -c '
import os, sys
os.setpgid(0, 0)
os.execv(sys.argv[1], sys.argv[1:])' "$plimsoll" run -q -- sh -c 'setsid sleep 1000 & echo $! >pid; sleep 1000' &
  local pid=$!
  becomes_true test -s pid
  kill -KILL -- -$pid
  wait $pid 2>/dev/null
  becomes_true gone "$(<pid)"
  check_nothing_left 'the process group'
}

# --- stopped

case_a_job_that_stops_the_guardian_holds_up_nobody() {
  gives 0 timeout "$patience" "$plimsoll" batch --progress plain -- 'kill -STOP $PPID; echo {}' ::: a b
  same $'a\nb' "$(sort out)"
  has err 'which starts the jobs, was stopped by a signal from another process; Plimsoll continues it'
  # Alone in a terminal it is as Ctrl-Z, and the shell that sees it continues it.
  "$plimsoll" run -q -- sh -c 'kill -STOP $PPID; exit 7' &
  local pid=$!
  becomes_true grep -q '^State:.T (stopped)' "/proc/$pid/status"
  kill -CONT $pid
  wait $pid
  same 7 $?
}

case_a_job_that_stops_the_supervisor_is_told() {
  local supervisor job='kill -STOP $(grep -lx pl-supervisor $(sed "s|[0-9]*|/proc/&/comm|g" /proc/$PPID/task/$PPID/children) |
    cut -d / -f 3); touch stopped; : {}'
  "$plimsoll" batch --progress plain -- "$job" ::: a >out 2>err &
  local pid=$!
  becomes_true test -e stopped
  becomes_true grep -q 'which watches the jobs, was stopped by a signal from another process' err
  supervisor=$(supervisor_of $pid)
  has err "process $supervisor,"
  kill -CONT "$supervisor"
  wait $pid
  same 0 $?
}

case_nothing_is_left() { check_nothing_left 'the end'; }

run_cases "${1:-}"

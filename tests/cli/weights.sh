#!/bin/bash
# What a run gets of the CPU beside others: its caller's nice value, --weight and --cpu-weight.
#
# Mostly on one CPU, where the kernel divides time among groups beside each other as their weights say,
# whatever else the machine does. Ratios of CPU time, never seconds.
# alone: processors are divided among these groups and whoever else wants one
# shellcheck disable=SC2016 # dollars in single quotes are for the shells that are run
set -u
source "$(dirname "$0")/cases.bash"

is_root || skip_all 'not root'
[[ -e $(mount_of cpu)/cgroup.procs ]] || skip_all 'no hierarchy has the cpu controller'

burn='echo $$ >pid; while :; do :; done'
enough_us=200000 # of each neighbour: many turns of all

# had_us PID...: CPU time that they have had together, in microseconds. They have one thread each.
had_us() {
  local pid
  for pid; do cat "/proc/$pid/schedstat" 2>/dev/null; done | awk '{ sum += $1 } END { printf "%.0f\n", sum / 1000 }'
}

# beside: a busy loop in a group beside those of runs, with the weight that a group has by itself.
# neighbours: the pids of those who compute beside the runs of a case.
beside() {
  local group
  group=$(mount_of cpu)$PLIMSOLL_CGROUP/beside
  mkdir -p "$group"
  taskset -c 0 bash -c 'while :; do :; done' &
  neighbours=($!)
  echo "${neighbours[0]}" >"$group/cgroup.procs"
}

# sessions N: as many busy loops, each a session of its own, in turn on one CPU and the other. Left to
# choose they may all be on one for some 100 ms, and then the other goes to whoever weighs nothing.
sessions() {
  local i
  neighbours=()
  for ((i = 0; i < $1; i++)); do
    setsid taskset -c $((i % 2)) bash -c 'while :; do :; done' &
    neighbours+=($!)
  done
}

end_beside() {
  kill -KILL "${neighbours[@]}"
  wait "${neighbours[@]}" 2>/dev/null
  rmdir "$(mount_of cpu)$PLIMSOLL_CGROUP/beside" 2>/dev/null
}

# end_run PID
end_run() {
  kill -TERM "$1"
  wait "$1" 2>/dev/null
  rm -f pid
}

# is_weighed: whether the job whose pid is in `pid` is in a group of its run.
is_weighed() { grep -qE ':([a-z_,]*,)?cpu(,[a-z_,]*)?:.*/plimsoll-|^0::.*/plimsoll-.*/pool' "/proc/$(<pid)/cgroup"; }

# ratio_is LOW HIGH PID...: what these had, all together, against what the neighbours had, is within.
# Both are counted from now on.
ratio_is() {
  local low=$1 high=$2 mine other before other_before
  shift 2
  before=$(had_us "$@") other_before=$(had_us "${neighbours[@]}")
  enough() {
    mine=$(($(had_us "$@") - before)) other=$(($(had_us "${neighbours[@]}") - other_before))
    ((mine + other >= enough_us * (${#neighbours[@]} + 1)))
  }
  becomes_true enough "$@" || return
  # Who has nearly no weight may not have had a turn yet, which is some milliseconds.
  awk -v r="$mine" -v o="$other" -v l="$low" -v h="$high" -v turn=4000 \
    'BEGIN { exit !(r >= l * o - 10000 && r <= h * (o > turn ? o : turn) + 10000) }' ||
    wrong "$mine us against $other us, expected a ratio of $low to $high"
}

# Beside one other of the default weight; two jobs of one run count together.
case_the_weight_of_a_batch() {
  local weight low high run
  beside
  while read -r weight low high; do
    # Both are to be counted, and a second one that computes would wait for a core here.
    taskset -c 0 "$plimsoll" batch -q -j2 --cores 4 --weight "$weight" -- \
      'echo $$ >pid-{}; while :; do :; done' ::: 1 2 2>err &
    run=$!
    becomes_true test -s pid-1 && becomes_true test -s pid-2 && ratio_is "$low" "$high" "$(<pid-1)" "$(<pid-2)"
    end_run "$run"
    rm -f pid-*
  done <<'END'
1 0 0.05
100 0.7 1.4
400 2.8 5.6
10000 20 100000
END
  end_beside
  becomes_true nothing_left || wrong 'something is left'
}

case_the_cpu_weight_of_a_single_job_is_against_others() {
  local low high options run
  beside
  while read -r low high options; do
    # shellcheck disable=SC2086 # several words
    taskset -c 0 "$plimsoll" run -q $options -- bash -c "$burn" 2>err &
    run=$!
    becomes_true test -s pid && ratio_is "$low" "$high" "$(<pid)"
    end_run "$run"
  done <<'END'
0 0.05 --cpu-weight 1
0.7 1.4 --cpu-weight 100
20 100000 --cpu-weight 10000
0.7 1.4 --weight 200 --cpu-weight 50
END
  end_beside
  becomes_true nothing_left || wrong 'something is left'
}

# Its jobs have sessions of their own, each of which would have a share of the machine to itself.
case_the_callers_nice_value_is_that_of_all_jobs() {
  local run
  beside
  taskset -c 0 nice -n 19 "$plimsoll" batch -q -j2 -- 'echo $$ >pid; : {}; while :; do :; done' ::: 1 2 2>err &
  run=$!
  becomes_true test -s pid
  if is_weighed; then
    ratio_is 0 0.05 "$(<pid)"
  else
    grep -q 1 /proc/sys/kernel/sched_autogroup_enabled && [[ $(cat /proc/self/cgroup) == *:cpu:/$'\n'* ]] &&
      wrong "the jobs have no group: $(cat "/proc/$(<pid)/cgroup")"
  fi
  same 19 "$(awk '{ sub(/.*\) /, ""); print $17 }' "/proc/$(<pid)/stat")" 'nice value of the job'
  end_run "$run"
  end_beside
  becomes_true nothing_left || wrong 'something is left'
}

# What somebody sees who sends a batch to the background of a machine that is in use: a group that is
# made for it stands beside the sessions of all others.
case_a_niced_batch_beside_sessions() {
  local run
  (($(nproc) >= 2)) || skip 'one CPU'
  grep -q 1 /proc/sys/kernel/sched_autogroup_enabled && [[ $(cat /proc/self/cgroup) == *:cpu,*:/$'\n'* ||
    $(cat /proc/self/cgroup) == *:cpu:/$'\n'* ]] || skip 'sessions are not weighed here'
  sessions 4
  taskset -c 0,1 nice -n 19 "$plimsoll" batch -q -j2 --cores 4 --standalone --cgroup "/plimsoll-test-$$-niced" -- \
    'echo $$ >pid-{}; while :; do :; done' ::: 1 2 2>err &
  run=$!
  becomes_true test -s pid-1 && becomes_true test -s pid-2 && ratio_is 0 0.05 "$(<pid-1)" "$(<pid-2)"
  end_run "$run"
  end_beside
  becomes_true nothing_left || wrong 'something is left'
}

# A group that is made for a run is no heavier than the run; of two runs in it the heavier counts, for
# as long as it is there.
case_a_named_group_weighs_what_is_in_it() {
  local light heavy
  beside
  taskset -c 0 nice -n 19 "$plimsoll" batch -q --cgroup "$PLIMSOLL_CGROUP/new/deep" -- \
    'echo $$ >light; : {}; while :; do :; done' ::: 1 2>err &
  light=$!
  becomes_true test -s light && ratio_is 0 0.05 "$(<light)"
  taskset -c 0 "$plimsoll" batch -q --cgroup "$PLIMSOLL_CGROUP/new/deep" -- \
    'echo $$ >heavy; : {}; while :; do :; done' ::: 1 2>err2 &
  heavy=$!
  becomes_true test -s heavy && ratio_is 0.7 1.4 "$(<heavy)"
  end_run "$heavy"
  ratio_is 0 0.05 "$(<light)"
  end_run "$light"
  end_beside
  becomes_true nothing_left || wrong 'something is left'
}

# weighted WEIGHT NAME [BELOW]: starts a run of this weight in the named group, or below it, whose job
# waits for the file `stop`; `started` is its pid, once its job has begun.
weighted() {
  "$plimsoll" run -q ${1:+--weight $1} --cgroup "$PLIMSOLL_CGROUP/new/deep${3:-}" -- \
    sh -c "touch $2; while [ ! -e stop ]; do sleep 0.05; done" 2>"err-$2" &
  started=$!
  becomes_true test -e "$2"
}

# deep_weighs WEIGHT: so does the named group, in the unit of v2.
deep_weighs() {
  local group seen
  group=$(mount_of cpu)$PLIMSOLL_CGROUP/new/deep
  if [[ -e $group/cpu.weight ]]; then
    seen=$(<"$group/cpu.weight")
  else
    seen=$((($(<"$group/cpu.shares") * 100 + 512) / 1024))
  fi
  ((seen == $1))
}

# kill_at_once PID...: the others wait for whoever is killed first. They go before most, and would
# interrupt this.
kill_at_once() {
  "$python" - "$@" <<'END'
import os, signal, sys
try:
    os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(1))
except PermissionError:
    pass
for pid in sys.argv[1:]:
    os.kill(int(pid), signal.SIGKILL)
END
}

# lost WHO [BELOW]: a heavy run, in the named group or below it, of which these processes are killed.
lost() {
  local guardian supervisor
  weighted 1000 "heavy-$1" "${2:-}"
  guardian=$started
  becomes_true deep_weighs 1000
  supervisor=$(supervisor_of "$guardian")
  case $1 in
    supervisor) kill -KILL "$supervisor" ;;
    guardian) kill -KILL "$guardian" ;;
    *) kill_at_once "$guardian" "$supervisor" ;;
  esac
  wait "$guardian" 2>/dev/null
  becomes_true gone "$supervisor"
}

# Who removes what a killed run has left puts the weight of the group right: the other process of that
# run, else the next run there, whatever that uses itself, or whoever asks for it.
case_a_run_that_was_killed_weighs_nothing() {
  local light next who
  keep_the_stale
  weighted 10 light
  light=$started
  becomes_true deep_weighs 10
  for who in supervisor guardian; do
    lost "$who"
    becomes_true deep_weighs 10
  done
  for who in 5 ''; do
    lost "both-$who"
    deep_weighs 1000 || wrong 'nobody was to put it right yet'
    weighted "$who" "next-$who"
    next=$started
    becomes_true deep_weighs 10
    kill -TERM "$next"
    wait "$next" 2>/dev/null
  done
  lost both-last
  gives 0 reap_stale
  deep_weighs 10 || wrong 'reap --stale did not put it right'
  lost both-below /inner
  gives 0 reap_stale
  [[ ! -e $(mount_of cpu)$PLIMSOLL_CGROUP/new/deep/inner ]] || wrong 'reap --stale left an empty group'
  deep_weighs 10 || wrong 'reap --stale left the weight of a group that it removed'
  touch stop
  wait "$light"
  becomes_true nothing_left || wrong 'something is left'
}

# He can mark it as made by a run, and could have it weigh more than he may.
case_a_named_group_of_another_user_keeps_its_weight() {
  local light heavy
  weighted 10 light
  light=$started
  becomes_true deep_weighs 10
  chown 65534 "$(mount_of cpu)$PLIMSOLL_CGROUP/new/deep"
  weighted 1000 heavy
  heavy=$started
  deep_weighs 10 || wrong 'the group has the weight of the run'
  touch stop
  wait "$heavy" "$light"
  becomes_true nothing_left || wrong 'something is left'
}

# With a group of the run inside it, and without.
case_the_share_of_the_callers_group_holds() {
  local group run options
  on_v1 cpu || skip 'the cpu controller is not on v1'
  group=$(mount_of cpu)$PLIMSOLL_CGROUP/caller
  mkdir "$group" && echo 100 >"$group/cpu.shares"
  beside
  for options in '' '--weight 1000'; do
    # shellcheck disable=SC2016,SC2086 # several words
    bash -c 'echo $$ >"$1/cgroup.procs" && shift && exec env -u PLIMSOLL_CGROUP taskset -c 0 "$@"' - "$group" \
      "$plimsoll" batch -q -j2 --cores 4 --standalone $options -- 'echo $$ >pid-{}; while :; do :; done' ::: 1 2 2>err &
    run=$!
    # 100/1024
    becomes_true test -s pid-1 && becomes_true test -s pid-2 && ratio_is 0.05 0.16 "$(<pid-1)" "$(<pid-2)"
    end_run "$run"
    rm -f pid-*
  done
  end_beside
  rmdir "$group"
  becomes_true nothing_left || wrong 'something is left'
}

case_without_nice_and_weight_nothing_is_changed() {
  gives 0 "$plimsoll" batch -q -- "$cat_own own cpu/cpu.weight cpu/cpu.shares; : {}" ::: 1
  [[ $(<out) == 100 || $(<out) == 1024 || $(<out) == none* ]] || wrong "weight of the job: $(<out)"
}

case_a_weight_that_is_none() {
  gives 125 "$plimsoll" batch --weight 0 -- true ::: 1
  has err '--weight: found "0", expected a weight from 1 to 10000'
  gives 125 "$plimsoll" run --weight 10001 -- true
  has err 'expected a weight from 1 to 10000'
}

case_in_process_mode_it_is_refused() {
  gives 125 "$plimsoll" batch --cgroup none --weight 50 -- 'touch started; : {}' ::: 1
  has err '--weight needs a cgroup'
  [[ ! -e started ]] || wrong started
}

case_a_negative_nice_value_goes_before_others() {
  local run
  nice -n -5 true 2>/dev/null || skip 'no right to a negative nice value'
  beside
  taskset -c 0 nice -n -5 "$plimsoll" batch -q --weight 100 -- 'echo $$ >pid; : {}; while :; do :; done' ::: 1 2>err &
  run=$!
  becomes_true test -s pid && ratio_is 2 4.6 "$(<pid)" # 3121/1024
  end_run "$run"
  end_beside
}

run_cases "${1:-}"

#!/bin/bash
# What `plimsoll govern` does with steps that it finds by looking at processes: whom they take along, who
# waits, and who is left alone; its last line counts.
# program: released
# shellcheck disable=SC2016,SC2317 # dollars are for the shells that are run; called by name
set -uo pipefail
source "$(dirname "$(realpath "$0")")/cases.bash"
source "$(dirname "$(realpath "$0")")/watched.bash"

# In command lines here, so that what is left of them is found.
readonly needle=1$$.625

stopped() { grep -qs '^State:.T' "/proc/$1/status"; }

# stopped_of WORDS: how many who bear these and the needle stand.
stopped_of() {
  local pid number=0
  for pid in $(pgrep -f -- "^$1.*$needle"); do ! stopped "$pid" || number=$((number + 1)); done
  echo $number
}

case_what_has_to_wait_stands_where_it_was_found() {
  state
  "$python" "$here/filtered.py" listen "$plimsoll" govern --cgroup none -q -j 1 -- \
    xargs -P 3 -n 1 sleep < <(yes "$needle" | head -n 3) >out 2>err &
  local guardian=$!
  becomes_true eval '[[ $(stopped_of sleep) == 2 ]]'
  gives 0 "$plimsoll" ctl status
  has out '1 running, 2 waiting'
  kill -TERM $guardian
  wait $guardian
  same 143 $? 'status of TERM'
  becomes_true eval '[[ -z $(pgrep -f -- "sleep $needle") ]]'
}

# all_end OPTION...: the supervisor dies while steps that were found run and wait.
all_end() {
  state
  "$python" "$here/filtered.py" listen "$plimsoll" govern "$@" -q -j 1 -- \
    xargs -P 3 -n 1 sleep < <(yes "$needle" | head -n 3) >out 2>err &
  local guardian=$!
  becomes_true eval '"$plimsoll" ctl status 2>&1 | grep -q "1 running, 2 waiting"'
  kill -KILL "$(supervisor_of $guardian)"
  wait $guardian
  same 125 $? 'status after the death of the supervisor'
  becomes_true eval '[[ -z $(pgrep -f -- "sleep $needle") ]]'
}

case_what_was_found_dies_with_the_supervisor() { all_end; }
case_what_was_found_dies_with_the_supervisor_in_process_mode() { all_end --cgroup none; }

# launchers OPTION...: they ask a moment after their start, and wait before their exec.
launchers() {
  state
  gives 0 watched listen -- "$@" -q -j 1 --report steps.jsonl -- \
    xargs -P 4 -I{} "$plimsoll" exec -- sh -c 'sleep 0.2; echo {}' < <(seq 4)
  same $'1\n2\n3\n4' "$(sort out)"
  same 4 "$(commands_in steps.jsonl | wc -l)"
}

case_launchers_are_heard_all_the_same() { launchers; }
case_launchers_are_heard_in_process_mode() { launchers --cgroup none; }

# Of four that ask at once one starts, and the others have not executed anything.
case_what_is_launched_in_process_mode_waits_before_its_exec() {
  state
  "$python" "$here/filtered.py" listen "$plimsoll" govern --cgroup none -q -j 1 -- \
    xargs -P 4 -n 1 "$plimsoll" exec -- sleep < <(yes "$needle" | head -n 4) >out 2>err &
  local guardian=$!
  becomes_true eval '"$plimsoll" ctl status 2>&1 | grep -q "1 running, 3 waiting"'
  same 1 "$(pgrep -fc -- "^sleep $needle")"
  kill -TERM $guardian
  wait $guardian
  same 143 $? 'status of TERM'
}

# left_alone OPTION...: a job that a shell has before it becomes the guardian, and an orphan of that.
left_alone() {
  state
  gives 0 sh -c '{ sleep 0.5; (sleep "$0" &); sleep 2; } & exec "$@"' "$needle" \
    "$python" "$here/filtered.py" listen "$plimsoll" govern "$@" -q --report steps.jsonl -- sleep 1.5
  same '' "$(commands_in steps.jsonl)" 'steps'
  local orphan
  orphan=$(pgrep -f -- "^sleep $needle") || wrong 'the orphan was killed'
  ! stopped "$orphan" || wrong 'the orphan was stopped'
  kill "$orphan"
}

case_orphans_of_others_are_left_alone() { left_alone; }
case_orphans_of_others_are_left_alone_in_process_mode() { left_alone --cgroup none; }

# A step that is held lasts until its last process has ended, and that waits all the while.
case_what_is_held_waits_on_without_its_first_process() {
  state
  mkfifo never
  "$python" "$here/filtered.py" listen "$plimsoll" govern --cgroup none -q -j 1 -- \
    bash -c 'sh -c "until [ -e go ]; do sleep 0.05; done; :" & until [ -e second ]; do read -rt 0.05 <>never; done
      sh -c "sleep $0; :"; wait; until [ -e end ]; do read -rt 0.05 <>never; done' "$needle" >out 2>err &
  local guardian=$!
  becomes_true eval '"$plimsoll" ctl status 2>&1 | grep -q "1 running"'
  touch second
  becomes_true eval '[[ $(stopped_of sleep) == 1 ]]'
  kill -KILL "$(pgrep -f -- "^sh -c sleep $needle; :")"
  sleep 0.5
  same 1 "$(stopped_of sleep)" 'who stands still'
  touch go
  becomes_true eval '[[ $(stopped_of sleep) == 0 ]]'
  gives 0 "$plimsoll" ctl status
  has out '1 running'
  kill -TERM $guardian
  wait $guardian
  same 143 $? 'status of TERM'
  becomes_true eval '[[ -z $(pgrep -f -- "sleep $needle") ]]'
}

# A script that goes on as something else has started a make, which is no part of that.
case_a_driver_is_not_held_with_the_step_that_its_parent_becomes() {
  state
  mkfifo never
  printf 'all: ; @until [ -e go ]; do sleep 0.05; done; : %s\n' "$needle" >Makefile
  printf 'make -s MARK=%s & until [ -e second ]; do read -rt 0.05 <>never; done; exec sleep %s\n' "$needle" "$needle" >each
  "$python" "$here/filtered.py" listen "$plimsoll" govern --cgroup none -q -j 1 -- \
    sh -c 'bash each; :' >out 2>err &
  local guardian=$!
  becomes_true eval '"$plimsoll" ctl status 2>&1 | grep -q "1 running"'
  touch second
  becomes_true eval '[[ $(stopped_of sleep) == 1 ]]'
  same 0 "$(stopped_of make)" 'makes that stand still'
  touch go
  becomes_true eval '[[ $(stopped_of sleep) == 0 && -z $(pgrep -f -- "^make.*$needle") ]]'
  kill -TERM $guardian
  wait $guardian
  same 143 $? 'status of TERM'
}

# The kernel's victims in a session: whom the step had started before it was found, too.
all_are_victims() {
  local pid number=0
  for pid in $(pgrep -f -- "$needle"); do
    [[ $(<"/proc/$pid/oom_score_adj") == 300 ]] || return 1
    number=$((number + 1))
  done
  ((number == 4))
}

case_all_of_a_step_that_is_found_in_a_session_are_victims() {
  is_root || skip 'groups for steps are made by root here'
  (($(</proc/self/oom_score_adj) < 300)) || skip 'all are victims here'
  state
  echo "sh -c '(sleep $needle; :) & sleep $needle; :'; :" >agent
  PLIMSOLL_SOCKET=$PWD/nobody "$python" "$here/filtered.py" listen "$plimsoll" session -q -- bash agent >out 2>err &
  local guardian=$!
  becomes_true all_are_victims
  kill -TERM $guardian
  wait $guardian
  same 143 $? 'status of TERM'
  becomes_true eval '[[ -z $(pgrep -f -- "sleep $needle") ]]'
}

case_what_was_held_is_not_counted_once_it_is_a_driver() {
  state
  mkfifo never gate
  printf 'gate := $(file <gate)\nall: ; @sleep 0.4; :\n' >Makefile
  watched listen -- -j 1 --report steps.jsonl -- \
    bash -c 'sh -c "until [ -e go ]; do sleep 0.05; done; :" & until [ -e second ]; do read -rt 0.05 <>never; done
      sh -c "sleep 0.3; make -s; :"; wait' >out 2>err &
  local guardian=$!
  becomes_true eval '"$plimsoll" ctl status 2>&1 | grep -q "1 running"'
  touch second
  becomes_true eval '"$plimsoll" ctl status 2>&1 | grep -q "1 running, 1 waiting"'
  touch go
  # It starts nothing before it is known as a driver.
  exec 4>gate
  becomes_true eval '! "$plimsoll" ctl status 2>&1 | grep -q running'
  exec 4>&-
  wait $guardian
  same 0 $?
  "$python" - <<'END' || wrong 'what was counted'
import json
*steps, run = [json.loads(line) for line in open("steps.jsonl")]
assert not any("make" in step.get("shell", "") for step in steps), steps
assert not run["command"].get("held_steps"), run["command"]
END
}

run_cases "${1:-}"

#!/bin/bash
# How the steps of `plimsoll govern` are counted, recorded and told of; its last line counts.
# program: released
# shellcheck disable=SC2016,SC2317 # dollars are for the shells that are run; called by name
set -uo pipefail
source "$(dirname "$0")/cases.bash"
is_root || skip_all 'groups for steps are made by root here'

# govern STATUS OPTION... -- COMMAND...
govern() { gives "$1" "$plimsoll" govern "${@:2}"; }

# alive NUMBER: how many processes sleep for NUMBER.$$ seconds, zombies not: those of this script alone.
alive() { pgrep -fc -- "^sleep $1\.$$\$"; }

case_small_steps_go_without_a_group() {
  # On a busy machine they take too long to be small, but not each time.
  small_ones() {
    rm -rf state && state
    govern 0 -- xargs -n 1 true < <(seq 200)
    grep -qE 'steps        200, of which 1[0-9]{2} small ones' err
  }
  becomes_true small_ones || wrong "$(<err)"
  becomes_true nothing_left
}

case_the_run_is_recorded_and_explained() {
  state
  govern 0 -- xargs -n 1 sh -c 'sleep 0.1; true $0' < <(seq 3)
  gives 0 "$plimsoll" runs
  has out 'govern'
  gives 0 "$plimsoll" explain last 1
  has out 'sleep 0.1'
  gives 0 "$plimsoll" report last
  has out 'plimsoll: the command exited with code 0 in '
  has out 'steps        3'
  lacks out 'jobs succeeded'
  gives 0 "$plimsoll" history
  has out sleep
}

# The report is made of the record alone.
case_the_report_tells_what_the_summary_told() {
  state
  govern 3 -- sh -c 'sh -c "sleep 0.1; true"; exit 3'
  grep -A 99 '^plimsoll: the command' err >told
  has told 'plimsoll: the command exited with code 3 in '
  gives 0 "$plimsoll" report last
  grep -A 99 '^plimsoll: the command' out | diff - told || wrong 'report tells something else'
  govern 0 --no-hold -- sh -c 'echo still'
  gives 0 "$plimsoll" report last
  has out 'steps        none, as the command was measured as a whole: as --no-hold says'
}

# Who turns out to be a driver when it has a group already: one rule counts it, for all who ask.
case_a_step_that_becomes_a_driver_is_none() {
  state
  printf 'all:\n\t@sleep 0.3; echo deep\n' >Makefile
  govern 0 --report steps.jsonl -- sh -c 'env make -s; true'
  same deep "$(<out)"
  has err 'steps        1'
  same 1 "$(grep -c '"plimsoll.job/1"' steps.jsonl)" 'reports'
  has steps.jsonl 'echo deep'
  gives 0 "$plimsoll" runs --json
  told out 'r["runs"][0]["jobs"] == 1' 'r["runs"][0]["outcomes"] == {"exited": 1}'
}

# Whoever asks why nothing starts gets an answer, and is no step; nor does he make a driver of a step.
case_whoever_shows_runs_never_waits() {
  state
  echo "sleep 1000 & $plimsoll ctl status >shown; kill \$!" >ask
  govern 0 -j1 -- bash ask
  has err 'steps        1'
  has shown 'done'
  govern 0 -- env sh -c "sleep 0.3 & $plimsoll ctl status >shown; wait"
  has err 'steps        1'
}

case_a_step_that_still_runs_is_told_once() {
  state
  govern 0 -- sh -c "sleep 84005.$$ & sleep 0.2; true"
  has err "1 step still ran when the command had ended, and was killed: sleep 84005.$$"
  lacks err 'the command left'
}

case_a_run_that_was_killed_speaks_of_steps() {
  state
  export PLIMSOLL_RUNTIME_DIR=$PWD/runtime
  mkdir -m 700 runtime
  touch runtime/notes.sock # somebody's file
  "$plimsoll" govern -q -- sh -c 'sh -c "sleep 0.1; true"; touch one; sleep '"84003.$$" 2>err &
  local guardian=$!
  becomes_true eval '[[ -e one && $(alive 84003) == 1 ]]'
  gives 0 "$plimsoll" runs
  grep -qE '^.* running +-  - ' out || wrong "a number of steps: $(<out)"
  becomes_true eval '"$plimsoll" report last >out; grep -qE "^[12] steps? ha(s|ve) ended so far" out'
  local supervisor
  supervisor=$(supervisor_of $guardian)
  kill -KILL "$supervisor" $guardian
  wait $guardian
  becomes_true gone "$supervisor" # a killed process is not dead at once
  gives 0 reap_stale
  same 1 "$(grep -c 'removed the sockets of 20' out)"
  same notes.sock "$(cd runtime && echo *.*)" 'what is left among the sockets'
  becomes_true eval '"$plimsoll" report last >out; grep -q "step.* had ended when it died" out'
  lacks out 'jobs succeeded'
  becomes_true nothing_left
}

run_cases "${1:-}"

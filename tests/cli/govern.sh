#!/bin/bash
# `plimsoll govern`: what a command starts is held, measured, and ended with it; its last line counts.
# program: released
# shellcheck disable=SC2016,SC2317 # dollars are for the shells that are run; called by name
set -uo pipefail
source "$(dirname "$0")/cases.bash"
is_root || skip_all 'groups for steps are made by root here'
export PLIMSOLL_STATE_DIR=$PWD/state

# govern STATUS OPTION... -- COMMAND...
govern() { gives "$1" "$plimsoll" govern "${@:2}"; }

# alive NUMBER: how many processes sleep for NUMBER.$$ seconds, zombies not: those of this script alone.
alive() { pgrep -fc -- "^sleep $1\.$$\$"; }

# steps_in REPORT: the commands of the steps, one a line.
steps_in() {
  "$python" -c '
import json, sys
for line in open(sys.argv[1]):
    step = json.loads(line)
    if step["schema"] == "plimsoll.job/1":
        print(step.get("shell") or " ".join(step["argv"]))' "$1"
}

nothing_left() {
  becomes_true eval '[[ ! $(groups_left) ]]'
  becomes_true eval '[[ ! $(processes_left) ]]'
}

case_status_is_the_commands() {
  state
  local status
  for status in 0 3 125 255; do govern $status -q -- sh -c "exit $status"; done
  empty err
  govern 137 -q -- sh -c 'kill -KILL $$'
  govern 127 -- /no/such/program
  has err 'could not execute "/no/such/program"'
  govern 126 -- /etc/passwd
}

case_wrong_options_start_nothing() {
  local options
  for options in '--nonsense' '--line 12X' '--rerun x' '--rerun 101' '--driver a/b' '-j x' '--no-evict'; do
    # shellcheck disable=SC2086 # options are words
    govern 125 $options -- touch started
    [[ ! -e started ]] || wrong "started in spite of $options"
    has err "${options%% *}"
  done
  govern 125
  has err 'no command'
}

case_a_number_of_steps_may_be_relative() {
  state
  local jobs
  for jobs in 50% +1 -1 0; do govern 0 -q -j "$jobs" -- sh -c '/bin/true; :'; done
}

case_children_of_make_are_steps() {
  state
  printf 'all: a b\na:\n\t@sleep 0.2; echo a\nb:\n\t@sleep 0.2; echo b\n' >Makefile
  govern 0 --report steps.jsonl -- make -s -j2
  same $'a\nb' "$(sort out)"
  same $'sleep 0.2; echo a\nsleep 0.2; echo b' "$(steps_in steps.jsonl | sort)"
  has err 'the command exited with code 0'
  has err 'steps        2'
  nothing_left
}

case_drivers_below_drivers_are_none() {
  state
  mkdir sub
  printf 'all:\n\t@cd sub && $(MAKE) -s\n' >Makefile
  printf 'all:\n\t@sleep 0.3; echo deep\n' >sub/Makefile
  govern 0 --report steps.jsonl -- make -s
  same deep "$(<out)"
  same 1 "$(steps_in steps.jsonl | grep -c 'echo deep')"
  nothing_left
}

case_steps_are_held_and_all_end() {
  state
  govern 0 -j 2 --report steps.jsonl -- xargs -P 12 -n 1 sh -c 'sleep 0.3; echo done' < <(seq 12)
  same 12 "$(grep -c done out)"
  same 12 "$(steps_in steps.jsonl | wc -l)"
  grep -q 'held [1-9]' err || wrong "nothing was held: $(<err)"
  nothing_left
}

case_what_is_held_has_run_nothing() {
  state
  "$plimsoll" govern -q -j 1 -- xargs -P 4 -n 1 sh -c 'touch began.$0; sleep 1000' < <(seq 4) 2>err &
  local guardian=$!
  becomes_true eval '[[ $(grep -lsE "$PLIMSOLL_CGROUP/.*/pool/step-" /proc/[0-9]*/cgroup | wc -l) -ge 4 ]]'
  becomes_true eval '[[ -e began.1 || -e began.2 || -e began.3 || -e began.4 ]]'
  same 1 "$(find . -name 'began.*' | wc -l)" 'steps that began'
  kill -TERM $guardian
  wait $guardian
  same 143 $? 'status of TERM'
  nothing_left
}

# The sum of what they need is five times the line.
case_a_line_is_kept_without_failures() {
  state
  cat >need.py <<'END'
import sys, time
memory = bytearray()
for _ in range(int(sys.argv[1])):
    memory.extend(b"x" * (1 << 20))
    time.sleep(0.01)
END
  govern 0 --line 300M --standalone --report steps.jsonl -- \
    xargs -P 10 -I{} sh -c "'$python' need.py 150; echo {}" < <(seq 10)
  same "$(seq 10)" "$(sort -n out)"
  lacks err 'killed for memory'
  "$python" - <<'END' || wrong 'the line'
import json
*steps, run = [json.loads(line) for line in open("steps.jsonl")]
assert run["schema"] == "plimsoll.run/1", run
assert run["oom_kills"] == 0, run["oom_kills"]
# Where the kernel would have killed, however late Plimsoll is given a processor; side by side all
# steps would have passed it.
end = run["wall"]["max_bytes"]
assert run["used_peak_bytes"] <= end, (run["used_peak_bytes"], end)
needed = sum(step["memory"]["peak_bytes"] for step in steps)
assert needed > 2 * end, (needed, end)
END
  nothing_left
}

case_a_step_that_does_not_fit_is_named_and_the_build_runs_again() {
  state
  cat >need.py <<'END'
import os, time
if os.path.exists("small"): raise SystemExit
open("small", "w").close()
memory = bytearray(400 << 20)
time.sleep(1000)
END
  printf 'all: ; @%s need.py\n' "$python" >Makefile
  govern 0 --line 100M --standalone --rerun 1 -- make -s
  has err 'killed for memory at'
  has err 'the line is 100 MiB'
  has err 'running the command again (1 of 1)'
  has err 'run again 1 time'
  rm small
  govern 2 --line 100M --standalone --rerun 0 -- make -s
  lacks err 'running the command again'
  nothing_left
}

# While its parent has not waited for it, older kernels tell as well.
case_how_a_step_ended_is_known_where_the_kernel_tells() {
  state
  "$python" -c 'import os, sys
sys.exit(tuple(int(n) for n in os.uname().release.split(".")[:2]) < (6, 15))' ||
    skip 'before Linux 6.15 only its parent knows how a process has ended'
  printf 'all: good bad crash\ngood: ; @echo good\nbad: ; @sleep 0; exit 3\ncrash: ; @sleep 0; kill -SEGV $$$$\n' >Makefile
  govern 2 --report steps.jsonl -- make -s -k
  "$python" - <<'END' || wrong 'how the steps ended'
import json
lines = [json.loads(line) for line in open("steps.jsonl")]
steps = {s.get("shell") or " ".join(s["argv"]): s for s in lines[:-1]}
bad, crash = steps["sleep 0; exit 3"], steps["sleep 0; kill -SEGV $$"]
assert (bad["outcome"], bad["exit_code"]) == ("exited", 3), bad
assert (crash["outcome"], crash["signal"]) == ("signalled", "SEGV"), crash
assert lines[-1]["succeeded"] == len(steps) - 2, lines[-1]
END
  gives 0 "$plimsoll" explain last --failed
  has out 'exited with code 3'
  nothing_left
}

case_what_could_not_be_started_is_told_in_a_line() {
  state
  govern 127 -- /no/such/program
  same 1 "$(wc -l <err)" 'lines'
  govern 137 -q -- sh -c 'kill -KILL $$'
  has err 'the command was ended by signal KILL'
}

case_a_command_that_is_not_held_is_measured() {
  state
  govern 0 --no-hold -- "$python" -c 'held = bytearray(60 << 20)'
  has err 'as --no-hold says'
  grep -qE 'peak [6-9][0-9]\.[0-9] MiB' err || wrong "no memory of the command: $(<err)"
  lacks err 'steps  '
}

# As many characters as those of a compiler have.
case_a_full_disk_ends_no_command() {
  can_mount || skip 'mounts can not be changed here'
  state
  mkdir disk
  cat >full <<'END'
mount -t tmpfs -o size=16k none disk || exit
seq 16 | "$plimsoll" govern --report disk/steps.jsonl -- xargs -P 8 -n 1 sh -c 'sleep 0.3; echo done' >out 2>err
echo $? >status
cp disk/steps.jsonl* kept
END
  plimsoll=$plimsoll timeout "$patience" unshare -m sh full
  same 0 "$(<status)" status
  same 16 "$(grep -c done out)"
  has err 'the jobs continue, and Plimsoll tries again with the next line'
  grep -qE '[0-9]+ jobs? (is|are) missing from the report' err || wrong "$(<err)"
  # What was written is whole lines.
  "$python" -c 'import json, sys; [json.loads(line) for line in sys.stdin]' <kept || wrong 'torn lines'
}

case_long_commands_are_cut_in_the_table() {
  state
  printf 'all: ; @%s -c "import time; held = bytearray(40 << 20); time.sleep(0.1)" %s\n' \
    "$python" "$("$python" -c 'print("x" * 3000)')" >Makefile
  govern 0 --line 300M -- make -s
  has err 'heaviest by memory'
  ((  $(awk '/MiB/ && length > longest { longest = length } END { print longest }' err) <= 160 )) ||
    wrong "a long line: $(head -c 1000 err)"
}

case_nothing_outlives_the_command() {
  state
  govern 0 -- sh -c 'setsid sleep 81001.$0 & (setsid sh -c "sleep 81002.$0 & sleep 81002.$0" &) ; sleep 0.3' $$
  becomes_true eval '[[ $(alive 81001) == 0 && $(alive 81002) == 0 ]]'
  has err 'still ran when the command had ended'
  nothing_left
}

# kill_at WHO: while steps run and others are held.
kill_at() {
  local guardian victim status=$2
  "$plimsoll" govern -q -j 2 -- xargs -P 6 -n 1 sleep < <(yes 82001.$$ | head -n 6) >out 2>err &
  guardian=$!
  becomes_true eval '[[ $(alive 82001) -ge 2 ]]'
  case $1 in
    guardian) victim=$guardian ;;
    supervisor) victim=$(supervisor_of $guardian) ;;
    driver) victim=$(pgrep -P $guardian -x xargs) ;;
  esac
  kill -KILL "$victim"
  wait $guardian 2>/dev/null
  same "$status" $? "status after the death of the $1"
  becomes_true eval '[[ $(alive 82001) == 0 ]]'
  nothing_left
}

case_the_guardian_dies() { state && kill_at guardian 137; }
case_the_supervisor_dies() { state && kill_at supervisor 125; }
case_the_driver_dies() { state && kill_at driver 137; }

case_programs_that_can_not_be_executed() {
  state
  echo 'echo ran without an interpreter' >script
  chmod +x script
  govern 0 -q -- sh -c './script; /no/such; nosuch; true'
  has out 'ran without an interpreter'
  govern 0 -q -j 1 -- xargs -P 3 -n 1 ./script < <(seq 3)
  same 3 "$(grep -c ran out)"
  printf '#!/no/such/interpreter\n' >broken
  chmod +x broken
  govern 0 -q -j 1 -- sh -c 'sleep 0.5 & ./broken; ./broken; wait'
  nothing_left
}

case_many_arguments() {
  state
  govern 0 -q -- sh -c '/bin/echo $(seq 20000) | wc -w'
  same 20000 "$(<out)"
}

case_a_step_that_forks_for_ever_ends_with_the_command() {
  state
  govern 0 -- sh -c 'sh -c "while :; do sleep 83001.$0 & sleep 0.01; done" & sleep 1' $$
  becomes_true eval '[[ $(alive 83001) == 0 ]]'
  nothing_left
}

# What is executed may be on a file system that hangs, or that a step serves.
case_an_exec_that_hangs_holds_up_no_other() {
  [[ -c /dev/fuse ]] && can_mount || skip 'no FUSE, or mounts can not be changed here'
  state
  mkdir hung
  programs=$(dirname "$plimsoll")/tests/programs gives 0 timeout "$patience" \
    unshare -m "$plimsoll" govern -q -- bash -c '
      "$programs/hang_fuse" hung >ready &
      until [[ -s ready ]]; do sleep 0.05; done
      (exec hung/program) &
      stands=$!
      until grep -qs seccomp "/proc/$stands/wchan"; do sleep 0.05; done
      /bin/echo after'
  same after "$(<out)"
  nothing_left
}

case_govern_in_govern() {
  state
  govern 4 -- "$plimsoll" govern -- sh -c 'sleep 0.1; echo inner; exit 4'
  same inner "$(<out)"
  has err 'governs this command already'
  same 1 "$(grep -c 'plimsoll: the command' err)" 'summaries'
  nothing_left
}

case_batch_in_govern_and_govern_in_batch() {
  state
  govern 0 -- "$plimsoll" batch -q -k -- 'sleep 0.1; echo {}' ::: a b
  same $'a\nb' "$(<out)"
  govern 0 -- sh -c "'$plimsoll' batch -q -k -- 'sleep 0.1; echo {}' ::: a b; true"
  same $'a\nb' "$(<out)"
  gives 0 "$plimsoll" batch -q -- "'$plimsoll' govern -q -- sh -c 'sleep 0.1; echo {}'" ::: c
  same c "$(<out)"
  nothing_left
}

case_without_a_filter_it_measures() {
  state
  govern 0 --no-hold -- sh -c 'echo still'
  has err 'as --no-hold says'
  nothing_left
}

case_steps_of_a_class_have_a_cap() {
  state
  seq 0.3 0.1 0.6 >lengths
  gives 0 "$plimsoll" govern -q --cap sleep=1 -- xargs -P4 -n1 -a lengths sleep
  gives 0 "$plimsoll" explain last
  has out 'waits for others of its class: of "sleep" at most 1 runs at once'
}

# Whoever is known to be small starts without waiting, but not past a cap.
case_a_cap_holds_for_small_steps_too() {
  state
  yes 0.02 | head -n 8 >lengths
  gives 0 "$plimsoll" govern -q -- xargs -P1 -n1 -a lengths sleep
  gives 0 "$plimsoll" govern -q --cap sleep=1 -- xargs -P4 -n1 -a lengths sleep
  gives 0 "$plimsoll" explain last
  has out 'waits for others of its class: of "sleep" at most 1 runs at once'
}

# One that stays after all is told by what it has executed by then, as every step is.
case_a_small_step_goes_by_what_it_executes() {
  state
  yes 0.02 | head -n 8 >lengths
  gives 0 "$plimsoll" govern -q -- xargs -P1 -n1 -a lengths nice sleep
  gives 0 "$plimsoll" govern -q --report steps.jsonl -- xargs -P1 -n1 -a <(echo 1.5) nice sleep
  same 'sleep 1.5' "$(commands_in steps.jsonl)"
}

case_ctl_sees_and_steers_it() {
  state
  "$plimsoll" govern -q -- xargs -P 2 -n 1 sleep <<<"84001.$$ 84002.$$" 2>err &
  local guardian=$!
  becomes_true eval '[[ $(alive 84001) == 1 && $(alive 84002) == 1 ]]'
  becomes_true eval '"$plimsoll" ctl status | grep -q "sleep 84001"'
  gives 0 "$plimsoll" ctl pause 1
  gives 0 "$plimsoll" ctl resume 1
  gives 1 "$plimsoll" ctl kill 77
  has err 'no step "77"'
  gives 0 "$plimsoll" ctl kill 1
  "$plimsoll" ctl kill 2 >/dev/null 2>&1 # findutils 4.10 waits for it, 4.9 has ended
  wait $guardian
  same 125 $? 'status of xargs when a command is killed'
  nothing_left
}

run_cases "${1:-}"

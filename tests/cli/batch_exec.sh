#!/bin/bash
# plimsoll exec in jobs of a batch: commands that the run admits. Last line: `N passed, N failed`.
# Usage: tests/cli/batch_exec.sh [CASE]
# program: released
set -uo pipefail
source "$(dirname "$(realpath "$0")")/cases.bash"
source "$(dirname "$(realpath "$0")")/launched.bash"

unset PLIMSOLL_JOB PLIMSOLL_GOVERN PLIMSOLL_LIGHT
is_root || skip_all 'not root'

# Where no daemon is, and where this run's own socket is.
here() {
  state
  export PLIMSOLL_RUNTIME_DIR=$PWD/run PLIMSOLL_SOCKET=$PWD/nobody exec="$plimsoll exec"
}

# batch STATUS OPTION...: runs the jobs of the file `jobs`.
batch() { gives "$1" "$plimsoll" batch "${@:2}" jobs; }

# start OPTION...: the same in the background; its guardian is $run.
start() {
  "$plimsoll" batch "$@" jobs >out 2>err &
  run=$!
}

case_a_command_is_admitted_by_the_run() {
  here
  # shellcheck disable=SC2016 # for the job
  echo '$exec -- cat /proc/self/cgroup >of_command; cat /proc/self/cgroup >of_job; $exec -- sh -c "exit 3"' >jobs
  batch 1 --report report
  has of_command /pool/command-
  has of_job /pool/job-1
  has err '0 of 1 jobs succeeded'
  has err 'commands 2'
  tail -n 1 report >summary
  told summary 'r["job_commands"] == 2' 'r["jobs"] == 1' 'r["outcomes"] == {"exited": 1}'
  [[ ! -e $(echo run/*.light) ]] || wrong 'its socket is left'
  nothing_left || wrong 'something is left'
}

case_it_has_what_the_launcher_has() {
  here
  # shellcheck disable=SC2016
  echo 'echo in | ODD=odd $exec -- sh -c "cat; echo \$ODD \$PLIMSOLL_JOB; echo err >&2"' >jobs
  batch 0 -q
  same 'in odd 1 ' "$(tr '\n' ' ' <out)"
  has err err
}

case_it_waits_until_it_fits() {
  here
  cat >hold.py <<'END'
import os, time
lump = b"x" * (100 << 20)
open("taken", "w").close()
while not os.path.exists("go"):
    time.sleep(0.05)
END
  cat >jobs <<END
\$exec --class a --memory-hint 100M -- $python hold.py
until [ -e taken ]; do sleep 0.05; done; \$exec -v --class b --memory-hint 100M -- touch second 2>why
END
  start --line 200M
  becomes_true grep -q 'exec: touch waits for ' why
  [[ ! -e second ]] || wrong 'it did not wait'
  touch go
  ends 0
  [[ -e second ]] || wrong 'it was never started'
}

# Its process, which stands still, ends with that.
case_it_gives_up_waiting() {
  here
  cat >jobs <<'END'
$exec --class a --memory-hint 100M -- sh -c 'touch taken; until [ -e go ]; do sleep 0.05; done'
until [ -e taken ]; do sleep 0.05; done; $exec --hold-max 200ms --memory-hint 900G -- touch late; echo $? >held
until [ -e taken ]; do sleep 0.05; done; $exec --memory-hint 900G -- touch late & launcher=$!; echo $launcher >launcher; wait $launcher; echo $? >ended; touch go
END
  start --line 200M
  becomes_true test -s launcher
  becomes_true test -s held
  kill -TERM "$(cat launcher)"
  ends 0
  same 75 "$(cat held)"
  same 143 "$(cat ended)"
  [[ ! -e late ]] || wrong 'it was started'
}

# With each job in one of the places there are, their commands have to find others.
case_small_commands_stay_in_their_job() {
  # shellcheck disable=SC2016 # for the job
  small_ones() { # OPTION...
    rm -rf state && here
    : >groups
    echo 'for i in $(seq 30); do $exec -- sh -c "cat /proc/self/cgroup >>groups"; done' >jobs
    batch 0 "$@"
    has err 'commands 30'
    grep -E ':memory:|^0::' groups >places # what nobody asked to count apart stays in the job's
    has places /pool/command-
  }
  # On a busy machine they take too long to be small, but not each time.
  some_stay() { small_ones && grep -q /pool/job-1 places; }
  becomes_true some_stay || wrong "$(<places)"
  small_ones --cap cat=1
  lacks places /pool/job-1
}

case_jobs_wait_for_their_commands() {
  here
  # shellcheck disable=SC2016
  local job='for i in 1 2 3 4; do $exec -- sh -c "echo x >>marks" & done; wait'
  printf '%s\n' "$job" "$job" >jobs
  batch 0 -j 2
  same 8 "$(wc -l <marks)" 'commands that ran'
  has err 'commands 8'
}

# More jobs than the line has room for commands.
case_commands_that_do_not_fit_beside_each_other_run_in_turn() {
  here
  cat >lump.py <<'END'
import sys
lump = bytearray(100 << 20)
open("marks", "a").write("x\n")
END
  for _ in 1 2 3 4; do
    # shellcheck disable=SC2016
    echo '$exec --memory-hint 100M -- '"$python"' lump.py'
  done >jobs
  batch 0 --line 160M -j 4
  same 4 "$(wc -l <marks)" 'commands that ran'
}

case_a_command_dies_with_its_job() {
  here
  echo "$plimsoll exec -- $stays" >jobs
  start
  becomes_true test -s pid
  gives 0 "$plimsoll" ctl kill 1
  ends 1
  all_gone
}

case_a_command_dies_with_its_launcher() {
  here
  echo "$plimsoll exec -- $stays & echo \$! >launcher; until [ -e go ]; do sleep 0.05; done" >jobs
  start
  becomes_true test -s pid
  kill -KILL "$(cat launcher)"
  becomes_true gone "$(cat pid)"
  touch go
  ends 0
  all_gone
}

# In more time where a process is not given a processor soon. The job is its launcher: were it a
# shell that starts one, the shell would end at once, and with it all that it has started.
case_a_time_out_of_the_job_reaches_it() {
  here
  echo "exec $plimsoll exec -- sh -c 'trap \": >heard; exit 0\" TERM; echo \$\$ >pid; while :; do sleep 0.05; done'" >jobs
  local seconds
  for seconds in 2 10 50; do
    start --timeout ${seconds}s --kill-after 60s
    ends 1
    [[ ! -s pid ]] || break
  done
  all_gone
  [[ -e heard ]] || wrong 'it did not hear of it'
}

case_a_run_that_is_interrupted_takes_it_along() {
  here
  echo "$plimsoll exec -- $stays" >jobs
  start
  becomes_true test -s pid
  kill -TERM "$run"
  wait "$run"
  all_gone
}

case_after_the_first_interrupt_commands_still_run() {
  here
  # shellcheck disable=SC2016
  echo 'touch begun; until [ -e go ]; do sleep 0.05; done; $exec -- touch made' >jobs
  echo 'touch late' >>jobs
  start -j 1
  becomes_true test -e begun
  kill -INT "$run"
  becomes_true grep -q interrupted err
  touch go
  ends 130
  [[ -e made && ! -e late ]] || wrong 'it was not as a part of its job'
  has err 'commands 1'
}

case_it_dies_when_the_guardian_or_the_supervisor_does() {
  here
  local whose
  for whose in guardian supervisor; do
    rm -f pid
    echo "$plimsoll exec -- $stays" >jobs
    start
    becomes_true test -s pid
    if [[ $whose == guardian ]]; then
      kill -KILL "$run"
    else
      kill -KILL "$(supervisor_of "$run")"
    fi
    wait "$run" 2>/dev/null
    all_gone
  done
  echo true >jobs
  batch 0 -q
  [[ ! -e $(echo run/*.light) ]] || wrong 'a socket is left'
}

case_past_the_line_it_is_killed_and_its_job_goes_on() {
  here
  grower
  # shellcheck disable=SC2016
  echo '$exec -- '"$python"' grow.py 2>why; echo $? >status' >jobs
  batch 0 --line 200M
  same 137 "$(cat status)" 'exit status of the launcher'
  has why 'exec: python3 was killed: '
  nothing_left || wrong 'something is left'
}

# A job that waits is not started again, whatever its commands do; what of them is killed for want
# of memory is not noticed.
case_a_compiler_is_run_again_unseen() {
  here
  fake_compiler
  cat >jobs <<'END'
$exec --class held -- sh -c 'touch taken; until [ -e done ]; do sleep 0.05; done'
until [ -e taken ]; do sleep 0.05; done; echo begun >>begun; $exec -- gcc -o a.o >warnings
END
  start --line 2G
  becomes_true test -e attempt1
  empty warnings # kept until it counts
  gives 0 "$plimsoll" ctl line 100M
  becomes_true eval "! grep -qs bin/gcc /proc/[0-9]*/cmdline"
  gives 0 "$plimsoll" ctl line 2G
  becomes_true test -e attempt2
  touch done
  ends 0
  same 'warning of attempt 2' "$(cat warnings)"
  same 1 "$(wc -l <begun)" 'attempts of the job'
}

case_without_a_run_it_is_executed_at_once() {
  here
  cat >jobs <<'END'
env -u PLIMSOLL_LIGHT $exec -- cat /proc/self/cgroup >unnamed
PLIMSOLL_LIGHT=$PWD/nobody $exec -- cat /proc/self/cgroup >nobody_there
env -u PLIMSOLL_LIGHT PLIMSOLL_GOVERN=1 $exec -- cat /proc/self/cgroup >governed
END
  batch 0
  for file in unnamed nobody_there governed; do
    has $file /pool/job-
    lacks $file /pool/command-
  done
  lacks err commands
}

case_a_command_within_a_command_is_part_of_it() {
  here
  # shellcheck disable=SC2016
  echo '$exec -- sh -c "cat /proc/self/cgroup >outer; \$exec -- cat /proc/self/cgroup >inner"' >jobs
  batch 0
  has outer /pool/command-
  cmp outer inner || wrong 'it was moved again'
  has err 'commands 1'
}

case_who_is_no_job_is_not_admitted() {
  here
  # shellcheck disable=SC2016
  echo 'echo "$PLIMSOLL_LIGHT" >light; until [ -e go ]; do sleep 0.05; done' >jobs
  start
  becomes_true test -s light
  has light "$PWD/run/"
  PLIMSOLL_LIGHT=$(cat light) gives 0 "$plimsoll" exec -- cat /proc/self/cgroup
  lacks out /pool/
  touch go
  ends 0
  lacks err commands
}

# A run within a job has jobs of its own: the outer one takes none of them.
case_a_run_within_a_job_admits_its_own() {
  here
  # shellcheck disable=SC2016
  echo 'echo '"'"'$exec -- cat /proc/self/cgroup >of_command'"'"' | '"$plimsoll"' batch - 2>inner' >jobs
  batch 0
  has inner 'commands 1'
  lacks err commands
  has of_command /pool/command-
}

case_what_it_leaves_behind_ends_with_the_job() {
  here
  # shellcheck disable=SC2016
  echo '$exec -- sh -c "sleep 1000 >/dev/null 2>&1 & echo \$! >pid"; touch over; until [ -e go ]; do sleep 0.05; done' >jobs
  start
  becomes_true test -e over
  lives "$(cat pid)" || wrong 'it did not outlive its command'
  touch go
  ends 0
  all_gone
}

case_a_job_with_limits_keeps_its_commands() {
  here
  # shellcheck disable=SC2016
  echo '$exec -- cat /proc/self/cgroup >of_command' >jobs
  batch 0 --memory-max 500M
  has of_command /pool/job-1
  lacks err commands
}

case_without_groups_it_is_executed_at_once() {
  here
  # shellcheck disable=SC2016
  echo '$exec -- touch made; echo "$PLIMSOLL_LIGHT" >light' >jobs
  batch 0 --cgroup none
  [[ -e made ]] || wrong 'it was not executed'
  same '' "$(cat light)"
}

case_make_can_use_it() {
  type -P make >/dev/null || skip 'no make'
  here
  printf 'all: a b c d\na b c d:\n\t$(L) sh -c "echo x >>marks"\n' >Makefile
  # shellcheck disable=SC2016
  echo 'make -s -j4 L="$exec --"' >jobs
  batch 0
  same 4 "$(wc -l <marks)" 'commands that ran'
  has err 'commands 4'
}

run_cases "$@"

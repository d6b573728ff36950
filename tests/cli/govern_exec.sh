#!/bin/bash
# plimsoll exec below plimsoll govern: what it launches are steps. Last line: `N passed, N failed`.
# Usage: tests/cli/govern_exec.sh [CASE]
# program: released
# shellcheck disable=SC2016 # dollars are for the shells that are run
set -uo pipefail
source "$(dirname "$(realpath "$0")")/cases.bash"
source "$(dirname "$(realpath "$0")")/launched.bash"

unset PLIMSOLL_JOB PLIMSOLL_GOVERN PLIMSOLL_LIGHT
is_root || skip_all 'groups for steps are made by root here'
tests=$(dirname "$(realpath "$0")")

# Where no daemon is, and where this run's own socket is.
here() {
  state
  export PLIMSOLL_RUNTIME_DIR=$PWD/run PLIMSOLL_SOCKET=$PWD/nobody exec="$plimsoll exec"
  mkfifo never
}

# What a script begins with that waits in a step of its own, or in none: `until` without a program
# that would be a step.
readonly words='turn() { read -rt 0.05 <>never || true; }; await() { until [[ -e $1 ]]; do turn; done; };'

# govern STATUS OPTION...: runs the shell script of the file `build`.
govern() { gives "$1" "$plimsoll" govern "${@:2}" -- bash build; }

# start OPTION...: the same in the background; its guardian is $run.
start() {
  "$plimsoll" govern "$@" -- bash build >out 2>err &
  run=$!
}

# waiting N: so many steps wait.
waiting() { [[ $("$plimsoll" ctl status --json | "$python" -c 'import json, sys; print(json.load(sys.stdin)["status"]["jobs"]["waiting"])') == "$1" ]]; }

case_what_is_launched_is_a_step() {
  here
  cat >build <<'END'
$exec -- cat /proc/self/cgroup >launched
sh -c "$exec -- cat /proc/self/cgroup >within_a_shell"
"${exec% exec}-exec" cat /proc/self/cgroup >by_one_word
$exec -- sh -c 'echo out; echo err >&2; exit 7'
END
  govern 7 --report report
  for file in launched within_a_shell by_one_word; do has $file /pool/command-; done
  same out "$(cat out)"
  same $'cat /proc/self/cgroup\ncat /proc/self/cgroup\ncat /proc/self/cgroup\nsh -c echo out; echo err >&2; exit 7' \
    "$(commands_in report)"
  tail -n 1 report >summary
  told summary 'r["jobs"] == 4' 'r["command"]["steps_again"] == 0'
  has err 'steps        4'
  [[ ! -e $(echo run/*.light) ]] || wrong 'its socket is left'
  becomes_true nothing_left
}

case_it_waits_until_it_fits() {
  here
  echo "$words" >build
  cat >>build <<'END'
$exec -- sh -c 'touch taken; until [ -e go ]; do sleep 0.05; done' &
await taken
$exec -v --hold-max 200ms -- touch too_late 2>why
echo $? >status
$exec -- touch second &
>ready
wait
END
  start -q -j 1
  becomes_true test -e ready
  same 75 "$(cat status)" 'exit status after --hold-max'
  has why 'exec: touch has waited for 200 ms and was not started: '
  becomes_true waiting 1
  [[ ! -e second && ! -e too_late ]] || wrong 'it did not wait'
  touch go
  ends 0
  [[ -e second && ! -e too_late ]] || wrong 'it was not as it should be'
  becomes_true nothing_left
}

# The step of the holder is never run again, is the oldest, and not small; what is killed of the
# compiler is not noticed.
case_a_compiler_is_run_again_unseen() {
  local holds='import os, time; m = bytearray(48 << 20); open("taken", "w").close()'
  holds+='; [time.sleep(0.05) for _ in iter(lambda: os.path.exists("done"), True)]'
  here
  fake_compiler
  printf '%s\n' "$words" "python=$python" "holds='$holds'" >build
  cat >>build <<'END'
$exec --class held -- "$python" -c "$holds" &
await taken
$exec -- gcc -o a.o >warnings && wait
END
  # With a jobserver this gcc could be asked for its version.
  start --line 2G --standalone --report report --jobserver off
  becomes_true test -e attempt1
  empty warnings # kept until it counts
  gives 0 "$plimsoll" ctl line 100M
  becomes_true eval "! grep -qs bin/gcc /proc/[0-9]*/cmdline"
  gives 0 "$plimsoll" ctl line 2G
  becomes_true test -e attempt2
  touch done
  ends 0
  same 'warning of attempt 2' "$(cat warnings)"
  has err 'ran 1 step again unseen'
  lacks err 'killed for memory'
  same 2 "$(commands_in report | wc -l)" 'steps'
  tail -n 1 report >summary
  told summary 'r["jobs"] == 2' 'r["command"]["steps_again"] == 1' 'r["command"]["killed_steps"] == 0'
  becomes_true nothing_left
}

case_past_the_line_it_is_killed_and_told() {
  here
  grower
  echo '$exec -- '"$python"' grow.py 2>why; echo $? >status' >build
  govern 0 --line 200M --standalone
  same 137 "$(cat status)" 'exit status of the launcher'
  has why 'exec: python3 was killed: '
  has err 'killed for memory at'
  has err 'killed 1 step for want of memory'
  becomes_true nothing_left
}

case_what_a_launched_driver_starts_are_steps() {
  type -P make >/dev/null || skip 'no make'
  here
  printf 'all:\n\t@sleep 0.1; cat /proc/self/cgroup >of_recipe\n' >Makefile
  echo '$exec -- make -s' >build
  govern 0 --report report
  has of_recipe /pool/step-
  same 'sleep 0.1; cat /proc/self/cgroup >of_recipe' "$(commands_in report)"
  becomes_true nothing_left
}

# As ccache is launched, and launches the compiler itself.
case_a_launcher_within_what_is_launched_is_heard() {
  here
  echo '$exec -- sh -c '\''cat /proc/self/cgroup >outer; $exec -- cat /proc/self/cgroup >inner'\' >build
  govern 0
  has inner /pool/command-
  ! cmp -s outer inner || wrong 'it is part of the outer step'
  becomes_true nothing_left
}

case_it_dies_with_its_launcher() {
  here
  echo "$words" >build
  cat >>build <<END
$plimsoll exec -- $stays &
await pid
kill -KILL \$!
wait \$! 2>/dev/null
>over
await go
END
  start -q
  becomes_true test -e over
  becomes_true gone "$(cat pid)"
  touch go
  ends 0
  becomes_true nothing_left
}

case_nothing_outlives_the_command() {
  here
  echo "$words" >build
  cat >>build <<END
$plimsoll exec -- $stays &
await pid
END
  govern 0
  has err '1 step still ran when the command had ended, and was killed: '
  all_gone
}

case_what_waits_ends_with_the_command() {
  here
  echo "$words" >build
  cat >>build <<'END'
$exec -- sh -c 'touch taken; exec sleep 1000' &
await taken
$exec -- touch second &
await go
END
  start -j 1
  becomes_true waiting 1
  touch go
  ends 0
  [[ ! -e second ]] || wrong 'it was started'
  becomes_true nothing_left
}

case_it_dies_when_the_guardian_or_the_supervisor_does() {
  here
  local whose
  echo "$plimsoll exec -- $stays" >build
  for whose in guardian supervisor; do
    rm -f pid
    start -q
    becomes_true test -s pid
    if [[ $whose == guardian ]]; then
      kill -KILL "$run"
    else
      kill -KILL "$(supervisor_of "$run")"
    fi
    wait "$run" 2>/dev/null
    all_gone
  done
}

case_who_is_no_driver_is_not_admitted() {
  here
  echo "$words" >build
  cat >>build <<'END'
echo "$PLIMSOLL_LIGHT" >light
>ready
await go
END
  start
  becomes_true test -e ready
  has light "$PWD/run/"
  PLIMSOLL_LIGHT=$(cat light) gives 0 "$plimsoll" exec -- cat /proc/self/cgroup
  lacks out /pool/
  touch go
  ends 0
  has err 'steps        0'
}

# Another user at the sockets of a run of root's: who he is counts there, also where somebody has
# opened the directory and the sockets to all.
case_another_user_is_not_heard() {
  here
  local tool
  chmod 711 .
  export PYTHONPATH=$tests PYTHONDONTWRITEBYTECODE=1
  echo "$words" >build
  cat >>build <<'END'
$exec -- sh -c 'echo $$ >pid.new; mv pid.new pid; exec sleep 1000' &
echo "$PLIMSOLL_LIGHT" >light
await go
$exec -- true
>served
await end
kill "$(cat pid)"
wait
true
END
  for tool in govern session; do
    rm -rf run pid light go served end
    "$plimsoll" "$tool" -- bash build >out 2>err &
    run=$!
    becomes_true test -s pid
    becomes_true test -s light
    light=$(<light) control=${light%.light}.sock
    same 'refused refused ' "$(connects_as_another)"
    becomes_true is_admitted "$(<pid)"
    chmod 711 run
    chmod 666 "$light" "$control"
    same 'ended ended ' "$(connects_as_another)"
    as_another PLIMSOLL_LIGHT="$light" "$plimsoll" exec -- cat /proc/self/cgroup >of_another
    lacks of_another /pool/
    for word in status 'pause sh' 'kill sh' 'kill 1' 'jobs 0'; do
      # shellcheck disable=SC2086 # words are words
      ! as_another "$plimsoll" ctl $word >heard 2>&1 || wrong "$tool heard another user's $word: $(cat heard)"
    done
    as_another_stays >silent &
    another=$!
    becomes_true test -s silent
    touch go
    becomes_true test -e served
    is_admitted "$(<pid)" && lives "$(<pid)" || wrong "$tool: its step is not what it was"
    [[ $(sed -n 's/^State:\t\(.\).*/\1/p' "/proc/$(<pid)/status") == S ]] || wrong "$tool: its step was stopped"
    kill "$another"
    wait "$another"
    rm silent
    touch end
    ends 0
    all_gone
  done
}
as_another() { setpriv --reuid 65534 --regid 65534 --clear-groups env "$@"; }
# is_admitted PID: it is in a group of the run.
is_admitted() { grep -q /pool/command- "/proc/$1/cgroup"; }
# What becomes of his connections, the first of which names a process of the run's.
connects_as_another() {
  as_another "$python" - "$light" "$control" "$(<pid)" <<'END'
import array, os, socket, sys
from light_peer import enter
for path, kind in (sys.argv[1], socket.SOCK_SEQPACKET), (sys.argv[2], socket.SOCK_STREAM):
    link = socket.socket(socket.AF_UNIX, kind)
    try:
        link.connect(path)
        if kind == socket.SOCK_SEQPACKET:
            pidfd = array.array("i", [os.pidfd_open(int(sys.argv[3]))])
            link.sendmsg([enter()], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, pidfd)])
        else:
            link.sendall(b'{"schema":"plimsoll.control/1","command":"status"}\n')
        print("answered" if link.recv(9000) else "ended", end=" ")
    except PermissionError:
        print("refused", end=" ")
    except (BrokenPipeError, ConnectionResetError):
        print("ended", end=" ")
END
}
# More connections than there are places for, which say nothing, and come again when they are closed.
as_another_stays() {
  exec setpriv --reuid 65534 --regid 65534 --clear-groups "$python" - "$light" "$control" <<'END'
import os, socket, sys, time
held = []
def come():
    for path, kind in (sys.argv[1], socket.SOCK_SEQPACKET), (sys.argv[2], socket.SOCK_STREAM):
        link = socket.socket(socket.AF_UNIX, kind)
        link.setblocking(False)
        try:
            link.connect(path)
            held.append(link)
        except BlockingIOError:
            pass  # as many wait to be accepted
for _ in range(500):
    come()
print("silent", flush=True)
while True:
    del held[:2]
    come()
    time.sleep(0.001)
END
}

case_where_nothing_is_held_it_is_executed_at_once() {
  here
  echo '$exec -- touch made; echo "$PLIMSOLL_LIGHT" >light' >build
  govern 0 --no-hold
  [[ -e made ]] || wrong 'it was not executed'
  same '' "$(cat light)"
}

case_a_batch_below_it_admits_its_own() {
  here
  echo '$exec -- cat /proc/self/cgroup >of_command' >jobs
  echo '"${exec% exec}" batch jobs 2>inner' >build
  govern 0
  has inner 'commands 1'
  has of_command /pool/command-
}

case_make_and_cmake_can_use_it() {
  here
  printf '#include <stdio.h>\nint main(void) { puts("built"); }\n' >a.c
  if type -P make >/dev/null && type -P gcc >/dev/null; then
    printf 'all: a b\na b: a.c ; $(CC) -o $@ a.c\n' >Makefile
    gives 0 "$plimsoll" govern --report report -- make -s -j2 CC="$exec -- gcc"
    same 'gcc -o a a.c,gcc -o b a.c' "$(commands_in report | paste -sd,)"
  fi
  if type -P cmake >/dev/null; then
    printf 'cmake_minimum_required(VERSION 3.20)\nproject(a C)\nadd_executable(made a.c)\n' >CMakeLists.txt
    gives 0 cmake -S . -B tree -D "CMAKE_C_COMPILER_LAUNCHER=$plimsoll;exec;--" -D "CMAKE_C_LINKER_LAUNCHER=$plimsoll;exec;--"
    gives 0 "$plimsoll" govern --report report -- cmake --build tree
    same built "$(tree/made)"
    commands_in report >steps
    lacks steps "$plimsoll"
  fi
  becomes_true nothing_left
}

run_cases "$@"

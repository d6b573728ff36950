#!/bin/bash
# `plimsoll govern` where it can't hold steps, or draw on the terminal: it says so once; its last line counts.
# program: released
# shellcheck disable=SC2016,SC2317 # dollars are for the shells that are run; called by name
set -uo pipefail
source "$(dirname "$(realpath "$0")")/cases.bash"
unset PLIMSOLL_JOB PLIMSOLL_GOVERN PLIMSOLL_LIGHT
here=$(dirname "$(realpath "$0")")

# measured HOW...: under that filter the command is measured as a whole.
measured() {
  gives 3 "$python" "$here/filtered.py" "$@" "$plimsoll" govern -- sh -c 'sh -c "echo still; :"; exit 3'
  same still "$(<out)"
  same 1 "$(grep -c 'measured as a whole, and nothing that it starts is held or paused' err)"
  lacks err 'steps  '
}

case_somebody_else_listens() {
  state
  measured listen
  has err 'another seccomp filter listens to this process already'
}

case_no_filter_can_be_installed() {
  state
  measured refuse seccomp
  has err 'the seccomp filter that reports execs cannot be installed: Operation not permitted'
}

# By whoever makes the socket, not by each launcher that does not find it.
case_a_socket_path_that_is_too_long_is_told_once() {
  state
  PLIMSOLL_RUNTIME_DIR=$PWD/$(printf 'd%.0s' {1..100})
  export PLIMSOLL_RUNTIME_DIR
  gives 0 "$plimsoll" govern -- sh -c '"$0" exec -- true; "$0" exec -- true' "$plimsoll"
  same 1 "$(grep -c 'plimsoll exec. starts at once what it launches: ' err)"
  gives 0 "$plimsoll" batch --progress none -- {} ::: true true
  same 1 "$(grep -c 'plimsoll exec. does not wait in jobs of this run: ' err)"
  gives 0 "$plimsoll" govern -q -- true
  empty err
}

case_what_a_launcher_leaves_is_named_once() {
  state
  mkfifo never
  gives 0 "$plimsoll" govern -- bash -c '"$0" exec -- sh -c "touch began; exec sleep 1000" &
    until [ -e began ]; do read -rt 0.05 <>never || :; done' "$plimsoll"
  same 1 "$(grep -c 'still ran when the command had ended' err)"
  lacks err 'plimsoll ('
}

# Its output goes elsewhere, or there would be no line.
case_progress_is_a_line_on_a_terminal_of_its_own() {
  state
  cat >line.py <<'END'
import os, pty, select, sys, time
pid, fd = pty.fork()
if pid == 0:
    script = 'exec "$0" govern --progress -- sh -c "until [ -e go ]; do sleep 0.05; done; echo printed" ' + sys.argv[3]
    os.execv("/bin/sh", ["sh", "-c", script, sys.argv[1]])
seen, end = "", time.monotonic() + float(sys.argv[2])
while sys.argv[4] not in seen:
    assert select.select([fd], [], [], end - time.monotonic())[0], seen
    seen += os.read(fd, 4096).decode(errors="replace")
open("go", "w").close()
try:
    while True: seen += os.read(fd, 4096).decode(errors="replace")
except OSError:
    pass
assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0
open("seen", "w").write(seen)
END
  gives 0 "$python" line.py "$plimsoll" "$patience" '>log 2>&1' 'plimsoll: '
  has seen 'memory'
  lacks seen 'printed'
  has log 'printed'
  lacks log 'done,'
  rm go
  gives 0 "$python" line.py "$plimsoll" "$patience" '' 'plimsoll: '
  has seen '--progress shows nothing here: the command writes to the terminal'
  has seen 'plimsoll top'
}

run_cases "${1:-}"

#!/bin/bash
# `plimsoll govern` where it can't listen, or draw on the terminal: it says so once, and finds steps by
# looking at processes; its last line counts.
# program: released
# shellcheck disable=SC2016,SC2317 # dollars are for the shells that are run; called by name
set -uo pipefail
source "$(dirname "$(realpath "$0")")/cases.bash"
source "$(dirname "$(realpath "$0")")/watched.bash"

# In command lines here, so that what is left of them is found.
readonly needle=1$$.125

# A step that nobody who looks can miss: it lasts until the test has seen it.
lasts='until [ -e go ]; do sleep 0.05; done; echo still; :'

# announced REASON HOW...: it is said once, and steps are found.
announced() {
  state
  watched "${@:2}" -- --report steps.jsonl -- sh -c "sh -c '$lasts'; exit 3" >out 2>err &
  local guardian=$!
  becomes_true eval '"$plimsoll" ctl status 2>&1 | grep -q "1 running"'
  touch go
  wait $guardian
  same 3 $? 'exit status'
  same still "$(<out)"
  same 1 "$(grep -c 'steps are found by looking at processes, up to 50 ms late' err)"
  has err "cannot hear when programs are executed: $1"
  lacks err 'measured as a whole'
  same "$lasts" "$(commands_in steps.jsonl)"
  grep -q '"why_watched"' steps.jsonl || wrong 'the report does not tell how the steps were found'
  gives 0 "$plimsoll" report last
  has out 'without those too short to be seen'
  gives 0 "$plimsoll" explain last
}

case_somebody_else_listens() {
  announced 'another seccomp filter listens to this process already' listen
}

case_no_filter_can_be_installed() {
  announced 'the seccomp filter that reports execs cannot be installed: Operation not permitted' \
    refuse seccomp
}

case_memory_of_others_can_not_be_read() {
  announced 'read the memory of process ' refuse process_vm_readv
}

case_without_holding_nothing_is_looked_for() {
  state
  gives 3 "$python" "$here/filtered.py" listen "$plimsoll" govern --no-hold -- sh -c 'sleep 0.3; exit 3'
  same 1 "$(grep -c 'measured as a whole, and nothing that it starts is held or paused' err)"
  lacks err 'found by looking'
  lacks err 'steps  '
  gives 0 "$python" "$here/filtered.py" listen "$plimsoll" govern --no-hold -- "$plimsoll" govern -- sleep 0.3
  lacks err 'governs this command already'
  same 1 "$(grep -c 'found by looking' err)"
}

# need.py: needs 60 MiB, a MiB after the other.
need() {
  cat >need.py <<'END'
import time
memory = bytearray()
for _ in range(60):
    memory.extend(b"x" * (1 << 20))
    time.sleep(0.02)
END
}

# eight_fit REPORT PEAK: eight steps were measured, some waited or were paused, and the line held.
eight_fit() {
  lacks err 'for memory'
  "$python" - "$@" <<'END' || wrong 'what was measured'
import json, sys
*steps, run = [json.loads(line) for line in open(sys.argv[1])]
assert len(steps) == 8, len(steps)
peaks = [step["memory"][sys.argv[2]] for step in steps]
assert min(peaks) > 30 << 20, peaks
assert run["command"]["held_steps"] + run.get("pauses", 0) > 0, run
assert run["used_peak_bytes"] < 2 * (180 << 20), run["used_peak_bytes"]
END
}

case_steps_that_are_found_fit() {
  state
  need
  printf 'all: s1 s2 s3 s4 s5 s6 s7 s8\ns%%: ; @cd . && "%s" need.py $@\n' "$python" >Makefile
  gives 0 watched listen -- --line 180M --standalone --report steps.jsonl -- make -s -j8
  eight_fit steps.jsonl peak_bytes
}

case_steps_that_are_found_fit_in_process_mode() {
  state
  need
  gives 0 watched listen -- --cgroup none --line 180M --standalone --report steps.jsonl -- \
    xargs -P 8 -n 1 "$python" need.py < <(seq 8)
  eight_fit steps.jsonl sampled_peak_bytes
}

case_what_does_not_fit_is_killed_and_the_command_runs_again() {
  state
  cat >need.py <<'END'
import os, time
if os.path.exists("small"):
    time.sleep(0.5)
    raise SystemExit
open("small", "w").close()
memory = bytearray(400 << 20)
time.sleep(1000)
END
  printf 'all: ; @%s need.py %s\n' "$python" "$needle" >Makefile
  gives 0 watched listen -- --cgroup none --line 100M --standalone --rerun 1 --report steps.jsonl -- make -s
  has err 'killed for memory at'
  has err 'running the command again (1 of 1)'
  same 2 "$(commands_in steps.jsonl | wc -l)"
}

# A shell that starts a make is a driver, and so is the make, whichever of them was seen first.
case_drivers_that_are_found_are_known() {
  state
  printf 'all: ; +@sh -c "cd . && $(MAKE) -s below"\nbelow: ; @%s\n' "touch began; $lasts" >Makefile
  watched listen -- --report steps.jsonl -- make -s >out 2>err &
  local guardian=$!
  becomes_true test -e began
  becomes_true eval '"$plimsoll" ctl status 2>&1 | grep -q "1 running"'
  touch go
  wait $guardian
  same 0 $?
  same "touch began; $lasts" "$(commands_in steps.jsonl)"
}

# goes_on OPTION...: a driver whose Popen waits in vfork(2) for the exec of its child, and never longer.
goes_on() {
  state
  cat >driver.py <<'END'
import subprocess
steps = [subprocess.Popen(["sh", "-c", f"sleep 0.4; echo {i}"]) for i in range(4)]
assert [each.wait() for each in steps] == [0] * 4
END
  gives 0 watched listen -- "$@" -q -j 1 --driver python3 --report steps.jsonl -- "$python" driver.py
  same $'0\n1\n2\n3' "$(sort out)"
  same 4 "$(commands_in steps.jsonl | wc -l)"
}

case_no_parent_is_stopped_with_what_is_found() { goes_on; }
case_no_parent_is_stopped_in_process_mode() { goes_on --cgroup none; }

# It may have groups for its jobs by the time that it is seen.
case_a_batch_that_is_found_is_left_alone() {
  state
  gives 0 watched listen -- --report steps.jsonl -- \
    sh -c '"$0" batch --progress none -- "sleep 0.4; echo {}" ::: 1 2 3; true' "$plimsoll"
  same $'1\n2\n3' "$(sort out)"
  same '' "$(commands_in steps.jsonl)"
}

# Two would take each step from each other, here too.
case_govern_within_govern_leaves_all_to_the_outer_one() {
  local how
  for how in listen 'refuse seccomp'; do
    state
    # shellcheck disable=SC2086 # words of it
    gives 0 watched $how -- --report steps.jsonl -- \
      sh -c '"$0" govern -- sh -c "sh -c \"sleep 0.4; echo once\"; :"; true' "$plimsoll"
    same once "$(<out)"
    same 1 "$(grep -c 'governs this command already' err)"
    same 1 "$(grep -c 'found by looking at processes, up to' err)"
    same 1 "$(commands_in steps.jsonl | grep -c once)"
  done
}

case_an_ordinary_user_watches() {
  is_root || skip 'not root'
  local user=$((50000 + $$ % 10000))
  chmod 755 .
  cp "$plimsoll" program
  cp "$here/filtered.py" .
  install -d -o $user -m 700 home
  gives 0 setpriv --reuid $user --regid $user --clear-groups --no-new-privs env -u PLIMSOLL_CGROUP \
    -u XDG_RUNTIME_DIR PLIMSOLL_STATE_DIR="$PWD/home" PLIMSOLL_RUNTIME_DIR="$PWD/home" \
    "$python" filtered.py listen ./program govern -j 1 -- xargs -P 3 -n 1 sh -c 'sleep 0.5; echo done' < <(seq 3)
  same 3 "$(grep -c done out)"
  same 1 "$(grep -c 'steps are found by looking at processes' err)"
  has err 'steps        3'
  has err 'held 2 steps'
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

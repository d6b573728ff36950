#!/bin/bash
# `plimsoll govern` and `plimsoll session` without cgroups: by signals; the last line counts.
# program: released
# shellcheck disable=SC2016,SC2317 # dollars are for the shells that are run; called by name
set -uo pipefail
source "$(dirname "$(realpath "$0")")/cases.bash"
unset PLIMSOLL_JOB PLIMSOLL_GOVERN PLIMSOLL_LIGHT
here=$(dirname "$(realpath "$0")")

# In every command line here, so that what is left of it is found.
readonly needle=1$$.375

# govern STATUS OPTION... -- COMMAND...
govern() { gives "$1" "$plimsoll" govern --cgroup none "${@:2}"; }

# pids_of WORDS: who bears these words and the needle.
pids_of() { pgrep -f -- "^$1.*$needle" || true; }
all_gone() { [[ -z $(pgrep -f -- "$needle") ]]; }
# stopped PID
stopped() { grep -qs '^State:.T' "/proc/$1/status"; }
# stopped_of WORDS: how many of those stand.
stopped_of() {
  local pid number=0
  for pid in $(pids_of "$1"); do ! stopped "$pid" || number=$((number + 1)); done
  echo $number
}

# steps_in REPORT: the commands of the steps, one a line.
steps_in() {
  "$python" -c '
import json, sys
for line in open(sys.argv[1]):
    step = json.loads(line)
    if step["schema"] == "plimsoll.job/1":
        print(step.get("shell") or " ".join(step["argv"]))' "$1"
}

case_it_is_announced_and_steps_are_governed() {
  state
  govern 3 --report steps.jsonl -- sh -c 'sh -c "echo step; :"; exit 3'
  same step "$(<out)"
  same 1 "$(grep -c 'process mode, without cgroups' err)"
  lacks err 'measured as a whole'
  has err 'steps        1'
  same 'echo step; :' "$(steps_in steps.jsonl)"
}

case_steps_are_held_and_all_end() {
  state
  govern 0 -q -j 2 --report steps.jsonl -- xargs -P 12 -n 1 sh -c 'sleep 0.2; echo done' < <(seq 12)
  same 12 "$(grep -c done out)"
  same 12 "$(steps_in steps.jsonl | wc -l)"
  gives 0 "$plimsoll" report last
  grep -q 'held [1-9]' out || wrong "nothing was held: $(<out)"
}

# Held ones stand before their first instruction, and a TERM reaches them.
case_what_is_held_has_run_nothing() {
  state
  "$plimsoll" govern --cgroup none -q -j 1 -- \
    xargs -P 4 -I{} sh -c 'touch began.$1; sleep 1000' "$needle" {} < <(seq 4) 2>err &
  local guardian=$!
  becomes_true eval '[[ $(stopped_of "sh -c touch began.\\\$1; sleep 1000") == 3 ]]'
  becomes_true eval '[[ $(find . -name "began.*") ]]'
  same 1 "$(find . -name 'began.*' | wc -l)" 'steps that began'
  kill -TERM $guardian
  wait $guardian
  same 143 $? 'status of TERM'
  becomes_true all_gone
}

# Popen waits in vfork(2) for the exec of its child.
case_no_parent_waits_for_what_is_held() {
  state
  cat >driver.py <<'END'
import subprocess
first = subprocess.Popen(["sh", "-c", "until [ -e spawned ]; do sleep 0.05; done"])
rest = [subprocess.Popen(["sh", "-c", f"echo {i}"]) for i in range(4)]
open("spawned", "w").close()
assert [each.wait() for each in [first, *rest]] == [0] * 5
END
  govern 0 -q -j 1 --driver python3 -- "$python" driver.py
  same $'0\n1\n2\n3' "$(sort out)"
}

case_an_exec_that_fails_leaves_nobody_stopped() {
  state
  printf '#!/no/such/interpreter\n' >broken
  chmod +x broken
  govern 0 -q -j 1 -- sh -c 'sleep 0.5 & ./broken; ./broken; wait'
}

# What a step waits in, without a child: who stands in vfork(2) is not shown as stopped.
awaits_go='until [ -e go ]; do read -rt 0.05 <>never; done; true'

# Another process of the user's may continue what Plimsoll has stopped. The other step may stand for a
# moment as well, before it is started: so the one that is held is the one that has not begun.
case_who_is_continued_is_stopped_again() {
  state
  mkfifo never
  "$plimsoll" govern --cgroup none -q -j 1 -- \
    xargs -P 2 -I{} bash -c ": >began.\$\$; $awaits_go; echo {}" "$needle" < <(seq 2) >out 2>err &
  local guardian=$! held
  becomes_true eval '[[ $(compgen -G "began.*") ]]'
  held() {
    for held in $(pids_of 'bash -c :'); do
      [[ ! -e began.$held ]] && stopped "$held" && return
    done
    return 1
  }
  becomes_true held
  becomes_true eval 'kill -CONT "$held"; [[ -e began.$held ]]'
  becomes_true stopped "$held"
  touch go
  wait $guardian
  same 0 $?
  same $'1\n2' "$(sort out)"
}

case_steps_are_paused_and_resumed() {
  state
  mkfifo never
  "$plimsoll" govern --cgroup none -q -- xargs -P 1 -n 1 bash -c "$awaits_go" "$needle" <<<x >out 2>err &
  local guardian=$! step
  becomes_true eval 'step=$(pids_of "bash -c until"); [[ $step ]]'
  gives 0 "$plimsoll" ctl pause 1
  becomes_true stopped "$step"
  gives 0 "$plimsoll" ctl resume 1
  becomes_true eval '! stopped "$step"'
  touch go
  wait $guardian
  same 0 $?
}

case_a_step_that_does_not_fit_is_named_and_killed() {
  state
  cat >need.py <<'END'
import os, time
if os.path.exists("small"): raise SystemExit
open("small", "w").close()
memory = bytearray(400 << 20)
time.sleep(1000)
END
  printf 'all: ; @%s need.py %s\n' "$python" "$needle" >Makefile
  govern 0 --line 100M --standalone --rerun 1 -- make -s
  has err 'killed for memory at'
  has err 'running the command again (1 of 1)'
  becomes_true all_gone
}

# What is known of a class lets as many start as fit; the memory of drivers does not count.
case_memory_is_kept_for_those_that_run() {
  state
  cat >need.py <<'END'
import sys, time
memory = bytearray()
for _ in range(60):
    memory.extend(b"x" * (1 << 20))
    time.sleep(0.02)
END
  cat >driver.py <<'END'
import subprocess, sys
own = bytearray(200 << 20)
steps = [subprocess.Popen([sys.executable, "need.py"]) for _ in range(8)]
assert [step.wait() for step in steps] == [0] * 8
END
  govern 0 --line 180M --standalone --report steps.jsonl --driver driver.py -- "$python" driver.py
  lacks err 'killed for memory'
  "$python" - <<'END' || wrong 'what was measured'
import json
*steps, run = [json.loads(line) for line in open("steps.jsonl")]
assert len(steps) == 8, len(steps)
peaks = [step["memory"]["sampled_peak_bytes"] for step in steps]
assert max(peaks) > 40 << 20, peaks
assert run["used_peak_bytes"] < 2 * (180 << 20), run["used_peak_bytes"]
END
}

# Most of these end before anybody looks.
case_of_what_nobody_saw_no_memory_is_told() {
  state
  govern 0 -q --report steps.jsonl -- xargs -n 1 true < <(seq 20)
  "$python" - <<'END' || wrong 'what is told of memory'
import json
*steps, run = [json.loads(line) for line in open("steps.jsonl")]
peaks = [step.get("memory", {}).get("sampled_peak_bytes") for step in steps]
assert steps and 0 not in peaks, peaks
END
}

case_nothing_outlives_the_command() {
  state
  govern 0 -- sh -c 'setsid sleep $0 & (setsid sh -c "sleep $0 & sleep $0" &); sleep 0.3' "$needle"
  has err 'still ran when the command had ended'
  becomes_true all_gone
}

# all_six: sets `victims` to the sleeping steps, held ones too, once all can be seen.
all_six() {
  victims=$(pids_of sleep)
  (($(wc -w <<<"$victims") == 6))
}

# kill_at WHO STATUS: while steps run and others are held.
kill_at() {
  state
  local guardian victims pid
  "$plimsoll" govern --cgroup none -q -j 2 -- xargs -P 6 -n 1 sleep < <(yes "$needle" | head -n 6) >out 2>err &
  guardian=$!
  becomes_true eval '[[ $(stopped_of sleep) == 4 ]]'
  case $1 in
    guardian) victims=$guardian ;;
    supervisor) victims=$(supervisor_of $guardian) ;;
    both) victims="$guardian $(supervisor_of $guardian)" ;;
    driver) victims=$(pgrep -P $guardian -x xargs) ;;
    held) becomes_true all_six ;;
  esac
  # shellcheck disable=SC2086 # one or several
  kill -KILL $victims
  wait $guardian 2>/dev/null
  same "$2" $? "status after the death of the $1"
  # A killed process is not dead at once, and who has to end what is left looks once.
  for pid in $victims; do becomes_true gone "$pid"; done
  # Whoever starts next ends what is left where both have died.
  [[ $1 != both ]] || gives 0 "$plimsoll" run --cgroup none -q -- true
  becomes_true all_gone
}

case_the_guardian_dies() { kill_at guardian 137; }
case_the_supervisor_dies() { kill_at supervisor 125; }
case_both_die() { kill_at both 137; }
case_what_runs_and_what_is_held_dies() { kill_at held 125; }
case_the_driver_dies() { kill_at driver 137; }

case_launched_commands_wait_and_run_again() {
  state
  govern 0 -q -j 1 --report steps.jsonl -- xargs -P 4 -I{} "$plimsoll" exec -- sh -c 'sleep 0.1; echo {}' < <(seq 4)
  same $'1\n2\n3\n4' "$(sort out)"
  same 4 "$(steps_in steps.jsonl | wc -l)"
}

# terminal: terminal.py, which types into a program on a terminal and reads what it shows.
terminal() {
  cat >terminal.py <<'END'
import os, pty, select, sys, time

shell = ["/bin/bash", "--norc", "--noprofile", "--noediting", "-i"]

class Terminal:
    def __init__(self, argv):
        self.pid, self.fd = pty.fork()
        if self.pid == 0:
            os.environ.update(PS1="ready> ", HISTFILE="")
            os.execv(argv[0], argv)
        self.seen = ""

    def expect(self, text):
        end = time.monotonic() + float(sys.argv[1])
        while text not in self.seen:
            if not select.select([self.fd], [], [], max(end - time.monotonic(), 0))[0]:
                sys.exit(f"waited for {text!r}: {self.seen!r}")
            self.seen += os.read(self.fd, 4096).decode(errors="replace")
        before, self.seen = self.seen.split(text, 1)
        return before

    def type(self, text):
        os.write(self.fd, text.encode())

    def end(self):
        return os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])

def wait_for(happens):
    end = time.monotonic() + float(sys.argv[1])
    while not happens():
        if time.monotonic() > end: sys.exit(f"waited in vain in line {sys._getframe(1).f_lineno}")
        time.sleep(0.02)
END
}

# types FILE ARGUMENT...: runs that script of terminal.py's.
types() { PYTHONPATH=. gives 0 timeout "$((3 * patience))" "$python" "$1" "$patience" "${@:2}"; }

# A shell with job control takes who stops for stopped by its user.
case_an_interactive_shell_does_not_see_a_stop() {
  state
  terminal
  cat >script.py <<'END'
from terminal import *
program = sys.argv[2]
terminal = Terminal([program, "session", "--cgroup", "none", "-q", "-j", "1", "--", *shell])
terminal.expect("ready> ")
terminal.type("sh -c 'touch taken; until [ -e go ]; do sleep 0.05; done' &\n")
wait_for(lambda: os.path.exists("taken"))
terminal.type("/bin/echo sec''ond; echo status=$?\n")
wait_for(lambda: os.system(f"'{program}' ctl status 2>&1 | grep -q '1 waiting'") == 0)
open("go", "w").close()
text = terminal.expect("status=0")
assert "second" in text and "topped" not in text, text
terminal.type("exit\n")
assert terminal.end() == 0
END
  types script.py "$plimsoll"
}

# `fg` continues all that are of the process group, those that are held among them.
case_ctrl_z_and_fg() {
  state
  terminal
  seq 3 >words
  mkfifo never
  cat >script.py <<'END'
import re, subprocess
from terminal import *
program, needle = sys.argv[2:]

def stopped():
    steps = subprocess.run(["pgrep", "-f", f"^bash -c until .* {needle}"], capture_output=True)
    text = [open(f"/proc/{pid}/status").read() for pid in steps.stdout.decode().split()]
    return len([each for each in text if re.search(r"^State:\sT", each, re.M)])

terminal = Terminal(shell)
terminal.expect("ready> ")
step = "until [ -e go ]; do read -rt 0.05 <>never; done; echo en''ded"
terminal.type(f"'{program}' govern --cgroup none -q -j 1 -- "
              f"xargs -P 3 -I@ bash -c \"{step}\" {needle} @ <words\n")
wait_for(lambda: stopped() == 2)
terminal.type("\x1a")
terminal.expect("Stopped")
terminal.expect("ready> ")
wait_for(lambda: stopped() == 3)
terminal.type("fg\n")
wait_for(lambda: stopped() == 2)
open("go", "w").close()
text = terminal.expect("ready> ")
assert text.count("ended") == 3, text
terminal.type("echo status''=$?\n")
terminal.expect("status=0")
terminal.type("exit\n")
assert terminal.end() == 0
END
  types script.py "$plimsoll" "$needle"
}

case_ctrl_c_ends_what_is_held() {
  state
  terminal
  seq 3 >words
  cat >script.py <<'END'
import subprocess
from terminal import *
program, needle = sys.argv[2:]
terminal = Terminal(shell)
terminal.expect("ready> ")
terminal.type(f"'{program}' govern --cgroup none -q -j 1 -- xargs -P 3 -I@ sleep {needle} <words; echo status''=$?\n")
steps = lambda: subprocess.run(["pgrep", "-fc", f"^sleep {needle}"], capture_output=True).stdout
wait_for(lambda: steps() == b"3\n")
terminal.type("\x03")
terminal.expect("ready> ")
wait_for(lambda: steps() == b"0\n")
terminal.type("echo status''=$?\n")
terminal.expect("status=130")
terminal.type("exit\n")
terminal.end()
END
  types script.py "$plimsoll" "$needle"
}

case_memory_of_others_can_not_be_read() {
  state
  gives 3 "$python" "$here/filtered.py" refuse process_vm_readv "$plimsoll" govern --cgroup none -- \
    sh -c 'sh -c "echo still; :"; exit 3'
  same still "$(<out)"
  has err 'cannot hear when programs are executed: read the memory of process'
}

# Where a signal ends the wait of an exec and begins it anew.
case_a_kernel_without_the_flag_holds_as_well() {
  state
  gives 0 "$python" "$here/filtered.py" old-flags "$plimsoll" govern --cgroup none -q -j 1 --report steps.jsonl -- \
    xargs -P 6 -n 1 sh -c 'sleep 0.1; echo done' < <(seq 6)
  same 6 "$(grep -c done out)"
  same 6 "$(steps_in steps.jsonl | wc -l)"
}

case_an_ordinary_user() {
  is_root || skip 'not root'
  local user=$((50000 + $$ % 10000))
  chmod 755 .
  cp "$plimsoll" program
  install -d -o $user -m 700 home
  gives 0 setpriv --reuid $user --regid $user --clear-groups --no-new-privs env -u PLIMSOLL_CGROUP \
    -u XDG_RUNTIME_DIR PLIMSOLL_STATE_DIR="$PWD/home" PLIMSOLL_RUNTIME_DIR="$PWD/home" ./program govern -j 1 \
    -- xargs -P 3 -n 1 sh -c 'sleep 0.1; echo done' < <(seq 3)
  same 3 "$(grep -c done out)"
  same 1 "$(grep -c 'process mode, without cgroups' err)"
  lacks err 'measured as a whole'
  has err 'steps        3'
}

run_cases "${1:-}"

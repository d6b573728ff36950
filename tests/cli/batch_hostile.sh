#!/bin/bash
# Commands of jobs of a batch in bad company: jobs that speak to its light socket by hand and mean
# harm to other jobs, to processes that are not theirs, to the run's end; launchers that stand still;
# a kernel that kills. Last line: `N passed, N failed`.
# Usage: tests/cli/batch_hostile.sh [CASE]
# program: released
set -uo pipefail
source "$(dirname "$(realpath "$0")")/cases.bash"

unset PLIMSOLL_JOB PLIMSOLL_GOVERN PLIMSOLL_LIGHT
is_root || skip_all 'not root'
peers=$(dirname "$(realpath "$0")")

here() {
  state
  export PLIMSOLL_RUNTIME_DIR=$PWD/run PLIMSOLL_SOCKET=$PWD/nobody PYTHONPATH=$peers PYTHONDONTWRITEBYTECODE=1
}

# start OPTION...: runs the file `jobs` in the background; its guardian is $run.
start() {
  "$plimsoll" batch "$@" jobs >out 2>err &
  run=$!
}

# ends STATUS: the run that was started does, and nothing is left.
ends() {
  local seen=0
  wait "$run" || seen=$?
  same "$1" "$seen" 'exit status of the run'
  becomes_true nothing_left
}

# peer: a job's program, which speaks the protocol.
peer() {
  { echo 'from light_peer import *'; cat; } >peer.py
  echo "$python peer.py" >jobs
}

# frozen PID: its group is.
frozen() {
  local path root
  path=$(sed -n 's/^0:://p' "/proc/$1/cgroup")
  for root in /sys/fs/cgroup /sys/fs/cgroup/unified; do
    ! grep -qs '^frozen 1' "$root$path/cgroup.events" || return 0
  done
  return 1
}

# What waits could use memory that nobody is asked for, and others would have to go for it.
case_what_waits_stands_still() {
  grep -q '^0::' /proc/self/cgroup || skip 'no v2 tree'
  here
  peer <<'PEER'
first = child(move)
holder = Launcher()
holder.enter(first, job_class="holder", hint=100 << 20)
assert holder.hear() == "admitted"
go, goes = os.pipe()
second = child(lambda: (os.read(go, 1), tell("ran", "")))
waiting = Launcher()
waiting.enter(second, job_class="other", hint=1 << 50)
assert waiting.hear() == "held"
tell("pid", second)
wait_for("look")
os.write(goes, b"x")
tell("told", "")
wait_for("end")
os.kill(first, 9)
holder.close()
while waiting.hear() != "admitted":
    pass
os.waitpid(second, 0)
PEER
  start --line 200M
  becomes_true test -e pid
  becomes_true frozen "$(<pid)"
  touch look
  becomes_true test -e told
  [[ ! -e ran ]] || wrong 'it ran while it waited'
  touch end
  ends 0
  [[ -e ran ]] || wrong 'it never ran'
}

# Its process forks without a pause, also between its move and its freeze.
case_what_never_began_ends_whole() {
  here
  peer <<'PEER'
def fork_on():
    for _ in range(50):
        child(stay)
    stay()
first = child(move)
holder = Launcher()
holder.enter(first, job_class="holder", hint=100 << 20)
assert holder.hear() == "admitted"
waiting = Launcher()
second = child(fork_on)
waiting.enter(second, job_class="other", hint=1 << 50)
assert waiting.hear() == "held"
tell("group", open(f"/proc/{second}/cgroup").read())
waiting.close()
wait_for("end")
PEER
  start --line 200M
  becomes_true grep -qs /pool/command- group
  becomes_true eval '[[ -z $(members) ]]'
  touch end
  ends 0
}
# Who lives in the group that `group` names.
members() {
  local path root
  path=$(sed -n 's/.*:\(.*\/command-.*\)/\1/p' group | head -n 1)
  for root in $(hierarchies_used); do cat "$root$path/cgroup.procs" 2>/dev/null; done
}

# One of its own, of another job, of nobody's; threads; what has ended; and what is no process.
case_who_may_be_named() {
  here
  peer <<'PEER'
import select, threading
wait_for("other")
wait_for("supervisor")
def answer(frame, *descriptors):
    asks = Launcher()
    asks.say(frame, *descriptors)
    heard = asks.hear()
    asks.close()
    return heard
names = {"init": 1, "other job": int(open("other").read()), "supervisor": int(open("supervisor").read())}
for name, pid in names.items():
    assert answer(enter(), os.pidfd_open(pid)) == "refused", name
mine = child(stay)
pidfd = os.pidfd_open(mine)
for name, frame in {"no version": b"", "kind": b"\x01\x63", "cut": enter()[:-1], "long": enter() + b"x",
                    "huge": enter() + b"x" * 20000, "words": enter(words=["x"] * 65), "again": AGAIN}.items():
    if frame:
        assert answer(frame, pidfd) == "refused", name
assert answer(enter()) == "refused", "nothing"
for descriptor in select.epoll().fileno(), os.open("/", os.O_RDONLY), os.pipe()[0]:
    assert answer(enter(), descriptor) == "refused", descriptor
    assert answer(enter(), pidfd, descriptor) == "refused", descriptor
os.kill(mine, 9)
os.waitid(os.P_PID, mine, os.WEXITED | os.WNOWAIT)
assert answer(enter(), pidfd) == "refused", "zombie"
os.waitpid(mine, 0)
assert answer(enter(), pidfd) == "refused", "dead"
twice = child(stay)
one, two = Launcher(), Launcher()
one.enter(twice)
two.enter(twice)
one.hear(), two.hear()
one.close()
two.close()
os.waitpid(twice, 0)
# This process itself, which is its launcher, and the job.
itself = Launcher()
itself.enter(os.getpid())
tell("named", itself.hear())
stay()
PEER
  echo 'echo $$ >other.new; mv other.new other; until [ -e end ]; do sleep 0.05; done' >>jobs
  start
  becomes_true eval '[[ -n $(supervisor_of "$run") ]]'
  supervisor_of "$run" >found && mv found supervisor
  becomes_true test -e named
  [[ $(<named) == @(admitted|held) ]] || wrong "of itself: $(<named)"
  gives 0 "$plimsoll" ctl kill 1
  touch end
  ends 1
}

# However many connections say nothing, or half of something, other jobs have their commands.
case_connections_that_say_nothing() {
  here
  peer <<'PEER'
import resource
resource.setrlimit(resource.RLIMIT_NOFILE, (4096, 4096))
kept = []
for i in range(900):
    kept.append(Launcher())
    if i % 3 == 1:
        kept[-1].say(b"\x01")
    if i % 3 == 2:
        kept[-1].say(enter())
tell("kept", len(kept))
wait_for("made")
PEER
  echo "until [ -e kept ]; do sleep 0.05; done; $plimsoll exec -- touch made" >>jobs
  start
  ends 0
  [[ -e made ]] || wrong 'the command of the other job was not started'
}

# It keeps its own command, and neither the end of its job nor others.
case_a_launcher_that_is_stopped() {
  here
  cat >jobs <<'JOBS'
$exec -- sh -c 'echo $$ >pid; exec sleep 1000' & echo $! >launcher; until [ -e made ]; do sleep 0.05; done
until [ -e stopped ]; do sleep 0.05; done; $exec -- touch made
JOBS
  export exec="$plimsoll exec"
  start
  becomes_true test -s pid
  kill -STOP "$(<launcher)"
  touch stopped
  ends 0
  becomes_true gone "$(<pid)"
}

# Who may not even reach it: the directory is the run's user's alone, and so is the socket.
case_another_user_at_the_socket() {
  here
  echo 'echo "$PLIMSOLL_LIGHT" >light.new; mv light.new light; until [ -e end ]; do sleep 0.05; done' >jobs
  start
  becomes_true test -e light
  local directory
  directory=$(dirname "$(<light)")
  same 700 "$(stat -c %a "$directory")" 'mode of the directory'
  same refused "$(connects_as_another)"
  chmod 711 "$directory"
  same refused "$(connects_as_another)"
  touch end
  ends 0
}
connects_as_another() {
  setpriv --reuid 65534 --regid 65534 --clear-groups "$python" - "$(<light)" <<'END'
import socket, sys
try:
    socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET).connect(sys.argv[1])
    print("connected")
except PermissionError:
    print("refused")
END
}

# A command goes with its job; by itself it has no name that ctl takes.
case_commands_can_not_be_controlled_by_name() {
  here
  echo '$exec -- sh -c '"'"'echo $$ >pid.new; mv pid.new pid; exec sleep 1000'"'"'' >jobs
  export exec="$plimsoll exec"
  start
  becomes_true test -e pid
  local name
  for name in 1/sh 2 sh; do
    gives 1 "$plimsoll" ctl kill "$name"
    gives 1 "$plimsoll" ctl pause "$name"
  done
  lives "$(<pid)" || wrong 'the command was ended'
  gives 0 "$plimsoll" ctl pause 1
  gives 0 "$plimsoll" ctl resume 1
  gives 0 "$plimsoll" ctl kill 1
  ends 1
  becomes_true gone "$(<pid)"
}

# Traced and stopped before each of its calls, also at its end.
case_a_launcher_that_is_traced() {
  here
  cat >tracer.py <<'END'
import ctypes, os, signal, sys, time
libc = ctypes.CDLL(None, use_errno=True)
TRACEME, SYSCALL, KILL = 0, 24, 8
pid = os.fork()
if pid == 0:
    libc.ptrace(TRACEME, 0, 0, 0)
    os.execvp(sys.argv[1], sys.argv[1:])
calls = 0
while True:
    _, status = os.waitpid(pid, 0)
    if os.WIFEXITED(status) or os.WIFSIGNALED(status):
        break
    calls += 1
    if os.path.exists("pid"):  # its command runs: it stands still from here on
        open("traced", "w").close()
        signal.pause()
    libc.ptrace(SYSCALL, pid, 0, 0)
END
  cat >jobs <<JOBS
$python tracer.py $plimsoll exec -- sh -c 'echo \$\$ >pid.new; mv pid.new pid; while :; do sleep 0.1; done' & until [ -e made ]; do sleep 0.05; done
until [ -e pid ]; do sleep 0.05; done; $plimsoll exec -- touch made
JOBS
  start
  ends 0
  becomes_true gone "$(<pid)"
}

# Each of two jobs holds what a command of the other needs.
case_caps_that_are_needed_crosswise() {
  here
  cat >jobs <<'JOBS'
{"class": "left", "shell": "touch one; until [ -e two ]; do sleep 0.05; done; $exec --class right -- touch one_made"}
{"class": "right", "shell": "touch two; until [ -e one ]; do sleep 0.05; done; $exec --class left -- touch two_made"}
JOBS
  export exec="$plimsoll exec"
  gives 0 timeout "$patience" "$plimsoll" batch -j 2 --cap left=1 --cap right=1 jobs
  [[ -e one_made && -e two_made ]] || wrong 'a command was not started'
  nothing_left || wrong 'something is left'
}

# The first fills the pipe and waits for the second, which does not fit beside it.
case_commands_of_a_pipeline() {
  here
  # shellcheck disable=SC2016
  echo '$exec --class a --memory-hint 150M -- head -c 1000000 /dev/zero | $exec --class b --memory-hint 150M -- wc -c >count' >jobs
  export exec="$plimsoll exec"
  gives 0 timeout "$patience" "$plimsoll" batch --line 200M jobs
  same 1000000 "$(<count)"
  nothing_left || wrong 'something is left'
}

# The kernel's killer takes the largest process of the pool, which then has less than it is believed
# to have.
case_a_compiler_that_the_kernel_kills_is_run_again() {
  here
  mkdir bin
  cat >bin/gcc <<END
#!$python
import os, sys, time
attempt = len([f for f in os.listdir(".") if f in ("attempt1", "attempt2")]) + 1
print(f"warning of attempt {attempt}", flush=True)
open("group", "w").write(open("/proc/self/cgroup").read())
open(f"attempt{attempt}", "w").close()
if attempt == 2:
    sys.exit(0)
while not os.path.exists("go"):
    time.sleep(0.05)
lump = bytearray(300 << 20)
lump[::4096] = b"x" * len(lump[::4096])
time.sleep(1000)
END
  chmod +x bin/gcc
  export PATH=$PWD/bin:$PATH
  echo "echo x >>begun; $plimsoll exec -- gcc -o a.o >warnings" >jobs
  start --line 2G
  becomes_true test -e attempt1
  local pool
  pool=$(pool_of group) || skip 'the pool has no memory limit'
  echo $((150 << 20)) >"$pool" || wrong 'the pool takes no limit'
  touch go
  becomes_true test -e attempt2
  ends 0
  same 'warning of attempt 2' "$(<warnings)"
  same 1 "$(wc -l <begun)" 'attempts of the job'
}
# pool_of FILE: the memory limit of the pool that the command is in whose /proc/PID/cgroup this is.
pool_of() {
  local path root
  path=$(sed -nE 's/^[0-9]+:([^:]*,)?memory(,[^:]*)?:(.*)\/[^/]*$/\3/p' "$1")
  for root in /sys/fs/cgroup/memory; do
    [[ -z $path || ! -e $root$path/memory.limit_in_bytes ]] || { echo "$root$path/memory.limit_in_bytes" && return; }
  done
  path=$(sed -nE 's/^0::(.*)\/[^/]*$/\1/p' "$1")
  [[ -e /sys/fs/cgroup$path/memory.max ]] && echo "/sys/fs/cgroup$path/memory.max"
}

run_cases "$@"

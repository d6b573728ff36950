#!/bin/bash
# plimsoll exec: commands of others, started when they fit. Last line: `N passed, N failed`.
# Usage: tests/cli/exec.sh [CASE]
# program: released
set -uo pipefail
source "$(dirname "$(realpath "$0")")/cases.bash"
source "$(dirname "$(realpath "$0")")/daemon.bash"

# What a command is told of the governor is not to reach the tools of this script.
unset PLIMSOLL_JOB PLIMSOLL_GOVERN

launch() { gives "$1" "$plimsoll" exec "${@:2}"; }

# hold_place OPTION...: the only place of a daemon with -j 1 is taken until `go` exists.
hold_place() {
  "$plimsoll" exec "$@" -- sh -c 'touch taken; until [ -e go ]; do sleep 0.05; done' &
  holder=$!
  becomes_true test -e taken
}

# waiting N: so many commands wait for the daemon.
waiting() { [[ $("$plimsoll" ctl status --json | "$python" -c 'import json, sys; print(json.load(sys.stdin)["status"]["jobs"]["waiting"])') == "$1" ]]; }

# passes_through: what a command is and does is what it is and does without.
passes_through() {
  launch 7 -- sh -c 'echo out; echo err >&2; exit 7'
  same out "$(cat out)"
  same err "$(cat err)"
  launch 143 -- sh -c 'kill -TERM $$'
  launch 127 -- no-such-program
  has err 'exec: could not execute "no-such-program": No such file'
  launch 126 -- /etc/passwd
  launch 0 -- "$python" -c 'import sys; print(sys.argv[1:])' '' -- ' -a' $'two\nlines'
  same "['', '--', ' -a', 'two\\nlines']" "$(cat out)"
  same 'piped' "$(echo piped | "$plimsoll" exec -- cat)"
  (
    umask 027
    export ODD=$'two\nlines\xff'
    exec 7</etc/passwd
    launch 0 -- sh -c 'pwd; umask; printf %s "$ODD" | sha256sum; readlink /proc/$$/fd/7'
    same "$PWD 0027 $(printf %s "$ODD" | sha256sum) /etc/passwd" "$(tr '\n' ' ' <out | sed 's/ $//')"
    ((wrong == 0))
  ) || wrong 'the command is not as it would be'
  # Signals that are ignored or blocked are so in the command.
  (trap '' INT CHLD; launch 0 -- grep -E 'Sig(Ign|Blk)' /proc/self/status)
  cp out seen
  (trap '' INT CHLD; gives 0 grep -E 'Sig(Ign|Blk)' /proc/self/status)
  same "$(cat out)" "$(cat seen)"
}

case_it_passes_through_where_nobody_governs() {
  export PLIMSOLL_SOCKET=$PWD/nobody
  passes_through
}

case_it_passes_through_below_a_daemon() {
  state
  serve
  passes_through
  lacks daemon.log exec
}

case_it_waits_until_it_fits() {
  state
  serve --line 200M
  hold_place --class holder --memory-hint 150M
  "$plimsoll" exec -v --class second --memory-hint 150M -- touch second 2>why &
  local second=$!
  becomes_true grep -q 'exec: touch waits for ' why
  [[ ! -e second ]] || wrong 'it did not wait'
  launch 0 -- gcc --version # asks only
  PLIMSOLL_JOB=outer launch 0 -- touch inner
  [[ -e inner ]] || wrong 'what is part of a job waits for it'
  launch 75 --hold-max 100ms --class third --memory-hint 150M -- touch third
  has err 'exec: touch has waited for 100 ms and was not started: '
  [[ ! -e third && ! -e second ]] || wrong 'it did not wait'
  touch go
  wait "$second" || wrong 'it failed'
  [[ -e second ]] || wrong 'it was never started'
  wait "$holder"
}

case_signals_end_what_waits_and_reach_what_runs() {
  state
  serve -j 1
  hold_place
  local signal number launcher seen
  for signal in INT:130 TERM:143 HUP:129; do
    number=${signal#*:} seen=0
    # A background command of a script ignores SIGINT.
    "$python" -c 'import os, signal, sys; signal.signal(2, signal.SIG_DFL); os.execv(sys.argv[1], sys.argv[1:])' \
      "$plimsoll" exec -- touch started &
    launcher=$!
    becomes_true waiting 1
    kill -"${signal%:*}" "$launcher"
    wait "$launcher" || seen=$?
    same "$number" "$seen" "status after SIG${signal%:*}"
    becomes_true waiting 0
  done
  [[ ! -e started ]] || wrong 'it was started'
  touch go
  wait "$holder"
  "$plimsoll" exec -- sh -c 'trap "echo heard >heard; exit 3" TERM; touch runs; while :; do sleep 0.05; done' &
  launcher=$! seen=0
  becomes_true test -e runs
  kill -TERM "$launcher"
  wait "$launcher" || seen=$?
  same 3 "$seen" 'status of a command that heeds SIGTERM'
  has heard heard
}

case_a_command_dies_with_its_launcher() {
  state
  serve
  "$plimsoll" exec -- sh -c 'echo $$ >pid; exec sleep 1000' &
  local launcher=$!
  becomes_true test -s pid
  kill -KILL "$launcher"
  wait "$launcher" 2>/dev/null
  becomes_true gone "$(cat pid)"
  becomes_true eval '[[ $("$plimsoll" ctl status --json) == *"\"running\":0"* ]]'
}

case_a_daemon_that_goes_lets_all_go_on() {
  state
  serve -j 1
  hold_place
  "$plimsoll" exec -- touch second &
  local second=$!
  becomes_true waiting 1
  kill -KILL "$(supervisor_of "$daemon")"
  wait "$second" || wrong 'what waited failed'
  [[ -e second ]] || wrong 'what waited was never started'
  touch go
  wait "$holder" || wrong 'what ran failed'
}

case_it_learns_what_is_short() {
  state
  serve
  launch 0 --class lump -- "$python" -c 'b = bytearray(150 << 20)'
  kill -TERM "$daemon"
  wait "$daemon"
  gives 0 "$plimsoll" history --json
  told out 'r["classes"][0]["class"] == "lump"' '150 << 20 <= r["classes"][0]["peak_bytes"]["max"] < 400 << 20'
}

case_it_is_killed_past_the_line() {
  state
  serve --line 200M
  launch 137 -- "$python" -c 'import time
lumps = []
while len(lumps) < 60:
    lumps.append(bytearray(10 << 20))
    time.sleep(0.05)
time.sleep(1000)'
  has err 'exec: python3 was killed: '
  has err 'a higher line'
  same 1 "$(wc -l <err)" 'lines on standard error'
}

# hoard_memory: `gcc` is a compiler of this case's own, which holds memory until it may go on.
hoard_memory() {
  mkdir bin
  cat >bin/gcc <<END
#!$python
import os, sys, time
attempt = len([f for f in os.listdir(".") if f.startswith("attempt")]) + 1
out = sys.argv[sys.argv.index("-o") + 1]
open(out, "w").write(f"part of attempt {attempt}")
print(f"warning of attempt {attempt}", flush=True)
print(f"error of attempt {attempt}", file=sys.stderr, flush=True)
lump = bytearray(int(os.environ["LUMP"]) << 20)
lump[::4096] = b"x" * len(lump[::4096])
open(f"attempt{attempt}", "w").close()
while not os.path.exists("done"):
    time.sleep(0.05)
open(out, "w").write(f"object of attempt {attempt}")
END
  chmod +x bin/gcc
  export PATH=$PWD/bin:$PATH
}

case_a_compiler_is_run_again_unseen() {
  state
  serve --line 2G
  hoard_memory
  LUMP=100 "$plimsoll" exec -- "$python" bin/gcc -o first &
  local holder=$!
  becomes_true test -e attempt1
  rm first
  LUMP=150 "$plimsoll" exec -- gcc -c a.c -o a.o >a.out 2>a.err &
  local compiler=$!
  becomes_true test -e attempt2
  empty a.out # kept until it counts
  has a.o 'part of attempt 2'
  gives 0 "$plimsoll" ctl line 200M
  becomes_true eval '[[ ! -e a.o ]]'
  gives 0 "$plimsoll" ctl line 2G
  becomes_true test -e attempt3
  touch done
  wait "$compiler" || wrong "it failed: $(cat a.err)"
  same 'warning of attempt 3' "$(cat a.out)"
  same 'error of attempt 3' "$(cat a.err)"
  has a.o 'object of attempt 3'
  wait "$holder"
}

case_build_tools_can_use_it() {
  state
  serve
  local launcher=("$plimsoll" exec --)
  printf '#include <stdio.h>\nint main(void) { puts("built"); }\n' >a.c
  if type -P make >/dev/null && type -P gcc >/dev/null; then
    gives 0 make a CC="${launcher[*]} gcc"
    same built "$(./a)"
  fi
  if type -P ccache >/dev/null; then
    export CCACHE_DIR=$PWD/ccache CCACHE_PREFIX=$(dirname "$plimsoll")/plimsoll-exec
    gives 0 ccache gcc -c a.c -o b.o
    gives 0 ccache gcc -c a.c -o c.o
    cmp b.o c.o || wrong 'what ccache has is another object'
    unset CCACHE_PREFIX
  fi
  if type -P cmake >/dev/null; then
    printf 'cmake_minimum_required(VERSION 3.20)\nproject(a C)\nadd_executable(made a.c)\n' >CMakeLists.txt
    gives 0 cmake -S . -B tree -D "CMAKE_C_COMPILER_LAUNCHER=$plimsoll;exec;--" -D "CMAKE_C_LINKER_LAUNCHER=$plimsoll;exec;--"
    gives 0 cmake --build tree
    same built "$(tree/made)"
  fi
  if type -P rustc >/dev/null && type -P cargo >/dev/null; then
    mkdir -p crate/src
    printf '[package]\nname = "made"\nversion = "0.1.0"\nedition = "2021"\n' >crate/Cargo.toml
    echo 'fn main() { println!("built"); }' >crate/src/main.rs
    RUSTC_WRAPPER=$(dirname "$plimsoll")/plimsoll-exec gives 0 cargo build --offline --quiet --manifest-path crate/Cargo.toml
    same built "$(crate/target/debug/made)"
  fi
}

# A server of this case's own has no room at first, and then for one command.
case_who_finds_no_room_asks_again() {
  cat >server.py <<'END'
import os, socket, struct, sys
listener = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
listener.bind(sys.argv[1])
listener.listen()
open("listening", "w").close()
for answer in b"\x01\x43\x01\x04\x00full", b"\x01\x43\x01\x04\x00full", b"\x01\x41\x01\x00\x00\x00":
    link = listener.accept()[0]
    frame, fds, _, _ = socket.recv_fds(link, 8192, 1)
    print(frame[:2], len(fds), os.path.exists("started"))
    link.send(answer)
print(struct.unpack("<BBBB", link.recv(8192)[:4]))
END
  "$python" server.py "$PWD/f.light" >served 2>&1 &
  local server=$!
  becomes_true test -e listening
  PLIMSOLL_SOCKET=$PWD/f launch 3 -- sh -c 'touch started; exit 3'
  wait "$server"
  same "b'\x01\x01' 1 False b'\x01\x01' 1 False b'\x01\x01' 1 False (1, 3, 0, 3)" "$(tr '\n' ' ' <served | sed 's/ $//')"
}

# What another user listens at is no governor, whoever has named it.
case_a_daemon_of_another_user_is_not_asked() {
  is_root && type -P setpriv >/dev/null || skip 'not root'
  mkdir -m 777 open
  chmod 755 .
  cat >server.py <<'END'
import socket, sys
listener = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
listener.bind(sys.argv[1])
listener.listen()
open(sys.argv[1] + ".listens", "w").close()
link = listener.accept()[0]
print(link.recv(8192))
END
  setpriv --reuid 65534 --regid 65534 --clear-groups "$python" server.py "$PWD/open/s.light" >served 2>&1 &
  local server=$!
  becomes_true test -e open/s.light.listens
  PLIMSOLL_SOCKET=$PWD/open/s launch 3 -- sh -c 'touch started; exit 3'
  [[ -e started ]] || wrong 'it was not started'
  wait "$server"
  same "b''" "$(<served)"
}

# A user's own processes alone, whoever serves.
case_a_place_is_its_users() {
  is_root && type -P setpriv >/dev/null || skip 'not root'
  chmod 755 .
  printf 'listen.group = "nogroup"\n' >g.toml
  state
  serve --config g.toml
  cat >enter.py <<'END'
import os, socket, struct, sys
frame = bytes([1, 1, 0, 0]) + bytes(8) + struct.pack("<HHHH", 0, 0, 1, 2) + b"cc"
link = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
link.connect(sys.argv[1])
socket.send_fds(link, [frame], [os.pidfd_open(int(sys.argv[2]) or os.getpid())])
print(link.recv(8192))
again = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
again.connect(sys.argv[1])
socket.send_fds(again, [frame], [os.pidfd_open(os.getpid())])
print("again", again.recv(8192))
END
  gives 0 setpriv --reuid 65534 --regid 65534 --clear-groups "$python" enter.py "$PWD/s.light" 0
  has out '\x01A'
  has out 'is the first of another job already' # and counts once
  gives 0 setpriv --reuid 65534 --regid 65534 --clear-groups "$python" enter.py "$PWD/s.light" $$
  has out '\x01C'
  has out 'belongs to uid 0'
}

# A process of a job of the daemon's, named as a command's as well: what it uses is used once.
case_a_process_of_a_job_counts_once() {
  is_root || skip 'not root'
  local seen
  state
  serve
  cat >takes.py <<'END'
import os, sys, time
lump = bytearray(int(sys.argv[1]) << 20)
lump[::4096] = b"x" * len(lump[::4096])
with open(sys.argv[2] + ".new", "w") as file: file.write(str(os.getpid()))
os.rename(sys.argv[2] + ".new", sys.argv[2])
while not os.path.exists("end"): time.sleep(0.05)
END
  "$plimsoll" submit -- "$python" takes.py 200 of_job >submitted 2>&1 &
  "$python" takes.py 100 of_none &
  becomes_true test -e of_job && becomes_true test -e of_none
  # That of nobody's job is seen with, or after, the other: both are then.
  "$python" - "$PWD/s.light" "$(<of_job)" "$(<of_none)" <<'END' &
import os, socket, struct, sys, time
frame = bytes([1, 1, 0, 0]) + bytes(8) + struct.pack("<HHHH", 0, 0, 1, 2) + b"cc"
links = []
for pid in sys.argv[2:]:
    link = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    link.connect(sys.argv[1])
    socket.send_fds(link, [frame], [os.pidfd_open(int(pid))])
    while link.recv(8192)[1] != 65: pass  # not admitted yet
    links.append(link)
while not os.path.exists("end"): time.sleep(0.05)
END
  if becomes_true uses_mib 290; then
    seen=$(used_mib)
    ((seen < 380)) || wrong "$seen MiB are in use, expected 300"
  fi
  touch end
  wait %2 %3 %4
}
used_mib() {
  "$plimsoll" ctl status --json | "$python" -c 'import json, sys; print(json.load(sys.stdin)["status"]["used_bytes"] >> 20)'
}
uses_mib() { (($(used_mib) >= $1)); }

case_bad_usage() {
  launch 125
  has err 'no command was given'
  launch 125 --hold-max never -- true
  has err '--hold-max'
  launch 125 --no-such-option -- true
  has err 'there is no option'
  launch 125 --class '' -- true
  has err 'expected 1 to 256'
  launch 0 --help
  has out 'CCACHE_PREFIX'
}

run_cases "$@"

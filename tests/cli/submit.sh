#!/bin/bash
# The daemon for people at a shell: plimsoll submit, list and ctl against it. Last line: `N passed,
# N failed`.
# Usage: tests/cli/submit.sh [CASE]
# program: released
set -uo pipefail
source "$(dirname "$(realpath "$0")")/cases.bash"
source "$(dirname "$(realpath "$0")")/daemon.bash"

# serve_all: for everybody of the group nogroup (65534), in a directory that they may enter.
serve_all() {
  chmod 755 .
  printf 'listen.group = "nogroup"\n' >g.toml
  serve --config g.toml "$@"
}

submit() { gives "$1" "$plimsoll" submit "${@:2}"; }
ctl() { gives "$1" "$plimsoll" ctl "${@:2}"; }
nobody() { setpriv --reuid 65534 --regid 65534 --clear-groups "$@"; }
listed() { [[ $("$plimsoll" list --json | "$python" -c 'import json, sys; print(len(json.load(sys.stdin)["jobs"]))') == "$1" ]]; }

case_output_and_status_pass_through() {
  serve
  submit 7 -- sh -c 'echo out; echo err >&2; exit 7'
  same out "$(cat out)"
  has err err
  submit 143 -q -- sh -c 'kill -TERM $$'
  submit 127 -q -- no-such-program
  has err 'no-such-program'
  submit 126 -q -- /etc/passwd
  submit 124 -q --timeout 200ms -- sleep 100
  submit 137 -q --memory-max 30M -- "$python" -c 'bytearray(200 << 20)'
  submit 0 -q -- "$python" -c 'import sys; sys.stdout.buffer.write(bytes(range(256)) * 40000)'
  same "$("$python" -c 'import sys; sys.stdout.buffer.write(bytes(range(256)) * 40000)' | sha256sum)" "$(sha256sum <out)"
  submit 0 -q -- cat # it has no input
  empty out
}

case_it_runs_as_from_here() {
  serve
  mkdir 'a b'
  cd 'a b'
  umask 027
  export ODD=$'two\nlines\xff'
  submit 0 -q -- sh -c 'pwd; umask; printf %s "$ODD" | sha256sum; id -u; touch made'
  same "$PWD 0027 $(printf %s "$ODD" | sha256sum | tr -s ' ') $(id -u)" "$(tr '\n' ' ' <out | tr -s ' ' | sed 's/ $//')"
  same 640 "$(stat -c %a made)"
  submit 0 -q -C .. -- pwd
  same "$(dirname "$PWD")" "$(cat out)"
}

case_detached_goes_on() {
  serve
  submit 0 --detach --name nightly --stdout o --stderr e -- sh -c 'echo out; echo err >&2; until [ -e go ]; do sleep 0.1; done; echo done'
  local number
  number=$(cat out)
  becomes_true grep -q out o
  has e err
  gives 0 "$plimsoll" list
  has out nightly
  has out running
  ctl 0 status
  has out 'daemon'
  has out nightly
  ctl 0 pause nightly
  becomes_true eval '"$plimsoll" list | grep -q paused'
  ctl 0 --json status
  has out '"running":0,"paused":1'
  ctl 0 resume "$number"
  becomes_true eval '"$plimsoll" list | grep -q running'
  touch go
  becomes_true grep -q done o
  becomes_true listed 0
  submit 0 --detach --stdout both -- sh -c 'echo 1; echo 2 >&2; exec sleep 1000'
  becomes_true grep -q 2 both
  has both 1
  ctl 0 kill "$(cat out | head -1)" || true
  becomes_true listed 0
  submit 125 --detach --stdout /nowhere/o -- true
  has err '/nowhere/o'
}

case_report() {
  serve
  submit 125 --report nowhere/report -- touch ran
  has err 'nowhere/report'
  [[ ! -e ran ]] || wrong 'the job ran'
  submit 0 --report report -- true
  told report 'r["outcome"] == "exited"'
  submit 0 --report - -- echo said
  same said "$(cat err)"
  cp out report
  told report 'r["outcome"] == "exited"'
  "$plimsoll" submit -q --report killed -- sleep 1000 &
  becomes_true listed 1
  kill -KILL $!
  becomes_true listed 0
  [[ -z $(compgen -G 'killed*') ]] || wrong "left: $(compgen -G 'killed*')"
  submit 125 --report /dev/full -- true
  submit 3 --report /dev/full -- sh -c 'exit 3'
}

case_interrupted_and_given_up() {
  serve
  "$plimsoll" submit -q -- sh -c "echo \$\$ >$PWD/pid; exec sleep 1000" &
  local client=$! seen=0
  becomes_true test -s pid
  kill -INT "$client"
  wait "$client" || seen=$?
  same 130 "$seen" 'status after SIGINT'
  gone "$(cat pid)" || wrong 'the job lives on'
  rm pid
  "$plimsoll" submit -q -- sh -c "echo \$\$ >$PWD/pid; exec sleep 1000" &
  client=$!
  becomes_true test -s pid
  kill -KILL "$client"
  wait "$client" 2>/dev/null
  becomes_true gone "$(cat pid)"
  becomes_true listed 0
}

case_line_and_places_of_the_daemon() {
  serve -j 1
  ctl 0 line 2G
  has err '2.00 GiB'
  becomes_true grep -q 'the line is now 2.00 GiB' daemon.log
  submit 0 -d --stdout o -- sleep 1000
  "$plimsoll" submit -- true >second 2>&1 &
  local second=$!
  becomes_true grep -q 'is waiting' second
  ctl 0 --run daemon status
  has out '1 running, 1 waiting'
  ctl 0 jobs 2
  wait "$second" || wrong "the second has failed: $(cat second)"
  has second 'job 2 is running'
  ctl 1 kill nobody-has-this
  has err 'there is no job "nobody-has-this" of this user'
}

case_why_a_job_waits() {
  serve --line 1G
  submit 0 -d --memory-hint 800M --stdout o -- sleep 1000
  submit 0 -d --memory-hint 700M --name waiting-for-long --stdout o -- true
  becomes_true eval '"$plimsoll" list | grep -q "waits for memory: it needs 700 MiB"'
  gives 0 "$plimsoll" list --json
  has out '"state":"waiting","reason":"waits for memory: it needs 700 MiB'
  ctl 0 --run daemon status
  has out 'next: waiting-for-long waits for memory: it needs 700 MiB, and the running jobs are expected to'
  ctl 0 kill 1
  becomes_true listed 0
}

# The daemon ends when its jobs have, and their ends are told.
case_a_shutdown_loses_no_end() {
  serve -j 2
  local first second seen
  "$plimsoll" submit -q --report first -- sh -c 'touch began.1; until [ -e go ]; do sleep 0.05; done; echo out; exit 3' >out.1 2>err.1 &
  first=$!
  "$plimsoll" submit -q --report second -- sh -c 'touch began.2; until [ -e go ]; do sleep 0.05; done' 2>err.2 &
  second=$!
  becomes_true eval '[[ -e began.1 && -e began.2 ]]'
  kill -TERM "$daemon"
  touch go
  seen=0
  wait "$first" || seen=$?
  same 3 "$seen" "of the first: $(<err.1)"
  same out "$(<out.1)"
  told first 'r["exit_code"] == 3'
  wait "$second" || wrong "the second has failed: $(<err.2)"
  told second 'r["exit_code"] == 0'
}

case_times_of_waiting_and_pauses() {
  serve -j 1
  local first second
  "$plimsoll" submit -q --name one --report first -- sh -c 'touch began; until [ -e go ]; do sleep 0.05; done' &
  first=$!
  becomes_true test -e began
  "$plimsoll" submit -q --report second -- true &
  second=$!
  becomes_true listed 2
  ctl 0 pause one
  sleep 1
  ctl 0 resume one
  touch go
  wait "$first" "$second"
  told first 'r["times"]["paused_ns"] > 900e6' 'r["times"]["held_ns"] < 900e6'
  told second 'r["times"]["paused_ns"] == 0' 'r["times"]["held_ns"] > 900e6'
}

# Of a class that has a cap two run, however many are wanted; others start beside them.
case_a_class_has_a_cap() {
  printf '[governor]\ncaps = "db=2"\n' >caps.toml
  serve --config caps.toml --cores 8
  local i
  for i in 1 2 3 4; do
    submit 0 -d --class db --name "db$i" --stdout "o$i" -- sh -c "touch began.$i; until [ -e go ]; do sleep 0.05; done"
  done
  becomes_true eval '(($(compgen -G "began.*" | wc -l) == 2))'
  submit 0 --class other -- true
  same 2 "$(compgen -G 'began.*' | wc -l)" 'of the class'
  gives 0 "$(dirname "$plimsoll")/tests/clients/job_client" "$PLIMSOLL_SOCKET" explain 4
  has out 'waits for others of its class: of "db" at most 2 run at once'
  touch go
  becomes_true listed 0
  same 4 "$(compgen -G 'began.*' | wc -l)" 'that ran'
}

case_users_have_their_own() {
  ((EUID == 0)) || skip 'not root'
  serve_all
  chmod 777 .
  submit 0 -d --stdout o -- sleep 1000
  local mine
  mine=$(cat out)
  gives 0 nobody "$plimsoll" submit -q -- id -u
  same 65534 "$(cat out)"
  gives 0 nobody "$plimsoll" submit -d --name his --stdout his -- sleep 1000
  becomes_true listed 2
  gives 0 nobody "$plimsoll" list
  lacks out root
  has out his
  gives 1 nobody "$plimsoll" ctl --run daemon kill "$mine"
  has err 'there is no job'
  gives 1 nobody "$plimsoll" ctl --run daemon line 1G
  has err 'only root'
  gives 1 nobody "$plimsoll" ctl --run daemon jobs 1
  gives 0 nobody "$plimsoll" ctl --run daemon status
  has out his
  lacks out "$mine:"
  gives 125 nobody "$plimsoll" submit --priority 5 -- true
  has err 'priority'
  ctl 0 kill his
  becomes_true listed 1
}

case_strangers_are_not_heard() {
  ((EUID == 0)) || skip 'not root'
  chmod 755 .
  serve
  gives 125 nobody "$plimsoll" list
  gives 125 nobody "$plimsoll" submit -- true
}

case_hostile_clients() {
  serve
  "$python" - "$PWD/s.jobs" <<'END' || wrong 'a hostile client was served otherwise'
import json, select, socket, sys
def client():
    s = socket.socket(socket.AF_UNIX)
    s.settimeout(20)
    s.connect(sys.argv[1])
    return s
def ends(s):
    while s.recv(65536):
        pass
for text in (b"\n", b"x\n", b"{}\n", b"GET / HTTP/1.0\r\n\r\n", b"\0" * 200000,
             b'{"command":"submit","umask":18,"words":3,"values":0,"bytes":99999999}\n'):
    s = client()
    try:
        s.sendall(text)
    except OSError:
        pass
    try:
        answer = s.recv(65536)
        assert b'"ok":false' in answer, (text[:20], answer)
        ends(s)
    except ConnectionError:
        pass
# Fewer texts than were announced, in two parts.
s = client()
s.sendall(b'{"command":"submit","umask":18,"words":3,"values":0,"bytes":9}\ntrue\0x')
s.sendall(b"\0/\0")
assert b'"ok":false' in s.recv(65536)
# Three megabytes announced, over and over, of which nothing comes.
held = [client() for i in range(8)]
for s in held:
    s.sendall(b'{"command":"submit","umask":18,"words":1,"values":0,"bytes":3000000}\n')
refused = []
while len(refused) < 3:
    answered = select.select(held, [], [], 60)[0]
    assert answered, "nobody is refused"
    for s in answered:
        assert b"being processed" in s.recv(65536)
        held.remove(s)
        refused.append(s)
assert len(held) == 5 and not select.select(held, [], [], 0.5)[0], len(held)
# A client that takes nothing of what its job writes, and one that asks for ever.
s = client()
words = b"yes\0/\0"
s.sendall(b'{"command":"submit","umask":18,"words":1,"values":0,"bytes":%d}\n' % len(words) + words)
s2 = client()
s2.setblocking(False)
try:
    while True:
        s2.send(b'{"command":"list"}\n' * 1000)
except BlockingIOError:
    pass
END
  submit 0 -q -- echo served
  same served "$(cat out)"
  becomes_true listed 0
}

case_many_connections_of_one_user() {
  ((EUID == 0)) || skip 'not root'
  serve_all
  nobody "$python" - "$PWD/s.jobs" <<'END' || wrong 'another number of connections was taken'
import socket, sys
held, refused = [], 0
for i in range(300):
    s = socket.socket(socket.AF_UNIX)
    s.connect(sys.argv[1])
    held.append(s)
held[-1].settimeout(20)
assert b"too many connections" in held[-1].recv(65536)
held[0].sendall(b'{"command":"list"}\n')
held[0].settimeout(20)
assert b'"ok":true' in held[0].recv(65536)
END
  submit 0 -q -- true
}

# What one user's jobs of a class have used is nothing to another's.
case_each_user_has_a_past_of_his_own() {
  ((EUID == 0)) || skip 'not root'
  state
  serve_all
  local one='import time; held = bytearray(60 << 20); time.sleep(2)'  # held until it has been seen
  nobody "$plimsoll" submit -q --class same -- "$python" -c "$one" || wrong 'it was not run'
  submit 0 -q --class same -- sleep 0.3
  over
  trap - EXIT
  gives 0 "$plimsoll" history --json
  told out '{c.get("uid", "own"): c["count"] for c in r["classes"]} == {65534: 1, "own": 1}' \
    '[c["peak_bytes"]["max"] > 20 << 20 for c in r["classes"]] == [True, False]'
  gives 0 "$plimsoll" history
  has out 'UID'
  gives 0 "$plimsoll" history --user root --json
  told out '["uid" in c for c in r["classes"]] == [False]'
  gives 0 "$plimsoll" history forget --user nobody same
  gives 0 "$plimsoll" history --json
  told out '["uid" in c for c in r["classes"]] == [False]'
  gives 125 "$plimsoll" history --user no-such-user
  has err 'there is no user "no-such-user"'
}

case_without_a_daemon() {
  PLIMSOLL_SOCKET=$PWD/none submit 125 -- true
  has err 'no daemon listens at'
  has err '`plimsoll serve` starts one'
  lacks err 'No such process'
  PLIMSOLL_SOCKET=$PWD/none gives 125 "$plimsoll" list
  submit 125
  has err 'no command was given'
  submit 125 --stdout x -- true
  has err '--detach'
}

case_a_second_daemon_is_told_of_the_first() {
  serve
  gives 125 "$plimsoll" serve --metrics off
  has err 'a daemon is already running: pid '
  has err ", socket $PWD/s"
  kill -0 "$(sed -n 's/.*pid \([0-9]*\),.*/\1/p' err)" || wrong 'the pid is not of a process'
  has daemon.log "the socket is $PWD/s"
  has daemon.log 'metrics are not served'
  gives 0 "$(dirname "$plimsoll")/plimsolld" --version
  has out 'plimsolld '
}

case_batches_with_a_lease_are_told() {
  serve --line 1G
  "$plimsoll" batch -q -j 2 -- 'until [ -e go ]; do sleep 0.1; done; : {}' ::: 1 2 3 &
  local batch=$!
  becomes_true eval '"$plimsoll" ctl --run daemon status | grep -q "leased.*to 1 run, 2 jobs"'
  ctl 0 --run daemon status --json
  told out 'r["status"]["others"]["jobs"] == 2' 'r["status"]["others"]["claimed_bytes"] > 0'
  touch go
  wait "$batch"
}

run_cases "$@"

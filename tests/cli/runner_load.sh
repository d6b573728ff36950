#!/bin/bash
# The runner when the machine is full, when it is told to end, before hostile clients, and with many
# actions.
# long: one action after the other on one core
# Usage: tests/cli/runner_load.sh [CASE]
# program: released
source "$(dirname "$0")/cases.bash"
source "$(dirname "$0")/runner.bash"

# Alone, and more than there is: not its exit code, but the bytes.
case_past_the_line_is_not_the_actions_fault() {
  serve '' --line 96M
  act 1 -- "$programs/hog" 300 400
  told 1.json 'r["code"] == 14' '"MiB" in r["message"] or "OOM-killed" in r["message"]'
  [[ -s build/1/server_logs/plimsoll.txt ]] || wrong 'no report'
}

# Together they do not fit: one is paused, or sent back to be tried again; none fails by itself.
case_two_that_do_not_fit_together() {
  serve '' --line 160M
  act 1 -- "$programs/hog" 110 60 exit &
  local first=$!
  act 2 -- "$programs/hog" 110 60 exit &
  wait "$first" $!
  told 1.json 'r["code"] in (0, 14)' 'r["code"] or r["exit_code"] == 0'
  told 2.json 'r["code"] in (0, 14)' 'r["code"] or r["exit_code"] == 0'
  grep -q '"exit_code":0' 1.json 2.json || wrong 'none of them could run'
}

case_a_full_machine_refuses_readiness() {
  serve '' --line 128M
  sh_act warm true
  local i
  for i in 1 2 3; do
    sh_act "$i" "until [ -e $PWD/go ]; do sleep 0.1; done" env.PLIMSOLL_MEMORY_HINT=100M &
  done
  becomes_true eval 'call check "" >full.json; grep -q "The machine is full" full.json'
  touch go
  wait $(jobs -p | grep -v "^$daemon\$")
  becomes_true eval 'call check "" >free.json; grep -q "\"code\":0" free.json'
}

# uses BYTES: the daemon has seen that its actions use so much.
uses() {
  (($("$plimsoll" ctl --run daemon --json status |
    "$python" -c 'import json, sys; print(json.load(sys.stdin)["status"]["used_bytes"])') >= $1))
}

case_what_waits_for_long_is_sent_back() {
  serve '' --line 128M
  sh_act 1 "$programs/hog 100 & until [ -e $PWD/go ]; do sleep 0.1; done; kill \$!" \
    env.PLIMSOLL_MEMORY_HINT=100M &
  becomes_true grep -qs ready build/1/stdout # it has its memory,
  becomes_true uses $((98 << 20))            # a sample has shown it,
  sleep 2                                    # and that it does not grow any more
  sh_act 2 'echo ran' env.PLIMSOLL_MEMORY_HINT=100M timeout=12
  told 2.json 'r["code"] == 14' '": it waited for too long; " in r["message"]' '"MiB" in r["message"]'
  empty build/2/stdout
  has build/2/server_logs/plimsoll.txt 'held: '
  touch go && wait $!
  told 1.json 'r["exit_code"] == 0'
}

# More actions than cores take longer; none is sent back for it.
case_want_of_cores_sends_nobody_back() {
  serve '' --cores 1
  local i
  for i in 1 2 3 4 5 6; do
    sh_act "$i" "echo begun; until [ -e $PWD/go ]; do :; done" &
  done
  for i in 1 2 3 4 5 6; do becomes_true grep -qs begun "build/$i/stdout"; done
  touch go
  wait $(jobs -p | grep -v "^$daemon\$")
  for i in 1 2 3 4 5 6; do told "$i.json" 'r["exit_code"] == 0'; done
}

# Nor is anybody who computes for long: four share one core, for longer than one may wait for memory (20 s).
case_long_computations_all_end() {
  serve '' --cores 1
  gives 0 call load "$PWD/build" 4 4 -- /usr/bin/taskset -c 0 "$python" -c 'import time
while time.process_time() < 6:
    for i in range(100000): pass'
  has out '4 of 4 actions'
  has out ' 0 tried again'
}

# What is unknown and small is known by what the first of it show.
case_a_hundred_small_unknown_ones() {
  serve '' --cores 400
  gives 0 call load "$PWD/build" 100 100 -- /bin/sh -c 'sleep 5; :'
  has out '100 of 100 actions'
  has out ' 0 tried again'
}

# Nor for a machine that others keep busy.
case_others_who_compute_send_nobody_back() {
  serve
  local i burners=()
  for i in 1 2 3 4 5 6 7 8; do
    sh -c 'while :; do :; done' &
    burners+=($!)
  done
  trap 'kill "${burners[@]}"; stop' EXIT
  for i in {1..24}; do sh_act "$i" "echo begun; until [ -e $PWD/go ]; do sleep 0.1; done" & done
  for i in {1..24}; do becomes_true grep -qs begun "build/$i/stdout"; done
  touch go
  kill "${burners[@]}"
  wait $(jobs -p | grep -v "^$daemon\$")
  for i in {1..24}; do told "$i.json" 'r["exit_code"] == 0'; done
  trap stop EXIT
}

case_sigterm_lets_what_runs_end() {
  serve
  sh_act 1 "echo begun; until [ -e $PWD/go ]; do sleep 0.05; done; echo ended" &
  local worker=$!
  becomes_true grep -qs begun build/1/stdout
  kill -TERM "$daemon"
  becomes_true grep -q 'shutting down when' log
  sh_act 2 true
  told 2.json 'r["code"] == 14'
  touch go
  wait "$worker"
  told 1.json 'r["exit_code"] == 0'
  same 'begun ended' "$(echo $(cat build/1/stdout))"
  wait "$daemon"
  same 0 "$?" 'status of the daemon'
}

case_a_second_sigterm_kills() {
  serve
  sh_act 1 'echo begun; sleep 1000' &
  local worker=$!
  becomes_true grep -qs begun build/1/stdout
  kill -TERM "$daemon"
  becomes_true grep -q 'shutting down when' log
  kill -TERM "$daemon"
  wait "$worker"
  told 1.json 'r["code"] == 14'
  wait "$daemon"
  same 0 "$?" 'status of the daemon'
}

case_killed_and_started_again() {
  local victim
  for victim in guardian supervisor; do
    serve
    sh_act $victim "echo \$\$ >$PWD/pid; sleep 1000" &
    local worker=$!
    becomes_true test -s pid
    local target=$daemon
    [[ $victim == guardian ]] || target=$(supervisor_of "$daemon")
    kill -KILL "$target"
    wait "$worker"
    told $victim.json 'r["code"] == 14'
    wait "$daemon"
    becomes_true nothing_left
    gone "$(cat pid)" || wrong "the action has outlived its $victim"
    rm -f pid log
  done
  serve
  sh_act after 'exit 7'
  told after.json 'r["exit_code"] == 7'
}

case_hostile_clients() {
  serve
  # Not gRPC at all, and a connection that says nothing.
  "$python" - "$PWD/runner" <<'END'
import socket, sys
for text in (b"GET / HTTP/1.0\r\n\r\n", b"\0" * 100000, b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + b"\xff" * 1000):
    with socket.socket(socket.AF_UNIX) as s:
        s.connect(sys.argv[1])
        try:
            s.sendall(text)
        except OSError:
            pass
END
  sh_act 1 'exit 5'
  told 1.json 'r["exit_code"] == 5'
}

# Workers with many threads.
case_two_hundred_at_once() {
  serve
  gives 0 call load "$PWD/build" 200 400 -- /bin/sh -c 'echo x'
  has out '400 of 400 actions'
  same '' "$(groups_left | grep job-)"
}

case_many_in_a_row() {
  serve
  local supervisor before after
  supervisor=$(supervisor_of "$daemon")
  gives 0 call load "$PWD/build" 4 "$((${ROUNDS:-3} * 100))" -- /bin/true
  before=$(awk '/^VmRSS/ { print $2 }' "/proc/$supervisor/status")
  gives 0 call load "$PWD/build" 4 "$((${ROUNDS:-3} * 100))" -- /bin/true
  after=$(awk '/^VmRSS/ { print $2 }' "/proc/$supervisor/status")
  ((after < before + 8192 * $(if is_sanitized; then echo 3; else echo 1; fi))) || wrong "the supervisor has grown from $before to $after kB"
}

# What a cancelled action had is back at once: the next one does not wait for a look at it.
case_actions_that_are_given_up_hold_up_nobody() {
  serve
  local begin=$SECONDS
  gives 0 call cancel "$PWD/build" 40
  has out '40 of 40 given up'
  ((SECONDS - begin < patience / 3)) || wrong "it took $((SECONDS - begin)) s: $(cat out)"
}

run_cases "$@"

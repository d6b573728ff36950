#!/bin/bash
# Runs of one machine share its line: together they keep to it, and who is gone leaves his share.
# long: runs that wait for each other
# program: released
# shellcheck disable=SC2016,SC2317 # for the shells that are run; called by name
set -uo pipefail
. "$(dirname "$0")/cases.bash"

readonly mib=$((1 << 20))
readonly line=$((400 * mib))

# jobs COUNT MIB SECONDS: a job file whose jobs hold memory for a while after there is a file `go`, and say
# when they do by a file.
jobs() {
  local i
  cat >hold.py <<'END'
import os, sys, time
held = bytearray(int(sys.argv[1]) << 20)
open("held", "w")
while not os.path.exists("go"): time.sleep(0.05)
time.sleep(float(sys.argv[2]))
END
  for ((i = 0; i < $1; i++)); do echo "exec $python $PWD/hold.py $2 $3"; done
}

# start NAME JOBS MIB SECONDS [OPTION...]: a batch in the background, its guardian in `pid`, its id in `run_NAME`.
start() {
  local before after
  before=$(cd "$PLIMSOLL_RUNTIME_DIR" 2>/dev/null && ls -- *.sock 2>/dev/null)
  jobs "$2" "$3" "$4" >"$1.jobs"
  "$plimsoll" batch -q "${@:5}" --cores 64 --line $line --memory-hint "$(($3 + 10))M" --report "$1.report" \
    "$1.jobs" >"$1.out" 2>"$1.err" &
  pid=$!
  new_socket() {
    after=$(comm -13 <(echo "$before") <(cd "$PLIMSOLL_RUNTIME_DIR" && ls -- *.sock))
    [[ $after ]]
  }
  becomes_true new_socket || return
  printf -v "run_$1" %s "${after%.sock}"
}

# status RUN KEY...: a number of its status, by its path.
status() {
  "$plimsoll" ctl --run "$1" --json status | "$python" -c '
import json, sys
value = json.load(sys.stdin)["status"]
for key in sys.argv[1:]: value = value[key]
print(value)' "${@:2}"
}

line_is() { (($(status "$1" line_bytes) == $2)); }
line_is_less() { (($(status "$1" line_bytes) < $2)); }
# It is told to others twice a second.
tells_that_it_uses() { (($(cut -d ' ' -f 1 "$PLIMSOLL_RUNTIME_DIR/ledger/$1") >= $2)); }
runs_jobs() { (($(status "$1" jobs running) >= $2)); }
stand_still() { (($(status "$1" jobs running) == 0 && $(status "$1" jobs paused) + $(status "$1" jobs waiting) == $2)); }

# What the jobs of all runs hold now, page cache left out.
held_bytes() {
  awk '$1 == "total_rss" { v1 = $2 } $1 == "anon" { v2 = $2 } END { print (v1 ? v1 : v2) + 0 }' \
    "$(mount_of memory)$PLIMSOLL_CGROUP/memory.stat" 2>/dev/null || echo 0
}

case_two_runs_keep_to_one_line() {
  local run_first run_second first second held most=0
  start first 8 60 0.5 || return
  first=$pid
  becomes_true runs_jobs "$run_first" 2
  start second 8 60 0.5 || return
  second=$pid
  becomes_true line_is_less "$run_second" $line
  becomes_true eval '(($(held_bytes) > 150 * mib))'
  touch go
  while lives "$first" || lives "$second"; do
    held=$(held_bytes)
    ((held <= most)) || most=$held
    sleep 0.05
  done
  wait "$first"
  same 0 $? 'the first run'
  wait "$second"
  same 0 $? 'the second run'
  # More than one job at a time was there, and together no more than the line and its slack.
  ((most <= line + 32 * mib)) || wrong "$((most / mib)) MiB were in use of $((line / mib))"
}

case_a_killed_run_leaves_its_share() {
  local run_first run_second first second
  start first 3 60 100 || return
  first=$pid
  becomes_true runs_jobs "$run_first" 2
  start second 8 60 100 || return
  second=$pid
  becomes_true runs_jobs "$run_second" 1
  becomes_true line_is_less "$run_first" $line
  # shellcheck disable=SC2046 # pids are words
  kill -KILL "$second" $(supervisor_of "$second")
  wait "$second" 2>/dev/null
  becomes_true line_is "$run_first" $line
  reap_stale >reaped 2>&1 || wrong "reap --stale: $(<reaped)"
  kill -TERM "$first"
  wait "$first"
  becomes_true nothing_left
}

# Where the first leaves too little for any job of the second, these wait, or stop once they have
# tried, and are not lost.
case_who_is_left_too_little_waits() {
  local run_first run_second first second
  start first 1 340 0 || return
  first=$pid
  becomes_true tells_that_it_uses "$run_first" $((330 * mib))
  start second 2 80 0.5 --retries 0 || return
  second=$pid
  becomes_true line_is_less "$run_second" $line
  sleep 1 # by then it has told the first of itself, and tried
  becomes_true stand_still "$run_second" 2 || wrong "$("$plimsoll" ctl --run "$run_second" status)"
  runs_jobs "$run_first" 1 || wrong 'the first run lost its job'
  touch go
  wait "$second"
  same 0 $? 'the second run'
  wait "$first"
  same 0 $? 'the first run'
  becomes_true nothing_left
}

case_a_directory_that_others_can_enter_is_told_once() {
  local command
  mkdir -m 755 open
  for command in 'batch --progress none -- {} ::: true' 'govern -q -- true'; do
    # shellcheck disable=SC2086 # options are words
    PLIMSOLL_RUNTIME_DIR=$PWD/open gives 0 "$plimsoll" $command
    same 1 "$(grep -c 'found mode 755' err)" "warnings of ${command%% *}"
    has err "chmod 700 $PWD/open"
    has err 'plimsoll ctl'
    has err 'the line is not shared'
  done
  PLIMSOLL_RUNTIME_DIR=$PWD/open gives 125 "$plimsoll" ctl status
  has err "chmod 700 $PWD/open"
  # One like /tmp stays as it is.
  chmod 1777 open
  PLIMSOLL_RUNTIME_DIR=$PWD/open gives 0 "$plimsoll" batch --progress none -- {} ::: true
  has err 'found mode 1777'
  has err 'PLIMSOLL_RUNTIME_DIR can name a directory of your own'
  lacks err chmod
}

case_standalone_shares_nothing() {
  local run_first run_alone first alone
  start first 8 60 100 || return
  first=$pid
  becomes_true runs_jobs "$run_first" 2
  start alone 8 60 100 --standalone || return
  alone=$pid
  becomes_true runs_jobs "$run_alone" 2
  line_is "$run_alone" $line || wrong 'the run that stands alone has less than the line'
  line_is "$run_first" $line || wrong 'the other run has heard of it'
  kill -TERM "$first" "$alone"
  wait "$first"
  wait "$alone"
  becomes_true nothing_left
}

# serve OPTION...: a daemon at ./s, its guardian in `daemon`.
serve() {
  printf 'metrics.listen = "off"\n' >p.toml
  rm -f daemon.log # of an earlier one
  "$plimsoll" serve --config p.toml --socket "$PWD/s" "$@" >daemon.log 2>&1 &
  daemon=$!
  becomes_true grep -q ready daemon.log || cat daemon.log
}

case_a_run_shares_the_line_with_the_daemon() {
  local run_first daemon first
  serve --line $line
  "$(dirname "$plimsoll")/tests/clients/job_client" s submit \
    "$python" -c 'import time; held = bytearray(150 << 20); time.sleep(100)' >/dev/null
  start first 8 60 100 || return
  first=$pid
  becomes_true line_is_less "$run_first" $line
  kill -INT "$daemon"
  wait "$daemon"
  becomes_true line_is "$run_first" $line
  kill -TERM "$first"
  wait "$first"
  becomes_true nothing_left
}

# What the daemon leases is less than the run's own line and cores; a restart changes nothing.
case_the_daemons_line_and_cores_hold_for_a_run() {
  local run_first daemon first
  serve --line 200M --cores 3
  start first 12 20 100 || return
  first=$pid
  becomes_true line_is "$run_first" $((200 * mib))
  same 3.0 "$(status "$run_first" cores)" 'cores'
  kill -KILL "$daemon" "$(supervisor_of "$daemon")"
  wait "$daemon" 2>/dev/null
  sleep 1.5
  line_is "$run_first" $((200 * mib)) || wrong "without the daemon: $(status "$run_first" line_bytes)"
  rm -f s
  serve --line 100M
  becomes_true line_is "$run_first" $((100 * mib))
  kill -INT "$daemon"
  wait "$daemon"
  kill -TERM "$first"
  wait "$first"
  reap_stale >reaped 2>&1
  becomes_true nothing_left
}

# wait_beside_a_batch: a batch that leaves too little, and a run that joins and waits for it, in `joined`.
wait_beside_a_batch() {
  local run_first
  start first 1 220 100 || return
  first=$pid
  if becomes_true test -e held && becomes_true tells_that_it_uses "$run_first" $((215 * mib)); then
    # Nearly all that the daemon leases is in use, and others have heard of it.
    serve --line 260M
    becomes_true line_is_less "$run_first" $line
    "$plimsoll" run --join --memory-hint 200M -- touch ran 2>joined.err &
    joined=$!
    becomes_true grep -q 'the command waits until other runs leave it 200 MiB' joined.err && return
  fi
  # Nothing is left to the cases that follow.
  kill -TERM "$first" ${daemon:+"$daemon"} ${joined:+"$joined"} 2>/dev/null
  return 1
}

end_all() {
  kill -INT "$daemon"
  wait "$daemon"
  becomes_true nothing_left
}

case_a_run_that_joins_waits_for_room() {
  local first joined daemon
  wait_beside_a_batch || return
  sleep 1
  [[ ! -e ran ]] || wrong 'it did not wait'
  kill -TERM "$first"
  wait "$first"
  wait "$joined"
  same 0 $? 'the joined run'
  [[ -e ran ]] || wrong 'it did not run'
  end_all
}

case_a_run_that_waits_can_be_ended() {
  local first joined daemon
  wait_beside_a_batch || return
  kill -TERM "$joined"
  wait "$joined"
  same 143 $? 'the joined run'
  [[ ! -e ran ]] || wrong 'it ran'
  kill -TERM "$first"
  wait "$first"
  end_all
}

case_others_leave_room_for_a_run_that_joins() {
  local run_first first joined
  start first 12 30 100 || return
  first=$pid
  becomes_true line_is "$run_first" $line
  "$plimsoll" run -q --join --memory-hint 250M -- sh -c 'until [ -e joined-go ]; do sleep 0.05; done' &
  joined=$!
  becomes_true line_is_less "$run_first" $line
  touch joined-go
  wait "$joined"
  becomes_true line_is "$run_first" $line
  kill -TERM "$first"
  wait "$first"
  becomes_true nothing_left
}

# Another user's run, where the daemon is root's and lets a group connect.
case_a_run_of_another_user_leases_from_the_daemon() {
  is_root || skip 'not root'
  local daemon other
  chmod 711 .
  printf 'metrics.listen = "off"\nlisten.group = "nogroup"\n' >p.toml
  "$plimsoll" serve --config p.toml --socket "$PWD/s" --line 200M >daemon.log 2>&1 &
  daemon=$!
  becomes_true grep -q ready daemon.log || cat daemon.log
  mkdir -m 700 nobodys && jobs 8 20 100 >nobodys/jobs && chown -R nobody:nogroup nobodys
  setpriv --reuid nobody --regid nogroup --clear-groups env -C "$PWD/nobodys" PLIMSOLL_SOCKET="$PWD/s" \
    PLIMSOLL_RUNTIME_DIR="$PWD/nobodys/run" PLIMSOLL_STATE_DIR="$PWD/nobodys/state" \
    "$plimsoll" batch --cgroup none --line 400M --memory-hint 30M --progress plain jobs 2>other.err &
  other=$!
  becomes_true grep -q 'the line is shared with the daemon' other.err || cat other.err
  kill -TERM "$other"
  wait "$other"
  kill -INT "$daemon"
  wait "$daemon"
  rm -rf s.ledger
  becomes_true nothing_left
}

run_cases "${1:-}"

#!/bin/bash
# The job log of plimsoll batch, and what goes on from it. Last line: `N passed, N failed`.
# long: a pipe that nobody reads is waited for
set -uo pipefail
source "$(dirname "$(realpath "$0")")/cases.bash"

batch() { gives "$1" "$plimsoll" batch "${@:2}"; }

case_joblog_and_resume() {
  batch 1 -q --joblog log -- 'echo {}; test {} != b' ::: a b c
  same 4 "$(wc -l <log)"
  has log $'\tCommand'
  batch 0 -q --joblog log --resume -- 'echo {}; test {} != b' ::: a b c
  empty out
  batch 1 -q --joblog log --resume-failed -- 'echo {}; test {} != b' ::: a b c
  same b "$(cat out)"
  batch 1 -q --joblog log --retry-failed -- 'echo {}; test {} != b' ::: a b c
  same b "$(cat out)"
}

# What has run before is not waited for.
case_resumed_output_in_order_comes_while_it_runs() {
  local job='echo {}; until [ {} = a ] || [ -e go ]; do sleep 0.05; done' pid
  batch 0 -q -k --joblog log -- "$job" ::: a
  "$plimsoll" batch -q -k -j2 --joblog log --resume -- "$job" ::: a b c >live &
  pid=$!
  becomes_true grep -q b live
  touch go
  wait "$pid"
  same $'b\nc' "$(cat live)"
}

# A run that dies, and a machine that loses its power, leave a torn end.
case_joblog_with_a_torn_tail() {
  local tail
  for tail in $'3\t:\t17' 'NULs' 'header'; do
    if [[ $tail == header ]]; then
      printf 'Seq\tHo' >log
    else
      batch 0 -q --joblog log -- 'echo {}' ::: a b
      if [[ $tail == NULs ]]; then head -c 5000 /dev/zero; else printf %s "$tail"; fi >>log
    fi
    batch 0 --progress none --joblog log --resume -- 'echo {}' ::: a b c
    has err 'log: the last line is incomplete: '
    same 4 "$(wc -l <log)" "$tail"
    same "$(head -n 1 log | tr -d '\0')" "$(head -n 1 log)"
    batch 0 -q --joblog log --resume -- 'echo {}' ::: a b c
    empty out
  done
}

case_a_file_that_is_no_joblog_stays_as_it_is() {
  local again
  for again in --resume --resume-failed --retry-failed; do
    printf '{"my": "data"}' >mine
    batch 125 -q --joblog mine $again -- echo ::: a
    has err 'mine:1: found "{"my": "data"}", expected the header of a job log'
    same '{"my": "data"}' "$(<mine)"
  done
}

case_joblog_has_one_writer() {
  "$plimsoll" batch -q --joblog log -- 'until [ -e stop ]; do sleep 0.05; done # {}' ::: a 2>err.first &
  local pid=$! before again
  becomes_true grep -qs Seq log
  before=$(<log)
  for again in '' --resume; do
    # shellcheck disable=SC2086 # an option or none
    batch 125 -q --joblog log $again -- 'touch started # {}' ::: a
    has err '--joblog: another run is writing log'
    same "$before" "$(<log)"
  done
  [[ ! -e started ]] || wrong 'the second run has started a job'
  batch 0 --dry-run --joblog log --resume -- echo ::: a
  same 'echo a' "$(<out)"
  touch stop
  wait $pid
  same 0 $? "$(<err.first)"
}

# What is wrong at the start is known before the old log is given up.
case_a_start_that_fails_loses_no_joblog() {
  local before
  batch 0 -q --joblog log -- true ::: a b
  before=$(<log)
  batch 125 -q --joblog log --results /proc/results -- true ::: c
  same "$before" "$(<log)"
  batch 125 -q --joblog log --report nowhere/report -- true ::: c
  same "$before" "$(<log)"
  batch 125 -q --joblog log --report report --results /proc/results -- true ::: c
  same "$before" "$(<log)"
  ! compgen -G 'report*' >/dev/null || wrong "left: $(echo report*)"
  batch 0 -q --joblog log -- true ::: c
  same 2 "$(wc -l <log)"
}

case_joblog_in_a_pipe_whose_reader_leaves() {
  mkfifo pipe
  touch reading
  printf 'true\nwhile [ -e reading ]; do sleep 0.05; done\ntrue\n' >jobs
  head -n 2 pipe >seen &
  local reader=$!
  "$plimsoll" batch --progress none -j1 --joblog pipe jobs 2>err &
  local batch=$!
  wait $reader
  rm reading
  wait $batch
  same 0 $?
  same 2 "$(wc -l <seen)"
  has err 'write pipe: Broken pipe; the jobs continue, and their lines are written when a process reads the pipe again'
  has err '2 jobs are missing from the job log'
}

# Its reader may come a little later, but is not waited for without end.
case_joblog_in_a_pipe_that_nobody_reads() {
  mkfifo pipe
  batch 125 -q --joblog pipe -- 'touch started # {}' ::: a
  has err '--joblog: no process reads pipe'
  [[ ! -e started ]] || wrong 'a job was started'
}

case_joblog_of_any_length() {
  batch 0 -q --joblog log -- 'echo {}' ::: a
  "$python" - >>log <<'END'
for number in range(2, 150002):
    print(f"{number}\t:\t1795235278.799\t     0.003\t0\t0\t0\t0\tanother command, of a common length {number:040}")
END
  (($(stat -c %s log) > 16777216)) || wrong 'the log is too short for this case'
  batch 0 --progress none --joblog log --resume -- 'echo {}' ::: a b
  same b "$(<out)"
  has err '150000 lines of the log match no job'
  same 150003 "$(wc -l <log)"
}

run_cases "${1:-}"

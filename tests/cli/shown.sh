#!/bin/bash
# What plimsoll batch and run say: of their input, while they run, and at their end. Last line: `N passed, N failed`.
# shellcheck disable=SC2016 # dollars in single quotes are for the shells that are run
set -uo pipefail
source "$(dirname "$(realpath "$0")")/cases.bash"

batch() { gives "$1" "$plimsoll" batch "${@:2}"; }
# lines_with TEXT: how many lines of err have it.
lines_with() { grep -cF -- "$1" err; }

# --- the input

case_json_that_is_not_lines_is_refused() {
  local text
  for text in '[' '[{"shell":"touch started"}]' '{' $'\xef\xbb\xbf[\n{"shell":"touch started"}]'; do
    printf '%s\ntouch started\n' "$text" >jobs.json
    batch 125 jobs.json
    has err 'jobs.json:1: found'
    has err 'jq -c'
    [[ ! -e started ]] || wrong "started in spite of $text"
  done
}

case_files_of_other_programs_are_refused() {
  printf 'jobs:\n  - cmd: x\ntouch started\n' >jobs.yaml
  printf 'include rules\ntouch started\n' >build.ninja
  printf '<!DOCTYPE html>\ntouch started\n' >page
  printf 'name\tsize\ntouch\tstarted\n' >table
  printf 'touch started\n' >jobs.tsv
  local file
  for file in jobs.yaml build.ninja page table jobs.tsv; do
    batch 125 "$file"
    has err "$file:"
    has err 'expected one shell command or one JSON object per line ('
    has err '--format text runs each line as a command)'
    [[ ! -e started ]] || wrong "started lines of $file"
  done
  batch 125 - <<<'include CMakeFiles/rules.ninja'
  has err 'standard input:1: found a build file of ninja'
  batch 1 -q --format text build.ninja
  [[ -e started ]] || wrong 'not even with --format text'
}

case_what_was_never_executed_is_not_learnt() {
  export PLIMSOLL_STATE_DIR=$PWD/state
  echo 'sleep 1; ./not-there' >jobs
  batch 1 -q --class none jobs
  gives 127 "$plimsoll" run -q --class none -- sh -c 'sleep 0.4; ./not-there'
  gives 125 "$plimsoll" history none
  has err 'no class is named "none"'
}

case_how_it_ended_is_said_once() {
  run 137 -- sh -c 'kill -9 $$'
  has err 'plimsoll: was ended by signal KILL'
  lacks err 'KILL:'
  run 137 -q -- sh -c 'kill -9 $$'
  has err 'plimsoll: the command was ended by signal KILL'
  run 124 -q --timeout 0.1 -- sleep 50
  has err 'plimsoll: the command took longer than 100 ms'
  run 137 --memory-max 32M -- tail /dev/zero
  has err 'plimsoll: needed more than its memory limit of 32.0 MiB'
  lacks err 'exceeded its own'
}

case_lines_that_end_in_a_backslash_are_warned_of() {
  printf 'true\ntrue \\\ntrue\n' >jobs
  batch 0 -q jobs
  has err 'jobs:2: the line ends in a backslash'
}

case_quotes_around_a_place_are_warned_of() {
  batch 0 -q -- "echo '{}'" ::: 'a b' c
  same 1 "$(lines_with 'quotes around the replacement string of "a b"')" "$(<err)"
  batch 0 -q -- "echo '{}'" ::: a c
  empty err
}

case_empty_input_is_told() {
  batch 0 </dev/null
  has err 'the input has no jobs'
  lacks err succeeded
  batch 0 -q </dev/null
  empty err
}

case_tags_of_job_files() {
  printf '%s\n' '{"id":"alpha","argv":["echo","hi"]}' '{"argv":["echo","ho"]}' >jobs
  batch 0 -q -k --tag jobs
  same $'alpha\thi\n2\tho' "$(<out)"
}

case_resume_goes_by_command_and_says_what_it_found() {
  batch 0 -q --joblog log -- 'touch {}' ::: b c d
  batch 0 --joblog log --resume --dry-run -- 'touch {}' ::: a b d
  same 'touch a' "$(<out)"
  has err '2 of 3 jobs are in the job log log; running 1 job; 1 line of the log matches no job'
  batch 0 --joblog log --resume -- 'touch {}' ::: b c d
  has err 'all 3 jobs are in the job log log; nothing is left to run'
  lacks err succeeded
}

# --- while it runs

case_lines_name_jobs_and_are_not_cut() {
  local long
  long=$(printf 'x%.0s' {1..150})
  batch 1 --progress plain -- "sh -c 'exit \$1' $long {}" ::: 0 1
  has err "job 1 started: sh -c 'exit \$1' $long 0"
  grep -q "job 2 exited with code 1 in .*: sh -c 'exit \$1' $long 1\$" err || wrong "$(<err)"
  has err "2: exited with code 1 [sh -c 'exit \$1' $long 1]"
}

case_progress_failures() {
  batch 2 --progress failures -j2 --cores 8 -- 'exit {}' ::: 0 1 0 2 0
  same 2 "$(lines_with '/5] job ')" "$(<err)"
  has err 'job 2 exited with code 1'
  has err '3 of 5 jobs succeeded'
}

case_waits_are_told_once_a_cause() {
  local i
  # Where the first has shown how little it needs before the next is decided on, nobody waits.
  for i in 1 2 3 4 5 6 7 8; do
    PLIMSOLL_STATE_DIR=$PWD/state$i batch 0 --progress plain --line 100M --memory-hint 60M --cores 8 -- 'sleep 0.2; true {}' ::: 1 2 3 4 5 6
    ! grep -q ' waiting: .*waits for memory' err || break
  done
  same 1 "$(grep -c ' waiting: .*waits for memory' err)" "$(<err)"
}

case_retries_are_told_once() {
  batch 1 --progress plain --retries 1 -- 'false {}' ::: x
  same 1 "$(lines_with 'retry 1 of 1')" "$(<err)"
}

# What slows a run down that holds nobody.
case_other_programs_are_told() {
  local busy=() i pid told=''
  for i in $(seq "$(nproc)"); do
    bash -c 'while :; do :; done' &
    busy+=($!)
  done
  "$plimsoll" batch --progress json -j1 -- 'until [ -e go ]; do sleep 0.1; done; : {}' ::: 1 2>err &
  pid=$!
  told() { "$plimsoll" ctl status --json | "$python" -c '
import json, sys
sys.exit(json.load(sys.stdin)["status"].get("cores_of_others", 0) < 0.2)'; }
  becomes_true told
  becomes_true grep -qE '"cores_of_others":[0-9.]+,' err
  touch go
  wait "$pid"
  gives 0 "$plimsoll" report last
  grep -qE "other programs used [0-9.]+ of $(nproc) cores" out || wrong "$(<out)"
  kill -KILL "${busy[@]}"
}

# --- at its end

case_outcomes_tell_good_from_bad() {
  batch 2 -- 'exit {}' ::: 0 1 0 2 0
  grep -q '^  outcomes *ok 3, failed 2$' err || wrong "$(<err)"
  state
  batch 1 -- 'exit {}' ::: 0 1 0
  gives 0 "$plimsoll" runs
  has out '2 ok, 1 failed'
}

case_heaviest_jobs() {
  local jobs=('echo {}' ::: 1 2 3 4)
  batch 0 -- "${jobs[@]}"
  lacks err heaviest
  batch 0 --heaviest 0 --line 100M -- "$python" -c 'a = bytearray(20 << 20)' ::: 1 2
  lacks err heaviest
  batch 0 --line 100M -- "$python" -c 'a = bytearray(20 << 20)' ::: 1 2
  same 1 "$(lines_with heaviest)" "$(<err)"
  batch 0 --heaviest 4 -- "${jobs[@]}"
  same 1 "$(lines_with heaviest)" "$(<err)"
}

case_failed_jobs_in_the_order_of_input() {
  batch 25 -j4 --cores 8 -- 'sleep 0.$((RANDOM % 3)); exit 1; {}' ::: {1..25}
  same "$(seq 20)" "$(sed -n 's/^  \([0-9]*\): exited.*/\1/p' err)" "$(<err)"
  has err 'and 5 more; `plimsoll explain last --failed` lists them'
}

case_time_outs_say_how_long() {
  batch 1 --timeout 300ms -- sleep ::: 100
  grep -qE '1: timed out after [0-9.]+ m?s' err || wrong "$(<err)"
  batch 1 -j1 --timeout 1000% -- sleep ::: 0.2 0.2 0.2 100
  has err '(1000 % of the median)'
}

case_quiet_tells_of_jobs_that_could_not_start() {
  batch 1 -q --cwd /no/such/place -- true ::: 1
  has err 'job 1: '
  has err '/no/such/place'
}

case_an_interrupt_leaves_one_line_and_a_hint() {
  local pid options
  for options in '' '--joblog log'; do
    rm -f started
    # shellcheck disable=SC2086 # options are words
    "$plimsoll" batch --progress plain -j1 $options -- 'touch started; sleep 1; true {}' ::: {1..20} 2>err &
    pid=$!
    becomes_true test -e started
    kill -INT "$pid"
    wait "$pid"
    same 1 "$(lines_with 'not started: the run was interrupted')" "$(<err)"
    has err 'jobs are left: '
    has err --resume
    has err 'skipped 1'
    lacks err '[20/20]' # those that were skipped are not done
  done
  has err 'the same command with --resume runs them'
}

case_a_share_is_told_once() {
  "$plimsoll" batch --progress plain -j1 -- 'until [ -e go ]; do sleep 0.1; done; : {}' ::: 1 2>err &
  local pid=$!
  becomes_true grep -q 'job 1 started' err
  # What these take changes from moment to moment, and with it the share.
  "$plimsoll" batch -q -j4 -- 'sleep 1.{}' ::: 3 4 5 6 7 8 3 4 5 6 7 8
  touch go
  wait $pid || wrong 'batch failed'
  same 1 "$(grep -c 'the line is shared with 1 other run' err)" "$(<err)"
}

run_cases "${1:-}"

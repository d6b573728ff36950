#!/bin/bash
# Several users of one daemon and the memory that their jobs really take. As root, with real users, on
# this machine's groups. Last line: `N passed, N failed`.
# program: released
set -uo pipefail
source "$(dirname "$(realpath "$0")")/cases.bash"
source "$(dirname "$(realpath "$0")")/api.bash"
programs=$(dirname "$plimsoll")/tests/programs

# submit_as UID COMMAND...: prints the job's number.
submit_as() { as "$1" 65534 none "$clients/job_client" "$socket" submit "${@:2}"; }

# waits_then_takes MIB FILE: for a job: takes the memory once the file is there, and keeps it.
waits_then_takes() {
  echo "touch $PWD/began.\$\$; until [ -e $2 ]; do sleep 0.05; done; exec $programs/hog $1 100"
}

# decisions_of JOB: as root sees them; in explained-JOB, too.
decisions_of() { jobs explain "$1" >"explained-$1" && cat "explained-$1"; }

# The oldest job of all sleeps until others run beside it, and then takes what they have left and more.
case_one_users_memory_ends_nobody_elses_job() {
  is_root || skip 'not root'
  serve_group --line 400M
  chmod 777 .
  local oldest others=() job
  oldest=$(submit_as 65534 sh -c "$(waits_then_takes 500 "$PWD/grow")")
  becomes_true eval 'compgen -G "began.*" >/dev/null'
  touch at-once
  for _ in 1 2; do others+=("$(submit_as 65533 sh -c "$(waits_then_takes 50 "$PWD/at-once")")"); done
  becomes_true eval '(($(compgen -G "began.*" | wc -l) == 3))'
  sleep 1
  touch grow
  becomes_true eval 'decisions_of "$oldest" | grep -q "^evicted .*more than an equal part of the line"'
  sleep 2
  for job in "${others[@]}"; do
    decisions_of "$job" >/dev/null
    ! grep -qE '^(evicted|killed|ended) ' "explained-$job" || wrong "job $job: $(cat "explained-$job")"
  done
  same 2 "$(jobs list | grep -c ' 65533 ')" "the other user's jobs"
  has daemon.log "job $oldest is ended to free memory: "
  over 0 INT
}

# Whoever was alone gives back what is beyond an equal part, and no more, when another needs it: of three
# jobs of 110 MiB, one. At once, or when the other's has been paused for half a minute.
case_who_was_alone_gives_back_what_is_beyond_his_part() {
  is_root || skip 'not root'
  serve_group --line 400M
  chmod 777 .
  local alone=() other job evicted=0
  touch at-once
  for _ in 1 2 3; do alone+=("$(submit_as 65534 sh -c "$(waits_then_takes 110 "$PWD/at-once")")"); done
  becomes_true eval '(($(compgen -G "began.*" | wc -l) == 3))'
  sleep 2
  other=$(submit_as 65533 sh -c "$(waits_then_takes 150 "$PWD/grow")")
  becomes_true eval '(($(compgen -G "began.*" | wc -l) == 4))'
  touch grow
  for ((job = 0; job < 900; job++)); do
    evicted=$(for one in "${alone[@]}"; do decisions_of "$one"; done | grep -c '^evicted ')
    ((evicted == 0)) || break
    sleep 0.1
  done
  sleep 2
  evicted=$(for one in "${alone[@]}"; do decisions_of "$one"; done | grep -c '^evicted ')
  same 1 "$evicted" 'evicted jobs of who was alone'
  decisions_of "$other" >/dev/null
  ! grep -qE '^(evicted|killed|ended) ' "explained-$other" || wrong "$(cat "explained-$other")"
  over 0 INT
}

run_cases "$@"

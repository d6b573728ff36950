#!/bin/bash
# A run of very many jobs, of which very many run at once. Its last line counts.
# alone: five hundred jobs are to run at once before the time of patience is over
# shellcheck disable=SC2317 # called by name
set -uo pipefail
source "$(dirname "$(realpath "$0")")/cases.bash"

# job_groups: how many jobs have one.
job_groups() { find "$(mount_of memory)$PLIMSOLL_CGROUP"/plimsoll-*/pool -mindepth 1 -maxdepth 1 -name 'job-*' | wc -l; }

# The lock is let go when all have been seen that may run at once: 500, or as many as it says where
# the limit of descriptors can't be raised.
case_five_thousand_known_and_five_hundred_running() {
  local at_once=500 pid
  yes 'flock -s lock true' | head -n "${MANY:-5000}" >jobs.txt
  exec 9>lock
  flock 9
  ulimit -n 30000 2>/dev/null || at_once=told
  "$plimsoll" batch --progress none --memory-hint 1M --cores 1000 -j 500 --report report jobs.txt >out 2>err 9>&- &
  pid=$!
  if [[ $at_once == told ]]; then
    becomes_true grep -q 'at once instead of 500' err
    at_once=$(sed -n 's/.*at most \([0-9]*\) at once instead of 500.*/\1/p' err)
    ((at_once >= 300)) || wrong "only $(ulimit -n) descriptors, for '$at_once' jobs"
  fi
  becomes_true eval '(($(job_groups) == at_once))' || wrong "$(job_groups) jobs run at once"
  sleep 0.5
  same "$at_once" "$(job_groups)" 'jobs at once'
  flock -u 9
  wait $pid
  same 0 $? "$(head -c 1000 err)"
  tail -n 1 report >run.json
  told run.json 'r["outcomes"] == {"exited": '"${MANY:-5000}"'}'
  becomes_true nothing_left || wrong 'something is left'
}

run_cases "$@"

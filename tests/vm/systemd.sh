#!/bin/bash
# `plimsoll run` where systemd runs: in a scope that systemd delegates, of the system for root, of
# the user's manager for a user; afterwards the scope is gone.
# vm: --systemd
# vm: --systemd --user
# shellcheck disable=SC2016 # dollars in single quotes are for the shells that are run
set -uo pipefail
unset PLIMSOLL_CGROUP
source "$(dirname "$0")/../cli/cases.bash"
# Without a named group there is nothing of ours to make or to leave.
work_in_own_group() { :; }

# run_groups: directories of runs and of their scopes anywhere.
run_groups() { find /sys/fs/cgroup -name 'plimsoll-*' -type d 2>/dev/null; }
no_groups() { [[ -z $(run_groups) ]]; }

systemctl_of() { if is_root; then systemctl "$@"; else systemctl --user "$@"; fi; }

case_status_passes_through() {
  run 7 -- sh -c 'exit 7'
  becomes_true no_groups || wrong "left: $(run_groups)"
}

case_the_job_is_in_a_delegated_scope() {
  run 0 -- cat /proc/self/cgroup
  grep -qE '^0::/.*plimsoll-[-0-9a-f]+\.scope/plimsoll-[-0-9a-f]+/pool/job-1$' out || wrong "$(<out)"
  if ! is_root; then has out "user@$EUID.service"; fi
  becomes_true no_groups || wrong "left: $(run_groups)"
}

case_the_scope_is_gone_afterwards() {
  run 0 -- true
  becomes_true eval '! systemctl_of list-units --all --plain --no-legend "plimsoll-*" | grep -q plimsoll'
}

case_limits() {
  run 0 --memory-max 64M --pids-max 50 -- sh -c '
    group=/sys/fs/cgroup$(cut -d: -f3- /proc/self/cgroup)
    cat $group/memory.max $group/pids.max $group/memory.oom.group'
  same $'67108864\n50\n1' "$(<out)"
  run 137 --memory-max 32M -- sh -c 'tail /dev/zero; exit 0'
}

case_time_out_and_what_is_left_behind() {
  run 124 --timeout 500ms -- sh -c '(setsid sleep 1000 &); sleep 1000'
  run 3 -- sh -c 'setsid sleep 1000 & echo $! >pid; exit 3'
  gone "$(<pid)" || wrong "$(<pid) lives"
}

case_the_supervisor_is_killed() {
  local pid supervisor=''
  "$plimsoll" run -- sh -c 'touch ready; sleep 1000' 2>err &
  pid=$!
  becomes_true test -e ready
  for supervisor in $(cat "/proc/$pid/task/$pid/children"); do
    [[ $(cat "/proc/$supervisor/comm") != pl-supervisor ]] || kill -KILL "$supervisor"
  done
  wait $pid
  same 125 $?
  becomes_true no_groups || wrong "left: $(run_groups)"
}

case_both_are_killed() {
  local pid
  "$plimsoll" run -- sh -c 'echo $$ >job; sleep 1000' 2>err &
  pid=$!
  becomes_true test -s job
  # shellcheck disable=SC2046 # pids are words
  kill -KILL $pid $(grep -lsx pl-supervisor $(sed 's|[0-9]*|/proc/&/comm|g' "/proc/$pid/task/$pid/children") | cut -d/ -f3)
  wait $pid 2>/dev/null
  becomes_true eval '"$plimsoll" reap --stale >/dev/null; gone "$(<job)" && no_groups' || wrong "left: $(run_groups)"
}

case_one_within_another() {
  run 5 -- "$plimsoll" run -q -- sh -c 'exit 5'
  becomes_true no_groups || wrong "left: $(run_groups)"
}

run_cases "${1:-}"

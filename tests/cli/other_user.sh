#!/bin/bash
# Jobs of another user: who they are, what they have of the caller's, and what they leave.
# shellcheck disable=SC2016 # dollars in single quotes are for the shells that are run
set -u
source "$(dirname "$0")/cases.bash"

case_user() {
  is_root || skip 'not root'
  chmod 777 .
  run 0 --uid nobody -- id -u
  same "$(id -u nobody)" "$(<out)"
  run 0 --uid nobody -- id -G
  same "$(id -G nobody)" "$(<out)"
  run 0 --uid nobody:daemon -- sh -c 'id -un; id -gn'
  same $'nobody\ndaemon' "$(<out)"
  run 0 --uid 12345:54321 -- sh -c 'id -u; id -g'
  same $'12345\n54321' "$(<out)"
  mkdir -m 700 closed
  run 125 --uid nobody --cwd closed -- true
  has err 'working directory'
  run 0 --uid nobody --memory-max 1G --pids-max 50 --timeout 1m -- true
}

case_user_without_the_right() {
  is_root && { setpriv --reuid=65534 true 2>/dev/null || return 0; }
  is_root || skip 'not root'
  # A job may not become another user: the job's own plimsoll is refused.
  run 0 --uid nobody -- sh -c '"$0" run --uid root -- id -u; [ $? = 125 ]' "$plimsoll"
  lacks out 0
}

case_another_user_has_an_environment_of_his_own() {
  is_root || skip 'not root'
  local words=(env -i "PATH=$PATH" HOME=/root USER=root SECRET_TOKEN=abc LC_ALL=C TERM=dumb MAIL=x
    "PLIMSOLL_CGROUP=$PLIMSOLL_CGROUP" "PLIMSOLL_STATE_DIR=$PLIMSOLL_STATE_DIR" "$plimsoll") home
  home=$(getent passwd nobody | cut -d: -f6)
  expect() { printf '%s\n' "$@" "HOME=$home" LC_ALL=C LOGNAME=nobody "PATH=$PATH" \
    "SHELL=$(getent passwd nobody | cut -d: -f7)" TERM=dumb USER=nobody | sort >expected; }
  expect A=b
  gives 0 "${words[@]}" run -q --uid nobody --env A=b -- env
  sort out | diff - expected >difference || wrong "$(<difference)"
  gives 0 "${words[@]}" run -q --uid 54321:54321 --env HOME=/tmp -- env
  sort out | diff - <(printf '%s\n' HOME=/tmp LC_ALL=C "PATH=$PATH" SHELL=/bin/sh TERM=dumb) >difference ||
    wrong "$(<difference)"
  printf '{"argv":["env"],"uid":"nobody","env":{"A":"b"}}\n' >jobs
  gives 0 "${words[@]}" batch -q jobs
  grep -vE '^(PLIMSOLL|PARALLEL)_' out | sort | diff - expected >difference || wrong "$(<difference)"
  has out PLIMSOLL_JOB=
  # One's own user is nobody else.
  gives 0 "${words[@]}" run -q --uid root -- env
  has out SECRET_TOKEN=abc
}

case_another_user_has_no_descriptors_of_the_callers() {
  is_root || skip 'not root'
  echo given >given
  run 0 --uid nobody -- sh -c 'cat; ls /proc/self/fd' <given 7</dev/null
  same $'given\n0\n1\n2\n3' "$(<out)" # the last is of ls
}

# making SYSTEM-V-KINDS: a Python program that makes them and prints their ids.
making='
import ctypes, sys
libc = ctypes.CDLL(None)
made = {"shm": lambda: libc.shmget(0, 8192, 0o1600), "sem": lambda: libc.semget(0, 2, 0o1600),
        "msg": lambda: libc.msgget(0, 0o1600)}
print(*(made[kind]() for kind in sys.argv[1:]), flush=True)'

# ids_of UID: of all that there is of this user.
ids_of() { awk -v uid="$1" 'FNR > 1 && $(FILENAME ~ /shm/ ? 10 : FILENAME ~ /sem/ ? 7 : 10) == uid { print $2 }' /proc/sysvipc/*; }

case_what_outlives_another_users_job_is_removed() {
  is_root || skip 'not root'
  local user=$((30000 + $$ % 10000)) before pid
  run 0 --uid $user:$user --report report.json -- /usr/bin/python3 -c "$making" shm sem msg
  same '' "$(ids_of $user)" 'left'
  has err "left shared_memory $(cut -d ' ' -f 1 out) (8.00 KiB), semaphores $(cut -d ' ' -f 2 out), message_queue $(cut -d ' ' -f 3 out), which was removed"
  told report.json '[o["kind"] for o in r["ipc_left"]] == ["shared_memory", "semaphores", "message_queue"]' \
    'all(o["removed"] for o in r["ipc_left"])' 'r["ipc_left"][0]["size_bytes"] == 8192'
  # What was there before is not the job's; what another process of the user may want stays.
  before=$(setpriv --reuid $user --regid $user --clear-groups /usr/bin/python3 -c "$making" sem)
  run 0 --uid $user:$user -- true
  lacks err left
  setpriv --reuid $user --regid $user --clear-groups sleep 1000 &
  pid=$!
  becomes_true eval '[[ $(stat -c %u /proc/$pid) == '$user' && $(</proc/$pid/comm) == sleep ]]'
  run 0 --uid $user:$user -- /usr/bin/python3 -c "$making" shm sem
  has err "left shared_memory $(cut -d ' ' -f 1 out) (8.00 KiB), which stays until ipcrm(1) removes it"
  same "$(echo "$before" "$(<out)" | xargs -n 1 | sort)" "$(ids_of $user | sort)"
  kill $pid
  wait $pid 2>/dev/null
  ipcrm -m "$(cut -d ' ' -f 1 out)" -s "$(cut -d ' ' -f 2 out)" -s "$before"
}

# In a /dev of its own, where they can be seen.
case_a_posix_queue_of_another_users_job_is_removed() {
  can_mount || skip 'no mounts of its own'
  gives 0 unshare -m sh -c '
    mkdir dev && mount -t tmpfs none dev && mkdir dev/mqueue || exit
    for file in null zero urandom; do touch dev/$file && mount --bind /dev/$file dev/$file || exit; done
    mount --rbind dev /dev && mount -t mqueue none /dev/mqueue || exit
    "$0" run --uid 54331:54331 -- /usr/bin/python3 -c "
import ctypes
assert ctypes.CDLL(None).mq_open(b\"/plimsoll-test-$1\", 0o102, 0o600, None) >= 0" || exit
    ls /dev/mqueue' "$plimsoll" $$
  empty out
  has err "left posix_message_queue /plimsoll-test-$$, which was removed"
}

case_shared_memory_of_ones_own_that_nobody_has_is_told() {
  run 0 --report report.json -- "$python" -c "$making" shm sem
  local shm=$(cut -d ' ' -f 1 out)
  has err "left shared_memory $shm (8.00 KiB), which stays until ipcrm(1) removes it"
  told report.json '[(o["name"], o["removed"]) for o in r["ipc_left"]] == [("'"$shm"'", False)]'
  ipcrm -m "$shm" -s "$(cut -d ' ' -f 2 out)" || wrong 'it was removed'
}

case_nothing_is_left() {
  becomes_true nothing_left || wrong "left: $(groups_left) $(processes_left)"
}

run_cases "${1:-}"

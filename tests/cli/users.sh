#!/bin/bash
# Several users of one daemon: what one of them does is no other's trouble. As root, with real users,
# on this machine's groups. Last line: `N passed, N failed`.
# program: released
set -uo pipefail
source "$(dirname "$(realpath "$0")")/cases.bash"
source "$(dirname "$(realpath "$0")")/api.bash"

# runs_at_once UID: that user's job and root's start, whatever others have or wait for.
runs_at_once() {
  gives 0 as "$1" 65534 none "$clients/job_client" "$socket" run "$patience" id -u
  same "$1" "$(cat out)"
  gives 0 jobs run "$patience" id -u
  same 0 "$(cat out)"
}

case_one_users_jobs_leave_places_to_others() {
  is_root || skip 'not root'
  serve_group -j 8
  chmod 711 .
  local i
  for ((i = 0; i < 40; i++)); do
    as 65534 65534 none "$clients/job_client" "$socket" submit sleep 1000 >/dev/null || wrong 'submit'
  done
  becomes_true eval '(($(jobs list | grep -c running) == 6))'
  runs_at_once 65533
  same 6 "$(jobs list | grep -c ' running 65534 ')"
  over 0 INT
}

# Nor what he says that he needs, and does not take: all of the line, and all of the cores.
case_one_users_hints_hold_up_no_other() {
  is_root || skip 'not root'
  serve_group --line 2G
  chmod 711 .
  as 65534 65534 none "$clients/stream_client" "$socket" hint 1T cores 1000 enter a await \
    enter b hint 50M cores 1 enter c enter d enter e enter f stay >first &
  local first=$!
  becomes_true grep -q 'admit a' first
  runs_at_once 65533
  pkill -KILL -P "$first" # the client, of the function that has started it
  over 0
}

# Fifty that follow a job and read nothing: it waits for them, and nobody else does.
case_fifty_followers_that_do_not_read() {
  is_root || skip 'not root'
  local job supervisor before after first
  serve_group
  chmod 711 .
  runs_at_once 65533 # what the first call takes for good
  supervisor=$(supervisor_of "$daemon")
  before=$(rss_of "$supervisor")
  job=$(as 65534 65534 none "$clients/job_client" "$socket" submit yes)
  becomes_true eval '[[ $(jobs list) == *running* ]]'
  as 65534 65534 none "$clients/stream_client" "$socket" watch "$job" 50 stay >first &
  first=$!
  becomes_true grep -q watching first
  sleep 3
  gives 0 timeout 10 "$clients/job_client" "$socket" list
  runs_at_once 65533
  after=$(rss_of "$supervisor")
  # A MiB for each, and what gRPC has taken of it.
  ((after < before + 100 * 1024 * $(if is_sanitized; then echo 3; else echo 1; fi))) ||
    wrong "the supervisor has grown from $before to $after kB"
  pkill -KILL -P "$first"
  gives 0 jobs signal "$job" 9
  over 0
}

# limits_of GROUP: what an administrator may have set there, in each hierarchy, a line each.
limits_of() {
  local root file
  for root in $(hierarchies_used); do
    for file in pids.max cpu.max cpu.weight cpu.shares cpu.cfs_quota_us memory.high memory.max memory.limit_in_bytes; do
      [[ ! -e $root$1/$file ]] || echo "$root/$file $(<"$root$1/$file")"
    done
  done
}

# A group of which only the directory is the user's, as systemd delegates: he asks for its jobs to be
# weighed and ended, which is done with his rights, so that root's limits there stay.
case_limits_at_a_users_place_stay_roots() {
  is_root || skip 'not root'
  local lent=$PLIMSOLL_CGROUP/lent root before first holder
  serve_group --line 100M
  chmod 711 .
  for root in $(hierarchies_used); do
    mkdir -p "$root$lent" && chown 65534:65534 "$root$lent"
    [[ ! -e $root$lent/cpu.cfs_quota_us ]] || echo 20000 >"$root$lent/cpu.cfs_quota_us"
    [[ ! -e $root$lent/pids.max ]] || echo 50 >"$root$lent/pids.max"
  done
  (
    # A cpuset of no processors takes nobody.
    for root in $(hierarchies_used); do echo $BASHPID >"$root$lent/cgroup.procs"; done 2>/dev/null
    exec setpriv --reuid 65534 --regid 65534 --clear-groups \
      "$python" -c 'import time; held = bytearray(200 << 20); time.sleep(1000)'
  ) &
  holder=$!
  before=$(limits_of "$lent")
  [[ $before ]] || wrong 'no limit can be seen'
  as 65534 65534 none "$clients/stream_client" "$socket" weight 50 place "$lent" enter a cancelled \
    enter b stay >first &
  first=$!
  becomes_true grep -q 'cancel a' first
  becomes_true eval "! kill -0 $holder"
  same "$before" "$(limits_of "$lent")"
  pkill -KILL -P "$first"
  for root in $(hierarchies_used); do
    becomes_true rmdir "$root$lent"
  done
  over 0
}

# of_group NAME FILE: what the file says in that group of the daemon's pool.
of_group() {
  local root
  for root in $(hierarchies_used); do
    find "$root${PLIMSOLL_CGROUP:?}" -path "*/pool/$1/$2" -exec cat {} + 2>/dev/null
  done
}

# However many jobs one has, together they weigh as much as another's, and fork no further.
case_users_have_groups_of_their_own() {
  is_root || skip 'not root'
  local governor=$'user_processes = 60\njob_processes = 40' job of_root
  serve_group
  chmod 711 .
  job=$(as 65534 65534 none "$clients/job_client" "$socket" submit sleep 1000)
  of_root=$(jobs submit sleep 1000)
  becomes_true eval '(($(jobs list | grep -c running) == 2))'
  gives 0 as 65534 65534 none "$clients/job_client" "$socket" run "$patience" cat /proc/self/cgroup
  has out "/pool/user-65534/job-"
  same 40 "$(of_group "user-65534/job-$job" pids.max)"
  same 60 "$(of_group user-65534 pids.max)"
  same max "$(of_group user-0 pids.max)"
  same max "$(of_group "user-0/job-$of_root" pids.max)"
  same "$(of_group user-0 cpu.shares)$(of_group user-0 cpu.weight)" \
    "$(of_group user-65534 cpu.shares)$(of_group user-65534 cpu.weight)"
  gives 0 as 65534 65534 none "$clients/job_client" "$socket" run "$patience" \
    sh -c 'for i in $(seq 50); do sleep 1000 & done; echo all'
  lacks out all
  # Whoever dies: they go with the jobs' own.
  local supervisor
  supervisor=$(supervisor_of "$daemon")
  kill -STOP "$daemon" "$supervisor"
  kill -KILL "$daemon" "$supervisor"
  wait "$daemon"
  gives 0 "$plimsoll" reap --stale
  becomes_true nothing_left
}

# The supervisor does no more for it than a bounded number of reads, and the job gets to its end.
case_output_that_nobody_follows_is_read_slowly() {
  serve
  local supervisor i reads begun
  supervisor=$(supervisor_of "$daemon")
  for ((i = 0; i < 4; i++)); do jobs submit yes >/dev/null || wrong 'submit'; done
  becomes_true eval '(($(jobs list | grep -c running) == 4))'
  reads=$(awk '$1 == "syscr:" { print $2 }' "/proc/$supervisor/io")
  begun=$EPOCHREALTIME
  sleep 3
  reads=$(($(awk '$1 == "syscr:" { print $2 }' "/proc/$supervisor/io") - reads))
  # A thousand a second for them, and some hundreds for looking at what runs.
  awk -v reads="$reads" -v from="$begun" -v to="$EPOCHREALTIME" \
    'BEGIN { exit reads > 3000 * (to - from) }' || wrong "$reads reads in 3 s"
  gives 0 jobs submit sh -c "yes | head -c 5M; touch $PWD/written"
  becomes_true test -e written
  over 0 INT
}

run_cases "$@"

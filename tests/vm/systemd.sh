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

# Where groups are delegated, who watches has one that keeps its memory.
case_the_supervisor_keeps_its_memory() {
  local batch
  echo 'until [ -e stop ]; do sleep 0.1; done' >jobs.txt
  "$plimsoll" batch --progress none jobs.txt 2>err &
  batch=$!
  becomes_true eval '(($(cat "$(find /sys/fs/cgroup -path "*/plimsoll-*/supervisor" -type d | head -n 1)/memory.min") > 0))'
  touch stop
  wait $batch
  same 0 $?
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

# unit OPTION... -- COMMAND...: the command as the unit `work`, whatever was there before.
unit() {
  systemctl_of reset-failed work 2>/dev/null
  local run=(systemd-run --quiet --collect --unit=work -p "WorkingDirectory=$PWD")
  is_root || run+=(--user)
  "${run[@]}" -E "PLIMSOLL_STATE_DIR=$PLIMSOLL_STATE_DIR" -E "PLIMSOLL_RUNTIME_DIR=$PLIMSOLL_RUNTIME_DIR" "$@"
}
jobs_that_stay() { for n in 1 2; do echo "(setsid sleep 1000 &) ; echo \$\$ >>jobs; exec sleep 1000"; done >jobs.txt; }
jobs_are_gone() { local pid; for pid in $(cat jobs); do gone "$pid" || return; done; }

case_a_unit_is_stopped_and_started_again() {
  local delegate
  jobs_that_stay
  for delegate in no yes; do
    rm -f jobs
    unit -p Delegate=$delegate -p TimeoutStopSec=60 -- "$plimsoll" batch --progress none -j 2 --cores 8 --memory-hint 10M jobs.txt
    becomes_true eval '[[ $(wc -l <jobs) == 2 ]]' || return
    systemctl_of restart work
    becomes_true eval '[[ $(wc -l <jobs) == 4 ]]' || return
    systemctl_of stop work
    becomes_true jobs_are_gone || wrong "Delegate=$delegate: jobs live"
    becomes_true no_groups || wrong "Delegate=$delegate: left: $(run_groups)"
  done
}

# A job that runs out of its own memory is no reason to stop the unit; with OOMPolicy=stop systemd
# takes it for one where the jobs are in the unit's group, and then nothing may be left. A user's
# manager of systemd 252 does not mark what it delegates, so that jobs are in a scope of their own there.
case_the_oom_policy_of_a_unit() {
  printf '%s\n' 'tail /dev/zero' 'sleep 3; touch survived' >jobs.txt
  unit -p Delegate=yes -- "$plimsoll" batch --progress none --memory-max 32M -j 2 --cores 8 --memory-hint 10M jobs.txt
  becomes_true test -e survived
  becomes_true no_groups || wrong "left: $(run_groups)"
  printf '%s\n' 'tail /dev/zero' 'echo $$ >>jobs; exec sleep 1000' >jobs.txt
  unit -p Delegate=yes -p OOMPolicy=stop -- "$plimsoll" batch --progress none --memory-max 32M -j 2 --cores 8 --memory-hint 10M jobs.txt
  is_root || { becomes_true test -s jobs && systemctl_of stop work; }
  becomes_true eval '! systemctl_of is-active --quiet work && jobs_are_gone' || wrong 'it goes on'
  becomes_true no_groups || wrong "left: $(run_groups)"
}

# The unit as it is installed, with the programs where they were built.
case_the_daemon_is_a_unit() {
  is_root || exit 0
  local build main again job word user refused words
  build=$(dirname "$plimsoll")
  echo 'listen.group = "nogroup"' >/run/plimsoll-test.toml
  sed "s|^ExecStart=.*|ExecStart=$build/plimsolld --config /run/plimsoll-test.toml|; s|^WatchdogSec=.*|WatchdogSec=10s|" "$build/packaging/plimsoll.service" >/run/systemd/system/plimsoll.service
  systemctl daemon-reload
  gives 0 systemctl start plimsoll
  main=$(systemctl show -P MainPID plimsoll)
  # Process 0 would be this test and all that it has started.
  ((main > 0)) || {
    wrong "it does not start: $(journalctl --unit plimsoll --no-pager | tail -n 20)"
    return
  }
  jobs() { "$build/tests/clients/job_client" /run/plimsolld.sock "$@"; }
  gives 0 jobs run 60 cat /proc/self/cgroup
  grep -q '^0::/system.slice/plimsoll.service/plimsoll-' out || wrong "$(<out)"
  gives 0 jobs run 60 cat /proc/self/oom_score_adj
  same 0 "$(<out)" 'what protects the daemon is not for jobs'
  gives 0 jobs run 60 grep SigIgn /proc/self/status
  has out 0000000000000000
  gives 0 jobs run 60 sh -c 'ulimit -Sn'
  same 1024 "$(<out)" 'descriptors of a job'
  seen() { systemctl show -P "$1" plimsoll; }
  local beat
  beat=$(seen WatchdogTimestampMonotonic)
  becomes_true eval '(($(seen WatchdogTimestampMonotonic) > beat))' || wrong 'the watchdog hears nothing'
  # A job is a process of the unit, but does not speak for it, be it root's or another user's. The system's
  # manager tells of each word that it has not listened to.
  words=(STATUS=mine READY=1 EXTEND_TIMEOUT_USEC=1000000 RELOADING=1 'MAINPID=$$' STOPPING=1 WATCHDOG=trigger)
  told() { journalctl --unit plimsoll --no-pager | grep -c 'reception only permitted for main PID'; }
  for user in 0 65534; do
    for word in "${words[@]}"; do
      refused=$(told)
      timeout "$patience" setpriv --reuid $user --regid 65534 --clear-groups "$build/tests/clients/job_client" /run/plimsolld.sock \
        run 60 sh -c "id -u; NOTIFY_SOCKET=/run/systemd/notify systemd-notify $word" >out 2>err
      same $user "$(<out)" "the user whose job says $word"
      becomes_true eval '(($(told) > refused))' || wrong "$word of user $user was not refused"
      [[ $main == "$(seen MainPID)" && $(seen ActiveState)/$(seen SubState) == active/running ]] || {
        wrong "$word of a job of user $user was believed: main process $(seen MainPID), $(seen ActiveState)/$(seen SubState)"
        return
      }
    done
  done
  same 0 "$(seen NRestarts)" 'restarts'
  [[ $(seen StatusText) == 'governs '* ]] || wrong "status: $(seen StatusText)"
  gives 0 systemctl reload plimsoll
  same "$main" "$(systemctl show -P MainPID plimsoll)"
  job=$(jobs submit sleep 1000)
  becomes_true eval 'jobs explain $job | grep -q started'
  # A daemon that stands still is killed by the watchdog; this one dies at once.
  kill -KILL "$main"
  again() { local pid; pid=$(systemctl show -P MainPID plimsoll); ((pid > 0 && pid != main)) && jobs list >list; }
  becomes_true again || wrong 'it is not started again'
  same '' "$(<list)" 'jobs of the one before'
  gives 0 jobs run 60 true
  gives 0 systemctl stop plimsoll
  becomes_true no_groups || wrong "left: $(run_groups)"
  rm /run/systemd/system/plimsoll.service /run/plimsoll-test.toml
  systemctl daemon-reload
}

# A user of a build machine: a manager was started for it, which is given no cpu controller, and it has
# no session.
with_manager() { setpriv --reuid tester --regid tester --init-groups env "HOME=$PWD" "XDG_RUNTIME_DIR=/run/user/1000" "$@"; }
case_a_user_with_a_manager_and_no_session() {
  is_root || exit 0
  local own=/run/systemd/system/user@1000.service.d group
  mkdir $own
  printf '%s\n' '[Service]' Delegate= 'Delegate=memory pids' >$own/delegate.conf
  systemctl daemon-reload
  gives 0 systemctl start user@1000
  becomes_true test -S /run/user/1000/bus
  mkdir -p -m 700 "$PLIMSOLL_STATE_DIR"
  chown tester . "$PLIMSOLL_STATE_DIR" "$PLIMSOLL_RUNTIME_DIR"
  gives 0 with_manager "$plimsoll" run -- cat /proc/self/cgroup
  grep -qE '^0::/user.slice/user-1000.slice/user@1000.service/.*plimsoll-[-0-9a-f]+\.scope/plimsoll-[-0-9a-f]+/pool/job-1$' out || wrong "$(<out) $(<err)"

  group='g=/sys/fs/cgroup$(cut -d: -f3 /proc/self/cgroup)/..'
  gives 0 with_manager "$plimsoll" batch --progress none --line 100M -- sh -c "$group; cat \$g/cgroup.controllers \$g/memory.high" ::: 1
  same $'memory pids\n104857600' "$(<out)"

  printf '%s\n' 'all: a b c d' 'a b c d:' $'\tcat /proc/self/cgroup >$@' >Makefile
  gives 0 with_manager "$plimsoll" govern -- /host/usr/bin/make -s -j4
  has err 'steps        4'
  same 4 "$(cat a b c d | grep -cE '^0::/user.slice/.*\.scope/plimsoll-[-0-9a-f]+/pool/step-[1-4]$')" 'steps in groups of their own'

  gives 0 with_manager "$plimsoll" doctor
  has out 'systemd makes a scope for each run'
  grep -qE 'missing +controller.cpu ' out || wrong "$(<out)"
  gives 0 with_manager "$plimsoll" reap --stale
  has out 'nothing was left behind'
  becomes_true no_groups || wrong "left: $(run_groups)"
  becomes_true eval '! with_manager systemctl --user list-units --all --plain --no-legend "plimsoll-*" | grep -q plimsoll'

  # Where the manager is not found, it is said how it would be.
  gives 0 with_manager env -u XDG_RUNTIME_DIR "$plimsoll" run -- true
  has err 'loginctl enable-linger 1000), and set XDG_RUNTIME_DIR=/run/user/1000'
  gives 0 with_manager env -u XDG_RUNTIME_DIR "$plimsoll" govern -- true
  has err 'set XDG_RUNTIME_DIR=/run/user/1000'
  gives 0 systemctl stop user@1000
  rm -r $own
  systemctl daemon-reload
}

# Swap in a file, which only a machine with a disk has.
case_swap_in_a_file() {
  is_root || exit 0
  local kills
  kills=$(awk '$1 == "oom_kill" { print $2 }' /proc/vmstat)
  head -c 256M /dev/zero >/swapfile && chmod 600 /swapfile && mkswap -q /swapfile && swapon /swapfile || {
    wrong 'no swap'
    return
  }
  yes "$(dirname "$plimsoll")/tests/programs/hog 150 100 exit && echo fine" | head -n 6 >jobs.txt
  gives 0 "$plimsoll" batch --line 400M --progress none --cores 100 jobs.txt
  same 6 "$(grep -c fine out)" 'jobs that ended well'
  same "$kills" "$(awk '$1 == "oom_kill" { print $2 }' /proc/vmstat)" 'kills by the kernel'
  swapoff /swapfile && rm /swapfile
}

run_cases "${1:-}"

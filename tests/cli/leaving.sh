#!/bin/bash
# Who leaves the group of his job: he ends with it all the same, and is named.
# long: a group that stays is waited for
# shellcheck disable=SC2016 # dollars in single quotes are for the shells that are run
set -u
source "$(dirname "$0")/cases.bash"

# leaving: what a process says to leave all the groups of its run; they are ./aside of each hierarchy.
leaving() { echo "for root in $(hierarchies_used | tr '\n' ' '); do echo \$\$ >\$root$PLIMSOLL_CGROUP/aside/cgroup.procs; done"; }
make_aside() { for root in $(hierarchies_used); do mkdir -p "$root$PLIMSOLL_CGROUP/aside"; done; }
remove_aside() { for root in $(hierarchies_used); do rmdir "$root$PLIMSOLL_CGROUP/aside"; done; }

case_who_leaves_his_group_is_timed_out_all_the_same() {
  is_root || skip 'not root'
  make_aside
  gives 124 timeout -s KILL "$patience" "$plimsoll" run --timeout 500ms --kill-after 200ms -- sh -c "$(leaving); exec sleep 1000"
  echo "$(leaving); exec sleep 1000" >jobs.txt
  gives 1 timeout -s KILL "$patience" "$plimsoll" batch --progress none --timeout 500ms --kill-after 200ms jobs.txt
  becomes_true remove_aside
}

case_who_leaves_his_group_does_not_outlive_the_run() {
  is_root || skip 'not root'
  make_aside
  rm -f pid
  echo "echo \$\$ >pid; $(leaving); exec sleep 1000" >escape.sh
  # It has the shell's name until its exec.
  run 0 -- sh -c 'setsid sh escape.sh & until [ "$(cat /proc/$(cat pid)/comm)" = sleep ]; do sleep 0.01; done 2>/dev/null'
  gone "$(<pid)" || wrong "$(<pid) lives"
  has err "process $(<pid) (sleep) had left the group of its job and was killed"
  becomes_true remove_aside
  # Whose children the process had before it became ours is somebody else.
  gives 0 sh -c "sleep 1000 & echo \$! >other; exec '$plimsoll' run -q -- true"
  lives "$(<other)" || wrong 'a child of before was killed'
  kill -KILL "$(<other)"
}

# escaping: scripts of a process that leaves, escape.sh, and of a job that runs until it is gone, or
# for long.
escaping() {
  rm -f pid away
  # A child of a shell has the shell's name until its exec.
  printf '%s\n' 'echo $$ >pid' "$(leaving)" 'sleep 1000 &' \
    'until [ "$(cat /proc/$!/comm)" = sleep ]; do sleep 0.01; done' 'touch away' 'wait' >escape.sh
  cat >until_gone.sh <<'END'
until [ -e away ]; do sleep 0.01; done
for i in $(seq 1000); do kill -0 "$(cat pid)" 2>/dev/null || exit 0; sleep 0.02; done
exit 1
END
}

case_who_leaves_his_group_ends_with_his_job() {
  is_root || skip 'not root'
  local how
  make_aside
  for how in '' setsid 'env -i' 'setsid setsid'; do
    escaping
    echo "$how sh escape.sh & until [ -e away ]; do sleep 0.01; done" >leave.sh
    printf '%s\n' 'sh leave.sh' 'sh until_gone.sh' >jobs.txt
    gives 0 timeout "$patience" "$plimsoll" batch -j2 --progress none jobs.txt
    has err "process $(<pid) (sh) had left the group of its job and was killed"
    has err '(sleep) had left the group'
    gone "$(<pid)" || wrong "$(<pid) lives: $how"
  done
  escaping
  run 0 --report report.json -- sh leave.sh
  told report.json '[p["comm"] for p in r["left_behind"] if p.get("had_left_group")] == ["sh", "sleep"]'
  becomes_true remove_aside
}

case_who_leaves_his_group_of_the_daemon() {
  is_root || skip 'not root'
  local daemon
  export PLIMSOLL_SOCKET=$PWD/s
  make_aside
  "$plimsoll" serve --metrics off >daemon.log 2>&1 &
  daemon=$!
  becomes_true grep -q ready daemon.log || cat daemon.log
  escaping
  echo "setsid env -i PATH='$PATH' sh escape.sh & until [ -e away ]; do sleep 0.01; done" >leave.sh
  gives 0 "$plimsoll" submit -q -- sh leave.sh
  becomes_true gone "$(<pid)" || wrong "$(<pid) lives"
  becomes_true grep -q "process $(<pid) (sh) had left the group of its job and was killed" daemon.log ||
    wrong "$(<daemon.log)"
  kill -INT $daemon
  wait $daemon
  becomes_true remove_aside
}

# It forks and ends, in a session of its own each time, so that no number of it lives for long.
case_who_leaves_and_runs_from_number_to_number() {
  is_root || skip 'not root'
  make_aside
  cat >hop.py <<'END'
import os, sys, time
end = time.time() + int(sys.argv[1])
open("away", "w").close()
while time.time() < end:
    if os.fork(): os._exit(0)
    os.setsid()
open("reached the end", "w").close()
END
  echo "setsid sh -c '$(leaving); exec $python hop.py $((2 * patience))' & until [ -e away ]; do sleep 0.01; done" >leave.sh
  gives 0 timeout "$patience" "$plimsoll" batch --progress none -- sh leave.sh ::: 1
  [[ ! -e 'reached the end' ]] || wrong 'it was not killed'
  becomes_true remove_aside
}

# Neither its session nor its environment tells whose it is, and another job might be: it ends when
# that has ended too, in a run that goes on.
case_who_can_not_be_told_ends_with_those_that_ran_beside_him() {
  is_root || skip 'not root'
  make_aside
  escaping
  echo "setsid env -i PATH='$PATH' sh -c 'setsid sh escape.sh &' & until [ -e away ]; do sleep 0.01; done" >leave.sh
  echo 'until [ -e away ]; do sleep 0.01; done; sleep 1; kill -0 "$(cat pid)"' >beside.sh
  printf '%s\n' 'sh leave.sh' 'sh beside.sh' 'sh until_gone.sh' >jobs.txt
  gives 0 timeout "$patience" "$plimsoll" batch -j2 --order input --progress none jobs.txt
  has err "process $(<pid) (sh) had left the group of its job and was killed"
  becomes_true remove_aside
}

# Frozen by a freezer of v1, which no signal ends.
case_a_further_interrupt_leaves_who_does_not_die() {
  local freezer pid
  is_root || skip 'not root'
  freezer=$(awk '$3 == "cgroup" && $4 ~ /(^|,)freezer(,|$)/ { print $2; exit }' /proc/mounts)
  [[ -n $freezer ]] || skip 'no freezer of cgroup v1'
  freezer+=$PLIMSOLL_CGROUP-frozen
  mkdir -p "$freezer"
  echo "echo \$\$ >pid; echo \$\$ >$freezer/cgroup.procs; echo FROZEN >$freezer/freezer.state" >frozen.sh
  echo 'sh frozen.sh; sleep 1000' >jobs.txt
  "$python" -c '
import os, signal, sys
signal.signal(signal.SIGINT, signal.SIG_DFL)
os.execv(sys.argv[1], sys.argv[1:])' "$plimsoll" batch --progress none jobs.txt >out 2>err &
  pid=$!
  becomes_true grep -q FROZEN "$freezer/freezer.state"
  kill -INT $pid
  becomes_true grep -q 'interrupted:' err
  kill -INT $pid
  becomes_true grep -q 'interrupted again' err
  sleep 0.5
  lives $pid || wrong "it ended: $(<err)"
  kill -INT $pid
  becomes_true eval "! kill -0 $pid 2>/dev/null" || kill -KILL $pid
  echo THAWED >"$freezer/freezer.state"
  has err "process $(<pid) (sh) could not be killed, and is left"
  becomes_true rmdir "$freezer"
  becomes_true eval 'reap_stale >/dev/null; nothing_left'
}

case_nothing_is_left() {
  becomes_true nothing_left || wrong "left: $(groups_left) $(processes_left)"
}

run_cases "${1:-}"

#!/bin/bash
# Plimsoll's own faults: killed at every step, calls that fail or are interrupted, disks that are
# full, hosts that take things away. Its last line counts.
#
# The steps are system calls: strace kills, fails or interrupts the Nth of a kind, in the guardian,
# the supervisor or a child before its exec, and lets go of the jobs themselves.
# long: a run for each step
# shellcheck disable=SC2016,SC2317 # dollars for the shells that are run; called by name
set -uo pipefail
source "$(dirname "$(realpath "$0")")/cases.bash"
rounds=${ROUNDS:-3}

# What a run is: some that end, one with a daemon and one that has to be killed. Only that one is
# timed: on a machine whose processor is elsewhere even `true` may take long.
jobs_file() {
  cat >jobs.txt <<'END_OF_JOBS'
{"shell": "true"}
{"shell": "true"}
{"shell": "echo fine"}
{"shell": "setsid sleep 1000 & echo fine"}
{"shell": "sleep 1000", "timeout": "300ms"}
END_OF_JOBS
}

# faulty OPTION...: runs the jobs under strace with these injections; its log is in `trace`, the
# status in `status`.
faulty() {
  local seen=0
  look_for_no_leaks
  timeout -k 5 "$patience" strace -f -Y -b execve -q -o trace "$@" "$plimsoll" batch --progress none \
    --kill-after 100ms -j 4 --cores 8 --report report.jsonl jobs.txt >out 2>err || seen=$?
  echo $seen >status
}

# who_ended: of guardian (the first in the log) and supervisor, who was killed: `nobody`, `one`, or
# `both`, which includes a supervisor that had ended by itself before the guardian was killed.
who_ended() {
  sed 's/<.*>//' trace | awk 'NR == FNR { if ($0 ~ /<pl-supervisor>/) supervisor[$1 + 0]; next }
    FNR == 1 { guardian = $1 }
    /killed by SIGKILL/ && $1 == guardian { dead = FNR }
    /killed by SIGKILL/ && $1 in supervisor { killed = 1 }
    /[+][+][+]/ && $1 in supervisor { ended = FNR }
    END { print dead && (killed || ended && ended < dead) ? "both" : dead || killed ? "one" : "nobody" }' trace -
}

# Whoever dies, the other cleans up; when both have, the next start or a sweep does.
case_killed_at_every_step() {
  local call n
  jobs_file
  for call in mkdirat unlinkat openat clone3 write read pread64 sendmsg recvmsg poll epoll_wait waitid; do
    for n in 1 2 4 7 12 20 33 54; do
      faulty -e "trace=execve,$call" -e inject=$call:signal=KILL:when=$n
      # Not so many of them: this call is done.
      [[ $(who_ended) != nobody ]] || break
      if [[ $(who_ended) == both ]]; then
        # A killed process is not dead at once.
        becomes_true eval 'reap_stale >reaped 2>&1; nothing_left'
      else
        becomes_true nothing_left
      fi || wrong "killed at $call $n: $(groups_left | head -n 3) $(processes_left | head -n 3) $(tail -n 3 err)"
      ((wrong == 0)) || return
    done
  done
}

# The same at moments that nobody has chosen.
case_killed_at_random() {
  local round calls=(mkdirat unlinkat openat write read sendmsg recvmsg epoll_wait)
  jobs_file
  draws_are_told
  for ((round = 0; round < rounds * 4; round++)); do
    local call=${calls[RANDOM % ${#calls[@]}]} n=$((RANDOM % 200 + 1))
    faulty -e "trace=execve,$call" -e inject=$call:signal=KILL:when=$n
    becomes_true eval '[[ $(who_ended) != both ]] || reap_stale >reaped 2>&1; nothing_left' ||
      wrong "killed at $call $n: $(groups_left | head -n 3) $(processes_left | head -n 3) $(tail -n 3 err)"
    ((wrong == 0)) || return
  done
}

# Three jobs end well, one with what it left behind killed, one is timed out.
all_well() {
  same 1 "$(<status)" "with $1"
  same 2 "$(grep -c fine out)" "output with $1"
  becomes_true nothing_left || wrong "left with $1"
}

case_interrupted_everywhere() {
  local interrupted call loaded
  jobs_file
  # The first reads are the dynamic linker's, which takes no interruption.
  look_for_no_leaks
  strace -f -qq -o loading -e trace=read "$plimsoll" --version >version
  loaded=$(wc -l <loading)
  # Of each process from the Nth call on every so many.
  for interrupted in read:$((loaded + 2))+5 write:2+3 pread64:12+5 sendmsg:1+2 recvmsg:1+2 poll:1+2 epoll_wait:1+2 waitid:1+2; do
    call=${interrupted%:*}
    faulty -e "trace=execve,$call" -e "inject=$call:error=EINTR:when=${interrupted#*:}"
    all_well "EINTR from $call"
    grep -q 'EINTR.*(INJECTED)' trace || wrong "nothing has interrupted $call"
  done
}

# Files of groups that can't be read or opened: reports lack numbers, jobs lack nothing.
case_counters_that_can_not_be_read() {
  local error
  jobs_file
  for error in ENODEV EACCES ENOMEM; do
    faulty -e trace=pread64 -e inject=pread64:error=$error:when=5+7
    all_well "$error from pread64"
  done
}

# On v1 each level that can run out of memory takes an eventfd: without one the run goes on and says
# so, or does not begin and says why.
case_an_eventfd_that_can_not_be_had() {
  on_v1 memory || skip 'no eventfd tells of v2'
  local n told=''
  jobs_file
  for n in 1 2 3 4 5 6; do
    rm -f report.jsonl
    faulty -e trace=execve,eventfd2 -e inject=eventfd2:error=EMFILE:when=$n
    if [[ $(<status) == 125 ]]; then
      has err 'make an eventfd'
      becomes_true nothing_left || wrong "left with $n"
    else
      all_well "no eventfd $n"
      ! tail -n 1 report.jsonl | grep -q '"name":"oom"[^}]*"health":"failed: ' || told=yes
    fi
  done
  [[ $told ]] || wrong 'no run has said that it can not see ooms'
}

case_a_full_disk_for_records_and_history() {
  can_mount || skip 'mounts can not be changed here'
  jobs_file
  cat >full <<'END_OF_SCRIPT'
mount -t tmpfs -o size=64k,mode=755 none full_disk || exit
head -c 100k /dev/zero >full_disk/filler 2>/dev/null
PLIMSOLL_STATE_DIR=$PWD/full_disk "$plimsoll" batch --progress none -j 4 jobs.txt >out 2>err
echo $? >status
END_OF_SCRIPT
  mkdir full_disk
  plimsoll=$plimsoll timeout "$patience" unshare -m sh full
  all_well 'a full disk'
  has err 'No space left'
}

case_a_read_only_state_directory() {
  can_mount || skip 'mounts can not be changed here'
  jobs_file
  mkdir state
  cat >read_only <<'END_OF_SCRIPT'
mount -t tmpfs -o ro,mode=755 none state || exit
PLIMSOLL_STATE_DIR=$PWD/state "$plimsoll" batch --progress none -j 4 jobs.txt >out 2>err
echo $? >status
END_OF_SCRIPT
  plimsoll=$plimsoll timeout "$patience" unshare -m sh read_only
  all_well 'a read-only directory'
  has err 'Read-only file system'
}

# in_read_only COMMAND...: where `place`, and `place/there` in it, can't be written.
in_read_only() {
  unshare -m sh -c 'mount -t tmpfs none place && mkdir place/there &&
    mount -o remount,ro none place && exec "$@"' - "$@"
}

# Known before anything runs, not when there is something to write.
case_read_only_places_for_what_is_asked_for() {
  can_mount || skip 'mounts can not be changed here'
  local asked
  mkdir place
  echo 'touch started' >jobs.txt
  for asked in '--results place/new' '--results place/there' '--report place/report' '--joblog place/log'; do
    # shellcheck disable=SC2086 # an option and its value
    gives 125 in_read_only "$plimsoll" batch --progress none $asked jobs.txt
    has err "${asked% *}: "
    has err "${asked#* }"
    has err 'Read-only file system'
    [[ ! -e started ]] || wrong "a job was started with $asked"
  done
  # That of one command is written when it has ended: it may make the place itself.
  gives 125 in_read_only "$plimsoll" run --report place/report -- touch started
  has err '--report: '
  has err 'Read-only file system'
  becomes_true nothing_left || wrong 'something is left'
}

# The output of the jobs themselves: said, waited for, and given up when the run is killed.
case_a_full_disk_for_outputs() {
  can_mount || skip 'mounts can not be changed here'
  mkdir results
  cat >jobs.txt <<'END_OF_JOBS'
{"id": "short", "shell": "echo fine"}
{"shell": "head -c 1000000 /dev/zero", "needs": ["short"]}
END_OF_JOBS
  cat >full <<'END_OF_SCRIPT'
mount -t tmpfs -o size=64k none results || exit
"$plimsoll" batch --progress none --results results/here -j 2 jobs.txt >out 2>err & batch=$!
until grep -qs 'No space left' err; do sleep 0.05; done
kill -TERM $batch
wait $batch
echo $? >status
END_OF_SCRIPT
  plimsoll=$plimsoll timeout "$patience" unshare -m sh full
  same 143 "$(<status)" "$(<err)"
  has err 'the rest of its output is lost'
  becomes_true nothing_left || wrong 'something is left'
}

# Every job has its line, once and whole, when there is room again; else it is told what is missing.
case_a_disk_that_is_full_for_a_moment_for_the_job_log() {
  can_mount || skip 'mounts can not be changed here'
  mkdir logs
  # Long commands: their lines need pages of their own.
  local i
  for i in $(seq 60); do
    case $i in
      # Its own line may be among those that are lost, and then it runs again.
      30) echo '[ -e again ] || head -c 1M /dev/zero >logs/filler 2>filler_err; true' ;;
      50) echo 'until grep -q "No space left" err; do sleep 0.05; done; [ "$MAKE_ROOM" ] && rm logs/filler; true' ;;
      *) printf 'true # %0500d\n' "$i" ;;
    esac
  done >jobs.txt
  cat >full <<'END_OF_SCRIPT'
mount -t tmpfs -o size=256k none logs || exit
rm -f again
"$plimsoll" batch --progress none --joblog logs/log -j 1 jobs.txt >out 2>err
echo $? >status
cp logs/log first
rm -f logs/filler
touch again
"$plimsoll" batch --progress none --joblog logs/log --resume -j 1 jobs.txt >out 2>err.again
cp logs/log second
END_OF_SCRIPT
  MAKE_ROOM=yes plimsoll=$plimsoll timeout "$patience" unshare -m sh full
  same 0 "$(<status)" "$(<err)"
  same 1 "$(grep -c 'No space left' err)"
  has err 'their lines are written when there is space again'
  lacks err 'missing from the job log'
  # Each once. The first jobs take longer than others, so that a number may seem to tell of the
  # time, and then they do not start in its order.
  same "$(seq 60)" "$(tail -n +2 first | cut -f 1 | sort -n)"
  has err.again 'nothing is left to run'

  MAKE_ROOM='' plimsoll=$plimsoll timeout "$patience" unshare -m sh full
  same 0 "$(<status)" "$(<err)"
  has err 'missing from the job log, and --resume would run them again'
  same '' "$(tail -n +2 first | awk -F '\t' 'NF != 9')" 'torn lines'
  local lost
  lost=$(sed -n 's/.*; \([0-9]*\) jobs are missing from the job log.*/\1/p' err)
  same $((60 - lost)) "$(tail -n +2 first | wc -l)"
  has err.again "running $lost jobs"
  same 60 "$(tail -n +2 second | cut -f 9 | sort -u | wc -l)"
  becomes_true nothing_left || wrong 'something is left'
}

# Its results, then its line in the job log, then the word that it has ended; told by the times at which
# calls returned.
case_an_end_is_told_when_it_is_on_the_disk() {
  yes 'echo fine' | head -n 8 >jobs.txt
  look_for_no_leaks
  gives 0 timeout -k 5 "$patience" strace -f -y -q -s 4096 -o trace -e trace=execve,write,fsync -e inject=fsync:delay_enter=20000 \
    -b execve "$plimsoll" batch --progress json --sync --joblog log --results results -j 3 --cores 8 jobs.txt
  "$python" - trace <<'END' || wrong "an end is told too early: $(tail -n 3 trace)"
import re, sys
forced, pending = {}, {}  # file: number of the line of the trace where a call began that has returned
written, told = {}, {}
for number, line in enumerate(open(sys.argv[1], errors="replace")):
    pid, call = line.split(None, 1)
    begun = re.match(r"fsync\(\d+<(.*?)>", call)
    if begun:
        pending[pid] = (begun[1], number)
    if (begun or "fsync resumed" in call) and "= 0" in call:
        file, since = pending[pid]
        forced[file] = since
    line_of_log = re.match(r'write\(\d+<(.*/log)>, "(\d+)\\t:', call)
    if line_of_log:
        log, job = line_of_log[1], line_of_log[2]
        written[job] = number
        results = log[:-3] + "results/" + job
        if not all(results + "/" + name in forced for name in ("stdout", "stderr", "seq")):
            sys.exit(f"{job}: its line comes before its results")
    told_in = call if re.match(r"write\(\d+<[^>]*/err>", call) else ""
    for job in re.findall(r'"kind\\":\\"ended\\".*?"number\\":(\d+)', told_in):
        told[job] = number
        if forced.get(log, -1) < written.get(job, number):
            sys.exit(f"{job}: told before its line is on the disk")
sys.exit(len(told) != 8 and f"{len(told)} ends were told")
END
  same 9 "$(wc -l <log)"
}

# What can't be forced is told; the jobs go on.
case_a_disk_that_can_not_be_forced() {
  yes 'sleep 0.3' | head -n 5 >jobs.txt # ends that come together are forced together
  look_for_no_leaks
  gives 0 timeout -k 5 "$patience" strace -f -q -o trace -P "$PWD/log" -e trace=fsync -e inject=fsync:error=EIO:when=2+ \
    "$plimsoll" batch --standalone --progress none --sync --joblog log -j 1 jobs.txt
  same 1 "$(grep -c 'force log to the disk: Input/output error; the jobs continue' err)"
  has err 'may be missing from the job log after a power failure'
  same 6 "$(wc -l <log)"
  # Nor does a run begin whose log is not surely there.
  gives 125 timeout -k 5 "$patience" strace -f -q -o trace -P "$PWD/log" -e trace=fsync -e inject=fsync:error=EIO:when=1 \
    "$plimsoll" batch --standalone --progress none --sync --joblog log -j 1 jobs.txt
  has err '--joblog: force log to the disk: Input/output error'
}

# They suffice for one job at a time.
case_few_descriptors() {
  yes 'mkdir alone && sleep 0.01 && rmdir alone && echo fine' | head -n 100 >jobs.txt
  gives 0 bash -c 'ulimit -n 256; exec "$@"' - "$plimsoll" batch --progress none -j 50 --cores 1000 jobs.txt
  same 100 "$(grep -c fine out)"
  has err 'one job at once instead of 50'
}

# As in many containers: then jobs have no groups.
case_a_read_only_cgroup_tree() {
  is_root || skip 'not root'
  unset PLIMSOLL_CGROUP
  cat >read_only <<'END_OF_SCRIPT'
awk '$3 ~ /^cgroup/ { print $2 }' /proc/mounts | while read -r mounted; do
  mount -o remount,bind,ro "$mounted" || exit
done || exit
"$plimsoll" run -- sh -c 'exit 7' >out 2>err
echo $? >status
END_OF_SCRIPT
  plimsoll=$plimsoll timeout "$patience" unshare -m sh read_only ||
    skip 'mounts can not be changed here'
  same 7 "$(<status)" "$(<err)"
}

type -P strace >/dev/null || { echo 'FAILED: there is no strace'; echo '0 passed, 1 failed'; exit 1; }
run_cases "$@"

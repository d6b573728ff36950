#!/bin/bash
# Jobs that mean harm, each against the promise that it attacks; its last line counts. What they do
# is in tests/programs, beside the plimsoll that is tested.
# long: twenty attacks, each of them some seconds
# program: released
# shellcheck disable=SC2016,SC2317 # dollars for the shells that are run; called by name
set -uo pipefail
source "$(dirname "$(realpath "$0")")/cases.bash"
programs=$(dirname "$plimsoll")/tests/programs
readonly line_mib=${LINE_MIB:-400}
readonly pace=${PACE:-1} # times as slow as a usual machine
export PATH=$programs:$PATH

# attack STATUS OPTION...: a batch of the lines on stdin below the line, with a report and events,
# and the pool watched beside it.
attack() {
  rm -f over watching
  watch_line &
  local watcher=$!
  cat >jobs.txt
  becomes_true test -e watching
  gives "$1" "$plimsoll" batch --line "${line_mib}M" --progress none --report report.jsonl "${@:2}" jobs.txt
  tail -n 1 report.jsonl >run.json
  touch over
  wait $watcher
  becomes_true nothing_left || wrong "left: $(groups_left | head -n 3) $(processes_left | head -n 3)"
}

# Looks at what the pool can't drop every 20 ms, until there is a file `over`; leaves in `line.json`
# the peak and the longest time above the line and its tolerance, in bytes and seconds. While it has no
# processor it does not know: of each time between two looks some tenths of a second count at most.
watch_line() {
  "$python" - "$(mount_of memory)$PLIMSOLL_CGROUP" $((line_mib << 20)) <<'END_OF_PYTHON'
import glob, json, os, sys, time
base, line = sys.argv[1], int(sys.argv[2])
allowed = line + max(line * 3 // 100, 32 << 20)
# v1 counts a group with those below it as total_*; v2 always does.
KEYS = {"total_rss": 1, "total_shmem": 1, "total_dirty": 1, "total_writeback": 1,
        "anon": 1, "shmem": 1, "kernel": 1, "slab_reclaimable": -1, "file_dirty": 1, "file_writeback": 1}
SEEN_MAX = 0.2
peak = longest = above = 0
before = time.monotonic()
open("watching", "w").close()
while not os.path.exists("over"):
    used = 0
    for pool in glob.glob(base + "/plimsoll-*/pool"):
        try:
            with open(pool + "/memory.stat") as lines:
                used += sum(KEYS.get(key, 0) * int(value) for key, value in map(str.split, lines))
        except OSError:
            pass
    now = time.monotonic()
    peak = max(peak, used)
    above = above + min(now - before, SEEN_MAX) if used > allowed else 0
    before = now
    longest = max(longest, above)
    time.sleep(0.02)
json.dump({"peak": peak, "longest": longest, "line": line}, open("line.json", "w"))
END_OF_PYTHON
}

# The line holds: back below it within a second, here with a second for a busy machine; and the
# kernel's killer has not acted.
line_held() {
  told line.json 'r["peak"] > 0'
  line_held_as_far_as_seen
}
line_held_as_far_as_seen() {
  told line.json 'r["longest"] <= '$((2 * pace))
  told run.json 'r.get("oom_kills", 0) == 0'
}

# times N LINE: the line so often.
times() { yes "$2" | head -n "$1"; }

# Promise 2: the line holds, whatever the jobs do.
case_allocators_at_every_speed_and_number() {
  local speed jobs
  for speed in 50 400 0; do
    for jobs in 1 4 16; do
      times $jobs "hog $((line_mib * 3 / 8)) $speed exit" | attack 0
      # One alone may be over before the watcher has had its turn.
      if ((jobs == 1)); then line_held_as_far_as_seen; else line_held; fi
    done
  done
}

# Without pauses there are only evictions to hold it.
case_allocators_that_may_not_be_paused() {
  times 4 "hog $((line_mib * 3 / 8)) 400 exit" | attack 0 --no-pause
  line_held
  told run.json 'r["pauses"] == 0'
}

case_one_that_is_larger_than_the_line_fails_alone() {
  { echo "hog $((line_mib * 2)) 400"; times 4 "hog $((line_mib / 8)) 0 exit"; } | attack 1
  line_held
  told run.json 'r["outcomes"]["over_line"] == 1' 'r["outcomes"]["exited"] == 4'
}

case_a_sawtooth_around_the_line() {
  times 4 "sawtooth $((line_mib * 3 / 8)) 4 50 4" | attack 0
  line_held
}

case_locked_memory() {
  # 137 is its end by that signal; it ends by itself when it may lock nothing.
  times 4 "timeout -s KILL $((2 * pace)) hog $((line_mib * 3 / 8)) 400 locked; [ \$? = 137 ]" | attack 0
  line_held
}

case_memory_that_no_process_maps() {
  times 6 "hoard_tmpfs $((line_mib * 3 / 8)) exit" | attack 0
  line_held
}

# What is left in a tmpfs is nobody's any more: it takes room below the line until somebody deletes it.
# Who needs what is gone fails, with that as the reason; who does not goes on.
case_files_left_in_a_tmpfs() {
  local left=/dev/shm/plimsoll-hostile-$$
  cat >keep <<'END_OF_JOB'
head -c $(($1 << 20)) /dev/zero >$2
END_OF_JOB
  {
    echo '{"id": "a", "shell": "sh keep '$((line_mib * 4 / 9))" $left.a"'"}'
    echo '{"id": "b", "needs": ["a"], "shell": "sh keep '$((line_mib * 4 / 9))" $left.b"'"}'
    echo '{"needs": ["b"], "shell": "hog '$((line_mib / 3))' 100 exit"}'
    echo '{"needs": ["b"], "shell": "sleep 0.2; echo fine"}'
  } | attack 1 --memory-hint 10M
  rm -f "$left".*
  line_held
  has out fine
  told run.json 'r["outcomes"] == {"exited": 3, "over_line": 1}'
  has report.jsonl "belongs to no running job (files in a tmpfs, say)"
}

case_page_cache_is_not_memory_in_use() {
  { times 2 "many_files $((${FILES:-100000} / 2))"; times 4 'sleep 1'; } | attack 0
  line_held
  told run.json 'r["evictions"] == 0'
}

# Promise 1: the keel runs. It waits here for a lock that a frozen job may hold.
case_a_lock_that_the_keel_waits_for() {
  cat >keel <<'END_OF_JOB'
hog $1 0 & hog=$!
until [ -e locked ]; do sleep 0.05; done
flock lock true
kill -KILL $hog
END_OF_JOB
  cat >holder <<'END_OF_JOB'
sleep 1
exec flock lock sh -c 'touch locked; exec hog $0 100 exit' $1
END_OF_JOB
  touch lock
  printf 'sh keel %d\nsh holder %d\n' $((line_mib / 2)) $((line_mib * 3 / 4)) |
    attack 0 --cores 8 --memory-hint 10M
  line_held
  grep holder report.jsonl >holder.json
  told holder.json 'r["times"]["paused_ns"] > 0' 'r["outcome"] == "exited"'
}

# Promise 3: nothing survives. What is left is looked for after every attack.
case_fork_bombs() {
  { times 2 'timeout -s KILL 2 forkbomb 200 churn; true'; times 4 'sleep 1; echo fine'; } |
    attack 0 --pids-max 400
  same 4 "$(grep -c fine out)"
}

case_daemons_and_orphans() {
  times 4 'double_fork; sh -c "sleep 1000 & exit 0"' | attack 0
  told run.json 'r["outcomes"]["exited"] == 4'
}

case_those_that_will_not_end() {
  printf '%s\n' ignore_signals stop_self 'close_stdin all' 'trap "" TERM HUP INT; while :; do sleep 1; done' |
    attack 4 --timeout $((pace))s --kill-after 500ms -j 4
  told run.json 'r["outcomes"]["timed_out"] == 4'
}

case_groups_of_their_own() {
  printf '%s\n' 'nest_groups 5' 'nest_groups frozen' 'nest_groups threaded' |
    attack 3 --timeout $((2 * pace))s --kill-after 500ms -j 3
  told run.json 'r["outcomes"]["timed_out"] == 3'
}

# attackers COMMAND...: jobs that are timed out, and three that are to end well beside them.
attackers() {
  printf '{"shell": "%s", "timeout": "'$((3 * pace))'s"}\n' "$@"
  times 3 '{"shell": "sleep 1; echo fine"}'
}

case_groups_left_and_removed() {
  attackers 'leave_group out' 'leave_group remove' | attack 2 --kill-after 500ms -j 5
  same 3 "$(grep -c fine out)"
}

case_their_own_groups_files() {
  attackers 'touch_group freeze' 'touch_group loosen' | attack 2 --kill-after 500ms -j 5
  same 3 "$(grep -c fine out)"
}

case_a_thousandth_of_a_core() {
  times 2 'burn' | attack 2 --cpus 0.001 --timeout $((pace))s --kill-after 500ms -j 2
  told run.json 'r["makespan_ns"] < 15e9 * '$((pace))
}

case_a_flood_of_output() {
  times 4 'flood 32' | attack 0 -j 4
  (($(stat -c %s out) >= 4 * 32 << 20)) || wrong "only $(stat -c %s out) bytes have come"
}

# The guardian is the parent of every job. Its death ends the run, and leaves nothing.
case_the_parent_is_killed() {
  { times 3 'sleep 1000'; echo 'sleep 0.5; kill -KILL $PPID'; } >jobs.txt
  gives 137 "$plimsoll" batch --progress none -j 4 --cores 8 jobs.txt
  becomes_true nothing_left || wrong "left: $(groups_left | head -n 3) $(processes_left | head -n 3)"
}

# Who watches must not be starved by whom he watches.
case_those_who_take_every_cpu_are_timed_out_all_the_same() {
  gives 124 timeout "$patience" "$plimsoll" run -q --timeout 1s --kill-after 200ms -- sh -c '
    for i in $(seq 200); do (trap "" TERM; while :; do :; done) & done
    [ "$(id -u)" != 0 ] || renice -n -20 -g 0 >/dev/null 2>&1
    wait'
  becomes_true nothing_left
}

# Promise 7: one job's trouble is one job's. This one can't be killed until its disk is let go.
case_a_process_that_can_not_die() {
  can_mount && [[ -c /dev/fuse ]] || skip 'no FUSE, or mounts can not be changed here'
  mkdir hung
  cat >in_a_namespace <<'END_OF_SCRIPT'
hang_fuse hung >ready & disk=$!
until [ -s ready ]; do sleep 0.01; done
"$plimsoll" batch --progress none --report report.jsonl --kill-after 100ms -j 4 --cores 8 jobs.txt >out 2>err &
batch=$!
until grep -q 'are still alive' err && [ "$(grep -c fine out)" = 2 ]; do sleep 0.1; done
kill -KILL $disk
wait $batch
echo $? >status
umount -l hung
tail -n 1 report.jsonl >run.json
END_OF_SCRIPT
  printf '{"shell": "%s"}\n' 'echo fine' 'echo fine' >jobs.txt
  echo '{"shell": "ls hung/file", "timeout": "'$((pace))'s"}' >>jobs.txt
  timeout "$patience" env plimsoll="$plimsoll" unshare -m sh in_a_namespace || wrong "timed out: $(<err)"
  same 2 "$(grep -c fine out)" 'ended beside it'
  same 1 "$(<status)"
  told run.json 'r["outcomes"]["timed_out"] == 1'
  becomes_true nothing_left || wrong "left: $(groups_left | head -n 3) $(processes_left | head -n 3)"
}

run_cases "$@"

#!/bin/bash
# What batch does for its jobs beside starting them: weights by priority, what it believes and learns
# of them, and how good its estimates were; its last line counts.
# program: released
# shellcheck disable=SC2016,SC2317 # for the shells that are run; called by name
set -uo pipefail
. "$(dirname "$0")/cases.bash"

# priority N [MORE]: a job of that priority which prints its weight.
priority() {
  "$python" -c '
import json, sys
print(json.dumps({"shell": sys.argv[2], "priority": int(sys.argv[1]), **json.loads(sys.argv[3])}))' \
    "$1" "$cat_own own cpu/cpu.weight cpu/cpu.shares" "${2:-{\}}"
}

case_a_priority_is_a_weight() {
  { priority 3 && priority 0 && priority -3 && priority 3 '{"weight": 50}'; } >jobs.jsonl
  gives 0 "$plimsoll" batch -q -k jobs.jsonl
  # On v1 1024 shares are what a weight of 100 is on v2; a weight of its own goes before.
  same 1 "$(grep -cxE '1997|195' out)" 'priority 3'
  same 1 "$(grep -cxE '1024|100' out)" 'priority 0'
  same 1 "$(grep -cxE '522|51' out)" 'priority -3'
  same 1 "$(grep -cxE '512|50' out)" 'weight 50'
  gives 0 "$plimsoll" explain last 1 --json
  has out '"priority":3'
  has out '"weight":195'
}

# What the history has of the sizes that jobs read, one a line.
sizes_known() {
  "$python" -c '
import glob, sqlite3, sys
for file in glob.glob(sys.argv[1] + "/*"):
    try:
        rows = sqlite3.connect(f"file:{file}?mode=ro", uri=True).execute(
            "SELECT input_bytes FROM experience ORDER BY input_bytes").fetchall()
    except sqlite3.Error:
        continue
    for (size,) in rows: print(size)' "$PLIMSOLL_STATE_DIR"
}

case_sizes_of_inputs_are_learnt() {
  export PLIMSOLL_STATE_DIR=$PWD/state
  head -c 4096 /dev/zero >small
  head -c 1048576 /dev/zero >large
  gives 0 "$plimsoll" batch -q -- 'cat {} | sleep 0.3' ::: small large nowhere-file
  same $'None\n4096\n1048576' "$(sizes_known)"
}

# A program that has so many MiB for so many seconds.
make_taker() {
  cat >take.py <<'END'
import sys, time
held = bytearray(int(sys.argv[1]) << 20)
time.sleep(float(sys.argv[2]))
END
}

# estimates: what the jobs of the last run were admitted with, in MiB, by number.
estimates() {
  "$python" -c '
import glob, json, sys
run = max(glob.glob(sys.argv[1] + "/runs/*/events.jsonl"))
events = [json.loads(line) for line in open(run)]
admitted = {e["number"]: e["numbers"]["estimate_bytes"] for e in events if e["kind"] == "admitted"}
print(*(round(admitted[number] / 2**20) for number in sorted(admitted)))' "$PLIMSOLL_STATE_DIR"
}

# between LOW HIGH SEEN WHAT
between() { (($1 <= $3 && $3 <= $2)) || wrong "$4: expected $1 to $2, saw $3"; }

case_the_same_command_is_known_again() {
  state
  make_taker
  printf '%s take.py %s 0.3\n' "$python" 300 "$python" 20 >jobs
  gives 0 "$plimsoll" batch -q jobs
  printf '%s take.py %s 0.3\n' "$python" 300 "$python" 20 "$python" 160 >>jobs
  gives 0 "$plimsoll" batch -q jobs
  local large small again_large again_small new
  read -r large small again_large again_small new <<<"$(estimates)"
  between 295 350 "$large" 'take.py 300'
  between 20 70 "$small" 'take.py 20'
  between 295 350 "$again_large" 'take.py 300, again'
  between 20 70 "$again_small" 'take.py 20, again'
  between 100 250 "$new" 'take.py 160'
  # In another folder it is another command, of which only the class is known.
  mkdir elsewhere && cp take.py elsewhere
  (cd elsewhere && gives 0 "$plimsoll" batch -q ../jobs)
  read -r large small again_large <<<"$(estimates)"
  between 100 250 "$large" 'take.py 300, elsewhere'
}

case_numbers_of_a_sweep_are_learnt() {
  state
  make_taker
  gives 0 "$plimsoll" batch -q -- "$python" take.py {} 0.3 ::: 20 60 100 140 180 220
  gives 0 "$plimsoll" batch -q -- "$python" take.py {} 0.3 ::: 40 200 300
  local small large larger
  read -r small large larger <<<"$(estimates)"
  between 40 80 "$small" 'take.py 40'
  between 195 230 "$large" 'take.py 200'
  between 295 340 "$larger" 'take.py 300'
}

case_a_limit_bounds_what_is_believed() {
  state
  make_taker
  gives 0 "$plimsoll" batch -q --class taker -- "$python" take.py {} 0.3 ::: 150 151 152
  gives 0 "$plimsoll" batch -q --class taker --memory-max 40M -- sleep {} ::: 0.1 0.2 0.3
  same '40 40 40' "$(estimates)"
}

# On a busy machine each takes longer; then so will those that are left.
case_what_is_left_is_told() {
  state
  seq 10 >numbers
  "$plimsoll" batch -q -j2 -a numbers -- 'sleep 1; : {}' 2>/dev/null &
  local batch=$! seen=''
  while lives "$batch"; do
    seen=$("$plimsoll" ctl status --json 2>/dev/null | "$python" -c '
import json, sys
status = json.load(sys.stdin)["status"]
jobs = status["jobs"]
ended = jobs["succeeded"]
if 4 <= ended < 8:
    print(status["elapsed_ns"] * (jobs["total"] - ended) / ended / 1e9, status["remaining_ns"] / 1e9)' 2>/dev/null) &&
      [[ $seen ]] && break
    sleep 0.1
  done
  wait "$batch"
  # At the pace so far, with a second for those that have begun.
  [[ $seen ]] && awk -v seen="$seen" 'BEGIN { split(seen, s, " "); exit !(s[2] > s[1] / 2 - 1 && s[2] < s[1] * 2 + 1) }' ||
    wrong "expected the time by the pace so far, then the time that is told: '$seen'"
}

case_how_good_the_estimates_were() {
  gives 0 "$plimsoll" batch -v --report report -- 'sleep 0.{}' ::: 3 4 5
  has err '  estimates    '
  has err 'of reserved memory was not used'
  tail -n 1 report >summary
  told summary 'r["calibration"]["attempts"] == 3' '0 <= r["calibration"]["above_estimate"] <= 1' \
    '0 <= r["calibration"]["reserve_wasted"] <= 1'
  gives 0 "$plimsoll" batch -- 'sleep 0.{}' ::: 3 4
  lacks err '  estimates    '
}

case_very_many_jobs_are_recorded() {
  export PLIMSOLL_STATE_DIR=$PWD/state
  # All are ready at one moment, and all but the first are skipped at one moment.
  seq 100000 >numbers
  # Where hundreds run, their samples leave less room in the record.
  gives 0 "$plimsoll" batch --progress none -j20 --halt now,done=50 -- true <numbers
  lacks err 'slow'
  lacks err 'not in its record'
  gives 0 "$plimsoll" report last --json
  same 100000 "$(wc -l <out)" reports
  (($(grep -c '"outcome":"exited"' out) >= 50)) || wrong 'those that ran are not in the record'
  gives 0 "$plimsoll" explain last
  lacks out incomplete
  gives 0 "$plimsoll" explain last 99999
  has out 'not started'
}

# waited_ns PID: how long its main thread has waited for a processor.
waited_ns() { cut -d ' ' -f 2 "/proc/$1/task/$1/schedstat" 2>/dev/null; }

# While jobs end unstarted the supervisor does not stand still, for which those that run would be
# paused. What it waits for a processor that others have is not its own.
case_very_many_jobs_leave_the_supervisor_its_beats() {
  local batch supervisor waited=0 now
  seq 100000 >numbers
  "$plimsoll" batch -q --report report --halt now,done=50 -a numbers -- true 2>err &
  batch=$!
  becomes_true eval 'supervisor=$(supervisor_of $batch); [[ $supervisor ]]'
  while now=$(waited_ns "$supervisor") && [[ $now ]]; do
    waited=$now
    sleep 0.1
  done
  wait $batch
  same 0 $? "$(<err)"
  tail -n 1 report >summary
  told summary 'r["jobs"] == 100000' "r.get('wall', {'stalled_ns': 0})['stalled_ns'] < 1e9 + $waited"
}

# runs_tell TEXT: `plimsoll runs` does.
runs_tell() { "$plimsoll" runs | grep -qF -- "$1"; }

case_another_line_is_told_as_such() {
  export PLIMSOLL_STATE_DIR=$PWD/state
  "$plimsoll" batch -q -- 'until [ -e go ]; do sleep 0.1; done; : {}' ::: 1 2 &
  local pid=$!
  becomes_true "$plimsoll" ctl --run last line 700M
  gives 0 "$plimsoll" ctl --run last line 700M
  same 'plimsoll: the line is now 700 MiB' "$(<err)"
  becomes_true runs_tell '700 MiB'  # another thread writes it down
  touch go
  wait $pid || wrong 'batch failed'
  gives 0 "$plimsoll" explain last
  has out 'the user set the line to 700 MiB'
  lacks out 'no other run'
  gives 0 "$plimsoll" runs
  has out '700 MiB'
  told state/runs/*/summary.json 'r["line_bytes"] == 700 << 20'
}

case_a_single_command_is_learnt_from() {
  export PLIMSOLL_STATE_DIR=$PWD/state
  # On a busy machine `true` may take longer than a moment, but not each time.
  of_a_moment() { rm -rf state && run 0 -q -- true && [[ ! -e state ]]; }
  becomes_true of_a_moment || wrong 'to record a command of a moment takes longer than the command'
  rm -rf state
  run 0 -q --class quick -- true
  gives 0 "$plimsoll" history quick
  run 0 -q -- sleep 0.4
  gives 0 "$plimsoll" history 'sleep*'
  run 3 -q -- sh -c 'exit 3'
  gives 0 "$plimsoll" runs
  same 4 "$(wc -l <out)" 'runs, with a heading'
  gives 0 "$plimsoll" explain last
  has out 'plimsoll run -q -- sh -c'
  has out '1 (1 failed)'
  gives 0 "$plimsoll" report last-1
  has out '1 of 1 jobs succeeded'
  run 0 -q --join --class step -- sleep 0.4
  gives 0 "$plimsoll" history step
  gives 0 "$plimsoll" runs
  same 4 "$(wc -l <out)" 'a step is not recorded'
}

# `last` goes by the ids of runs, which are in the order of their starts within a second as well.
case_last_is_the_one_that_began_last() {
  state
  local i
  for i in 1 2 3 4 5 6; do gives 0 "$plimsoll" batch -q --class "c$i" -- true ::: 1; done
  for i in 1 2 3 4 5 6; do
    gives 0 "$plimsoll" explain "last-$((6 - i))"
    has out "--class c$i "
  done
}

# `last` stays the run that did something.
case_what_has_no_jobs_is_not_recorded() {
  state
  gives 0 "$plimsoll" batch -q --joblog log -- true ::: 1 2 3
  gives 0 "$plimsoll" batch --joblog log --resume --report report -- true ::: 1 2 3
  has err 'nothing is left to run'
  told report 'r["jobs"] == 0'
  gives 0 "$plimsoll" batch </dev/null
  has err 'the input has no jobs'
  gives 0 "$plimsoll" runs
  same 2 "$(wc -l <out)" 'runs, with a heading'
  gives 0 "$plimsoll" report last
  has out '3 of 3 jobs succeeded'
}

case_verbose_says_what_holds() {
  gives 0 "$plimsoll" batch -v --line 300M --cores 2 -j3 -- true
  has err 'line      300 MiB: as --line says'
  has err 'cores     2: as --cores says'
  has err 'at most 3 at once: as --jobs says'
  gives 0 "$plimsoll" batch -- true
  lacks err 'as --line says'
}

run_cases "${1:-}"

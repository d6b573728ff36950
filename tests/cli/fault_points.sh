#!/bin/bash
# Plimsoll's own processes killed in the middle of what they do to jobs and files: at each point of a
# list, supervisor, guardian and both, before and after. Its last line counts.
#
# A point is a write to a file. A library stops the process there (tests/programs/stop_at.cc), so
# that it stands still while somebody is killed. POINT_ROUNDS (5): so many more at random, later than at
# the first such write. SEED: what these are drawn by; a run prints its own.
# long: a run for each point, moment and victim
# shellcheck disable=SC2016,SC2317 # for the shells that are run; called by name
set -uo pipefail
source "$(dirname "$(realpath "$0")")/cases.bash"
programs=$(dirname "$plimsoll")/tests/programs
readonly rounds=${POINT_ROUNDS:-5}

# meet NAME: for jobs: waits for another job that waits by this name, and for as long as one may take
# to be started.
meet() { echo "touch $1.\$\$; for i in \$(seq 200); do [ \$(ls $1.* | wc -l) -lt 2 ] || break; sleep 0.02; done"; }

# v2_pool: a pattern of where the pool is, or will be.
v2_pool() { echo "$(awk '$3 == "cgroup2" { print $2; exit }' /proc/mounts)$PLIMSOLL_CGROUP/plimsoll-*/pool"; }
pool_is_frozen() { grep -qs '^frozen 1' $(v2_pool)/cgroup.events; }

# jobs_for POINT LATE: one that leaves a daemon, one that is timed out, LATE where something is to happen
# from outside; where memory is to be short, two that pass the line together, so that one is evicted, and
# two that grow beside what is left of them and are paused before they pass it. They have it until somebody has acted on it, for LATE at most.
jobs_for() {
  local acted='[ -e here/reached ]' timeout=100ms growth="timeout $2 sh -c 'until grep -qs ready ready.*; do sleep 0.05; done'; $(meet growth); $programs/hog 45 60 exit && sleep 0.2" kept burst alone
  [[ $1 != resume ]] || acted="grep -qs ^frozen.1 $(v2_pool)/job-*/cgroup.events"
  kept="timeout $2 sh -c 'until $acted; do sleep 0.05; done'; sleep 0.2; kill -KILL \$!; true"
  burst="$(meet burst); $programs/hog 80 0 >ready.\$\$ & $kept"
  # Past the line by itself, however the others are given CPUs.
  alone="$programs/hog 130 0 >alone & $kept"
  [[ $1 != reclaim ]] || printf '{"shell": "%s"}\n' "$alone"
  case $1 in pause | resume | reclaim) printf '{"shell": "%s"}\n' "$burst" "$burst" "$growth" "$growth" ;; esac
  echo '{"shell": "touch started; setsid sleep 1000 & echo fine"}'
  case $1 in line | hold | let-go) timeout=$2 ;; esac
  echo '{"shell": "sleep 1000", "timeout": "'$timeout'"}'
}

# NAME FILE TEXT: what is written where, as patterns. The files as v1 and v2 have them.
points() {
  cat <<'END_OF_POINTS'
pause    */job-*/cgroup.freeze  1
resume   */job-*/cgroup.freeze  0
kill     */job-*/cgroup.kill    1
hold     */pool/cgroup.freeze   1
let-go   */pool/cgroup.freeze   0
share    */ledger/*             *
event    */events.jsonl         *
record   */jobs.jsonl           *
summary  */summary.json.tmp     *
learn    */history.db-wal       *
report   */report.*.tmp         *
END_OF_POINTS
  if on_v1 memory; then
    cat <<'END_OF_POINTS'
wall     */pool/memory.limit_in_bytes  [0-9]*
line     */pool/memory.limit_in_bytes  362807296
lift     */pool/memory.limit_in_bytes  -1
reclaim  */pool/memory.force_empty     0
alarm    */pool/cgroup.event_control   *
END_OF_POINTS
  else
    cat <<'END_OF_POINTS'
wall     */pool/memory.high     104857600
line     */pool/memory.high     94371840
lift     */pool/memory.high     max
reclaim  */pool/memory.reclaim  *
END_OF_POINTS
  fi
}

# What it takes from outside to get there: the line moves; the supervisor does not answer for a while,
# so that the guardian holds the pool.
stir() {
  case $1 in
    line) becomes_true eval '"$plimsoll" ctl line 90M >stirred 2>&1' ;;
    hold | let-go)
      becomes_true test -e started
      kill -STOP "$supervisor"
      # The guardian stands before that, or has done it; or the run is lost.
      becomes_true eval '[[ -e here/reached ]] || pool_is_frozen || ! lives "$supervisor"'
      kill -CONT "$supervisor"
      ;;
  esac 2>/dev/null
}

# killed_at NAME FILE TEXT MOMENT VICTIM [NTH]: a run of its own, which gets there (for the NTH time:
# perhaps) and loses that one.
killed_at() {
  local name=$1 moment=$4 victim=$5 nth=${6:-} guardian supervisor stirring status=0 victims
  rm -rf here started report burst.* growth.* ready.*
  mkdir here
  jobs_for "$name" "$([[ $nth ]] && echo 3 || echo "$patience")s" >jobs.txt
  STOP_PROGRAM=$plimsoll STOP_FILE=$2 STOP_TEXT=$3 STOP_MOMENT=$moment STOP_NTH=${nth:-1} STOP_HERE=$PWD/here \
    LD_PRELOAD=$programs/stop_at.so "$plimsoll" batch --progress none --line 100M --memory-hint 10M -j 6 \
    --cores 16 --kill-after 100ms --report report jobs.txt >out 2>err &
  guardian=$!
  # A run that need not get there may be over before it is looked at.
  becomes_true eval 'supervisor=$(supervisor_of $guardian); [[ $supervisor ]] || { [[ $nth ]] && ! lives $guardian; }' || return
  [[ $supervisor ]] || { wait $guardian; becomes_true nothing_left; return; }
  stir "$name" &
  stirring=$!
  becomes_true eval '[[ -e here/reached ]] || { [[ $nth ]] && ! lives $supervisor; }' || wrong "$name is not reached"
  case $victim in
    supervisor) victims=("$supervisor") ;;
    guardian) victims=("$guardian") ;;
    both) victims=("$guardian" "$supervisor") ;;
  esac
  kill -KILL "${victims[@]}" || [[ $nth ]]
  touch here/go
  wait $stirring 2>/dev/null
  wait $guardian 2>/dev/null || status=$?
  becomes_true gone "$supervisor"
  # Where it is the guardian that stands there, a supervisor may have come to its end before it was killed.
  [[ $victim != supervisor || $(cat here/reached 2>/dev/null) != "$supervisor" ]] || same 125 $status "the guardian's status"
  # Children that were just being started hold a dead run's lock for a moment longer.
  becomes_true eval '[[ $victim != both ]] || reap_stale >reaped 2>&1; nothing_left' ||
    wrong "left: $(groups_left | head -n 3) $(processes_left | head -n 3)"
  ((wrong == 0)) || wrong "$victim killed $moment $name${nth:+, time $nth}: status $status, $(tail -n 3 err)"
}

case_killed_at_every_point() {
  local point moment victim
  state
  while read -r -a point; do
    for moment in before after; do
      for victim in supervisor guardian both; do
        killed_at "${point[0]}" "${point[1]}" "${point[2]}" $moment $victim
        ((wrong == 0)) || return
      done
    done
  done < <(points)
  # What they were killed in can be read.
  gives 0 "$plimsoll" runs
  gives 0 "$plimsoll" batch --progress none -- true ::: 1 2
}

case_killed_at_random() {
  local round listed point moments=(before after) victims=(supervisor guardian both)
  state
  draws_are_told
  mapfile -t listed < <(points)
  for ((round = 0; round < rounds; round++)); do
    read -r -a point <<<"${listed[RANDOM % ${#listed[@]}]}"
    killed_at "${point[0]}" "${point[1]}" "${point[2]}" ${moments[RANDOM % 2]} ${victims[RANDOM % 3]} \
      $((RANDOM % 8 + 1))
    ((wrong == 0)) || return
  done
}

run_cases "$@"

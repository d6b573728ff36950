# What allocators can do to the line; sourced by bench/run.
#
# WALL_LINE (400): MiB. WALL_RATES (50 400 0): MB/s of each, 0 for as fast as it goes. WALL_JOBS
# (1 4 16): at once; each takes 3/8 of the line, and beside them run two jobs of 20 MiB, the innocents.
# shellcheck shell=bash disable=SC2154 # variables of bench/run

wall_line=${WALL_LINE:-400}
wall_rates=${WALL_RATES:-50 400 0}
wall_jobs=${WALL_JOBS:-1 4 16}
wall_group=/plimsoll-bench-$$

# wall_mounts memory|unified: where the memory controller is, and where v2 is.
wall_mounts() {
  awk -v what="$1" '$3 == "cgroup2" && !v2 { v2 = $2 }
    $3 == "cgroup" && ("," $4 ",") ~ /,memory,/ && !v1 { v1 = $2 }
    END { print what == "memory" && v1 ? v1 : v2 }' /proc/mounts
}

wall_kills() { awk '$1 == "oom_kill" { print $2 }' /proc/vmstat; }

# wall_case RATE JOBS: prints its row.
wall_case() {
  local rate=$1 jobs=$2 i kills watcher
  local hog=$PWD/build/tests/programs/hog
  {
    for ((i = 0; i < jobs; i++)); do
      echo "{\"id\": \"hog-$i\", \"shell\": \"$hog $((wall_line * 3 / 8)) $rate exit\"}"
    done
    for i in 1 2; do
      echo "{\"id\": \"innocent-$i\", \"shell\": \"timeout -s KILL 5 $hog 20; true\"}"
    done
  } >"$work/wall.jsonl"
  rm -f "$work/over"
  bench/watch_pool.py "$(wall_mounts memory)$wall_group" "$(wall_mounts unified)$wall_group" \
    $((wall_line << 20)) "$work/over" >"$work/watched" &
  watcher=$!
  kills=$(wall_kills)
  PLIMSOLL_CGROUP=$wall_group "$plimsoll" batch -q --line "${wall_line}M" --memory-hint 40M --cores 100 \
    --report "$work/report" "$work/wall.jsonl" >/dev/null 2>"$work/err" || cat "$work/err" >&2
  touch "$work/over"
  wait $watcher
  python3 - "$work/watched" "$work/report" "$rate" "$jobs" "$wall_line" $(($(wall_kills) - kills)) <<'PYTHON'
import json, sys
watched = json.load(open(sys.argv[1]))
*jobs, run = map(json.loads, open(sys.argv[2]))
line = int(sys.argv[5]) << 20
taken = watched["taken_ms"]
at = lambda share: f"{taken[min(len(taken) - 1, int(share * len(taken)))]:.0f}" if taken else "-"
innocent = [j for j in jobs if j["id"].startswith("innocent")]
paused = sum(j["times"].get("paused_ns", 0) > 0 for j in innocent)
killed = sum(len(j["attempts"]) > 1 or j["outcome"] != "exited" for j in innocent)
print(f"  {sys.argv[3] + ' MB/s' if sys.argv[3] != '0' else 'full':>8} {sys.argv[4]:>4}"
      f" {100 * watched['peak'] / line:8.1f} % {sys.argv[6]:>8} {watched['crossings']:9}"
      f" {at(.5):>6} {at(.99):>6} {watched['stalled_us'] / 1000:8.0f} {paused:7} {killed:6}"
      f" {run['makespan_ns'] / 1e9:8.1f}")
PYTHON
}

bench_wall() {
  local rate jobs root
  [[ -x build/tests/programs/hog ]] || cmake --build build --target test_programs >&2 || return
  echo "allocators of $((wall_line * 3 / 8)) MiB each, line $wall_line MiB; times are in ms"
  printf '  %8s %4s %10s %8s %9s %13s %8s %14s %8s\n' '' '' 'peak' kernel 'line' 'to frozen/gone' 'all' \
    innocents ''
  printf '  %8s %4s %10s %8s %9s %6s %6s %8s %7s %6s %8s\n' speed jobs 'of line' kills crossed p50 p99 \
    stalled paused killed seconds
  for rate in $wall_rates; do
    for jobs in $wall_jobs; do wall_case "$rate" "$jobs"; done
  done
  for root in $(awk '$3 ~ /^cgroup2?$/ && $4 !~ /name=/ { print $2 }' /proc/mounts); do
    [[ ! -d $root$wall_group ]] || rmdir "$root$wall_group"
  done
}

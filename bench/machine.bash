# Sixty jobs of mixed kind on the real machine, under Plimsoll, GNU parallel's rules on memory and
# fixed numbers, all in the same memory; sourced by bench/run.
#
# MACHINE_BOUND (1024): MiB for all jobs together. The peers run in a group with that as its limit;
# `machine` instead bounds nobody: for a machine that is small itself. GNU parallel looks at the
# machine's MemAvailable alone, so that its rules can work there only.
# MACHINE_SHRINK (1): divides the CPU work, for emulated machines; more than 1 also has less text to
# pack and a smaller source.
# MACHINE_CORES: for Plimsoll, where others keep the machine busy: it leaves them their share of the
# cores, which no peer does.
# MACHINE_SECONDS (3600): a peer that takes longer is ended; what it has not done counts as lost.
# MACHINE_RULES: which, of plimsoll learnt memfree memsuspend and numbers.
# shellcheck shell=bash disable=SC2154 # variables of bench/run

machine_bound=${MACHINE_BOUND:-1024}
machine_shrink=${MACHINE_SHRINK:-1}
machine_seconds=${MACHINE_SECONDS:-3600}
machine_rules=${MACHINE_RULES:-plimsoll learnt memfree memsuspend 2 3 4 6 8}
machine_group=plimsoll-bench-$$
machine_inputs=$PWD/build/bench-machine

# What a C++ compiler has to do, and what xz packs.
machine_prepare() {
  [[ -x build/load ]] || cmake --build build --target load >&2 || return
  # The last of them that is made below.
  [[ ! -s $machine_inputs/small.cc ]] || return 0
  # In an emulated machine the tree is read-only.
  mkdir -p "$machine_inputs" 2>/dev/null && [[ -w $machine_inputs ]] ||
    { machine_inputs=$work/inputs && mkdir "$machine_inputs"; } || return
  local size
  for size in 1 4 6 8; do
    [[ -s $machine_inputs/$size.txt ]] || build/load text $size >"$machine_inputs/$size.txt"
  done
  cat >"$machine_inputs/source.cc" <<'CC'
#include <algorithm>
#include <functional>
#include <iostream>
#include <map>
#include <regex>
#include <string>
#include <vector>
template <int N> struct Deep {
  static void run(std::map<int, std::vector<std::string>>& to) {
    to[N].push_back(std::to_string(N));
    std::sort(to[N].begin(), to[N].end(), [](const auto& a, const auto& b) { return a.size() + N < b.size(); });
    Deep<N - 1>::run(to);
  }
};
template <> struct Deep<0> { static void run(std::map<int, std::vector<std::string>>&) {} };
int main() {
  std::map<int, std::vector<std::string>> to;
  Deep<40>::run(to);
  return std::regex_match("a", std::regex("[a-z]+")) ? 0 : 1;
}
CC
  cat >"$machine_inputs/small.cc" <<'CC'
#include <map>
#include <string>
#include <vector>
int main() {
  std::map<int, std::vector<std::string>> to;
  to[1].push_back(std::to_string(1));
}
CC
}

# Sixty lines "NAME COMMAND", in an order that is always the same and mixes the kinds.
machine_jobs() {
  local i load=$PWD/build/load cc="g++ -O2" source=source sizes=(4 6 8) ms=$((1000 / machine_shrink))
  ((machine_shrink == 1)) || cc="g++ -O0" source=small sizes=(1)
  {
    for ((i = 0; i < 12; i++)); do echo "fast$i $load fast $((120 + 30 * i)) 2 $((ms / 5))"; done
    for ((i = 0; i < 10; i++)); do echo "slow$i $load slow $((150 + 35 * i)) 4 $((ms / 10))"; done
    for ((i = 0; i < 10; i++)); do echo "steps$i $load steps $((150 + 30 * i)) 4 $((ms / 10))"; done
    for ((i = 0; i < 8; i++)); do echo "saw$i $load saw $((200 + 40 * i)) 4 $((ms / 10))"; done
    for ((i = 0; i < 8; i++)); do echo "cpu$i $load cpu 2 1 $ms"; done
    for ((i = 0; i < 6; i++)); do echo "cc$i $cc -c -o /dev/null $machine_inputs/$source.cc"; done
    for ((i = 0; i < 6; i++)); do
      echo "xz$i sh -c 'xz -9 -T1 -c \$0 >/dev/null' $machine_inputs/${sizes[i % ${#sizes[@]}]}.txt"
    done
  } | awk '{ printf "%d\t%s\n", (NR * 37) % 61, $0 }' | sort -n | cut -f 2
}

# The group of the peers: where the memory controller is, on v1 or v2; empty where nobody is bounded.
machine_make_group() {
  machine_memory=''
  [[ $machine_bound != machine ]] || return 0
  local limit=memory.limit_in_bytes
  machine_memory=/sys/fs/cgroup/memory/$machine_group
  if [[ ! -d /sys/fs/cgroup/memory ]]; then
    machine_memory=/sys/fs/cgroup/$machine_group limit=memory.max
    echo +memory >/sys/fs/cgroup/cgroup.subtree_control
  fi
  mkdir "$machine_memory" && echo $((machine_bound << 20)) >"$machine_memory/$limit"
}

machine_drop_group() { [[ -z $machine_memory ]] || rmdir "$machine_memory"; }

# Kills by the kernel so far: in the group, or anywhere.
machine_kills() {
  local file=/proc/vmstat
  if [[ $machine_memory && -e $machine_memory/memory.oom_control ]]; then
    file=$machine_memory/memory.oom_control
  elif [[ $machine_memory ]]; then
    file=$machine_memory/memory.events
  fi
  awk '$1 == "oom_kill" { print $2 }' "$file"
}

# The commands as they are: what it accounts for, it reports.
machine_plimsoll() {
  local line=(${MACHINE_CORES:+--cores "$MACHINE_CORES"})
  [[ $machine_bound == machine ]] || line+=(--line "${machine_bound}M")
  "$plimsoll" batch -q --report "$work/report" "${line[@]}" "$work/commands" >/dev/null
}

# Under a witness, that tells what each job has cost and whether it came to its end.
machine_parallel() {
  # A session of its own, by which those are found that are left stopped when it is ended.
  {
    [[ -z $machine_memory ]] || echo $BASHPID >"$machine_memory/cgroup.procs"
    exec setsid parallel --will-cite "$@"
  } <"$work/witnessed" >/dev/null 2>&1 &
  local peer=$! status=0 end=$((SECONDS + machine_seconds))
  while ((SECONDS < end)) && kill -0 "$peer" 2>/dev/null; do sleep 0.1; done
  kill -TERM "$peer" 2>/dev/null
  wait "$peer" || status=$?
  while ps -o stat= -s "$peer" | grep -qv Z; do
    pkill -KILL -s "$peer"
    sleep 0.1
  done
  return $status
}

# A number of the run's summary, the last line of the report; 0 if it is not there.
machine_reported() {
  tail -n 1 "$work/report" | grep -o "\"$1\":[0-9]*" | head -n 1 | cut -d: -f2 | grep . || echo 0
}

# machine_row RULE SECONDS KILLS JOBS_LOST CPU_S_LOST CPU_S_DONE PEAK
machine_row() {
  awk -v rule="$1" -v seconds="$2" -v kills="$3" -v jobs="$4" -v lost="$5" -v spent="$6" -v peak="$7" 'BEGIN {
    printf "  %-12s %9.1f %8d %9d %8.1f %6.1f %% %10s\n", rule, seconds, kills, jobs, lost,
           100 * lost / (spent + 0.001), peak }'
}

# One rule; prints its row.
machine_rule() {
  local rule=$1 status=0 kills begin seconds
  rm -f "$work/log" "$work/report"
  touch "$work/log"
  machine_make_group || return
  kills=$(machine_kills)
  begin=$EPOCHREALTIME
  case $rule in
    plimsoll) rm -rf "$PLIMSOLL_STATE_DIR" && machine_plimsoll ;;
    learnt) machine_plimsoll ;;
    # Room for the largest of the jobs; eight at most, so that memory is what bounds.
    memfree) machine_parallel -j8 --memfree 512M --retries 20 ;;
    memsuspend) machine_parallel -j8 --memsuspend 256M ;;
    *) machine_parallel "-j$rule" ;;
  esac
  status=$?
  seconds=$(awk -v a="$begin" -v b="$EPOCHREALTIME" 'BEGIN { print b - a }')
  kills=$(($(machine_kills) - kills))
  machine_drop_group
  if [[ -s $work/report ]]; then
    local lost used
    lost=$(awk -v ns="$(machine_reported lost_cpu_ns)" 'BEGIN { print ns / 1e9 }')
    used=$(awk -v ns="$(machine_reported cpu_usage_ns)" 'BEGIN { print ns / 1e9 }')
    machine_row "$rule" "$seconds" "$(machine_reported oom_kills)" "$status" "$lost" \
      "$(awk -v a="$used" -v b="$lost" 'BEGIN { print a - b }')" \
      "$(awk -v a="$(machine_reported used_peak_bytes)" -v b="$(machine_reported line_bytes)" \
        'BEGIN { printf "%.3f", a / b }')"
  else
    # shellcheck disable=SC2046 # three words
    machine_row "$rule" "$seconds" "$kills" $(awk '
      $2 == "done" { done[$1] = 1; spent += $3 }
      $2 == "lost" { lost += $3 }
      END { for (name in done) ++ended; print 60 - ended, lost + 0, spent + 0 }' "$work/log") -
  fi
}

bench_machine() {
  local rule
  machine_prepare || return
  machine_jobs >"$work/named"
  cut -d ' ' -f 2- "$work/named" >"$work/commands"
  sed "s|^\([^ ]*\) |$PWD/build/load $work/log \1 -- |" "$work/named" >"$work/witnessed"
  echo "60 jobs of mixed kind; all in: $machine_bound MiB, or the whole machine"
  printf '  %-12s %9s %8s %9s %8s %8s %10s\n' '' 'seconds' 'kernel' 'jobs' 'CPU s' 'of what' 'used peak'
  printf '  %-12s %9s %8s %9s %8s %8s %10s\n' rule '' kills lost lost 'is done' 'of line'
  for rule in $machine_rules; do machine_rule "$rule"; done
}

# Runs layers, counts what they ran and looks for what they left; sourced by ./dev.
# shellcheck shell=bash

readonly logs=$PWD/build/logs
readonly counts=$logs/counts

# --- for layers

# count PASSED FAILED [SKIPPED]
count() { echo "$1 $2 ${3:-0}" >>"$counts"; }

# skip REASON: the host lacks the means for this layer.
skip() {
  echo "skipped: $1"
  count 0 0 1
}

# check COMMAND...: one test, passed when the command succeeds.
check() {
  local status
  echo "--- $*"
  set +e
  (set -e && "$@")
  status=$?
  set -e
  if ((status == 0)); then
    count 1 0
  else
    echo "FAILED: exit $status of $*"
    count 0 1
  fi
}

# whole COMMAND...: prints at its end, at once, what the command prints, as others run beside it.
whole() {
  local output=$logs/whole.$BASHPID
  "$@" >"$output" 2>&1
  cat "$output"
  rm "$output"
}

# tested DIRECTORY LABEL JOBS [NAMES]: the tests of one build that have the label, and a name that
# matches, by ctest.
tested() {
  local report=$PWD/$1/tests.xml status=0
  rm -f "$report"
  # Run-time libraries of sanitizers may not start where address randomisation is wide.
  setarch -R ctest --test-dir "$1" -L "^$2\$" ${only:+-R "$only"} ${4:+-R "$4"} -j "$3" --output-on-failure \
    --no-tests=error --output-junit "$report" || status=$?
  local tests=0 failures=0 not_run=0
  if [[ -e $report ]]; then
    tests=$(attribute tests) failures=$(attribute failures)
    not_run=$(($(attribute skipped) + $(attribute disabled)))
  fi
  # ctest fails without a failed test where a program is missing or no test was found.
  ((status == 0 || failures > 0)) || failures=1 tests=$((tests + 1))
  count $((tests - failures - not_run)) "$failures" "$not_run"
}

# attribute NAME: of the first element of $report.
attribute() { sed -n "s/^[[:space:]]$1=\"\([0-9]*\)\".*/\1/p" "$report" | head -n 1; }

# Emulated machines on a busy host take long, and now and then one has to be started once more.
readonly script_seconds=2400

# counted COMMAND...: runs a script whose last line is `N passed, N failed`, `, N skipped` allowed.
counted() {
  local output=$logs/script.$BASHPID status=0 last
  local TIMEFORMAT='(%R s, and %U + %S s of processors)'
  { time timeout -k 10 $script_seconds "$@" </dev/null >"$output" 2>&1 || status=$?; } 2>"$output.time"
  # At once, as others may be running beside it.
  { echo "--- $* $(<"$output.time")" && cat "$output"; } >"$output.told" && cat "$output.told"
  last=$(tail -n 1 "$output")
  rm "$output" "$output.time" "$output.told"
  if [[ ! $last =~ ^([0-9]+)\ passed,\ ([0-9]+)\ failed(,\ ([0-9]+)\ skipped)?$ ]]; then
    echo "FAILED: exit $status, and the last line is not '... passed, ... failed'"
    count 0 1
  elif ((status != 0 && BASH_REMATCH[2] == 0)); then
    echo "FAILED: exit $status without a failed test"
    count "${BASH_REMATCH[1]}" 1 "${BASH_REMATCH[4]:-0}"
  else
    count "${BASH_REMATCH[1]}" "${BASH_REMATCH[2]}" "${BASH_REMATCH[4]:-0}"
  fi
}

# --- the group that tests work in, and what they leave

# Processes that all tests together may have: a fork bomb that escapes its own limit stops here.
readonly processes_max=16000

# Makes a group for this run at the root of each hierarchy, unless the caller named one: the outer
# one bounds, in the inner one the tests work, so that they are alone there.
enter_group() {
  [[ -z ${PLIMSOLL_CGROUP:-} && -d /sys/fs/cgroup ]] && ((EUID == 0)) || return 0
  outer_group=/plimsoll-test-$$
  export PLIMSOLL_CGROUP=$outer_group/work
  make_group "$outer_group"
  make_group "$PLIMSOLL_CGROUP"
  local root file
  for root in $(hierarchies); do
    file=$root$outer_group/pids.max
    [[ ! -e $file ]] || echo $processes_max >"$file" || true
  done
  trap 'end_ahead; leave_group' EXIT
}

# make_group PATH / remove_group PATH: in each hierarchy.
make_group() {
  local root file
  for root in $(hierarchies); do
    mkdir "$root$1" 2>/dev/null || continue
    # A new v1 cpuset takes no process before it has CPUs and memory.
    for file in cpuset.cpus cpuset.mems; do
      [[ ! -e $root/$file ]] || cat "$root/$file" >"$root$1/$file" 2>/dev/null || true
    done
  done
}

# Waits a moment for what is about to end in it.
remove_group() {
  local root try
  for root in $(hierarchies); do
    for try in {1..20}; do
      [[ -d $root$1 ]] && ! rmdir "$root$1" 2>/dev/null || break
      sleep 0.1
    done
  done
}

# in_group NAME COMMAND...: in a group of that name below this run's, as others run beside it. What
# is left in it keeps it there, which leaks() tells.
in_group() {
  [[ -n ${PLIMSOLL_CGROUP:-} ]] || { "${@:2}"; return; }
  local PLIMSOLL_CGROUP=$PLIMSOLL_CGROUP/$1
  make_group "$PLIMSOLL_CGROUP"
  "${@:2}"
  remove_group "$PLIMSOLL_CGROUP"
}

# Puts the caller under processes_max: on v1 only, where a group may have processes and children.
enter_pids_group() {
  local procs=/sys/fs/cgroup/pids${outer_group:-/none}/cgroup.procs
  [[ ! -e $procs ]] || echo 0 >"$procs"
}

# Ends and removes what tests have left in this run's groups, and removes those.
leave_group() {
  local root
  for root in $(hierarchies); do
    [[ -d $root$outer_group ]] || continue
    find "$root$outer_group" -name cgroup.procs -exec cat {} + | xargs -r kill -KILL || true
    sleep 0.1
    find "$root$outer_group" -depth -type d -exec rmdir {} + 2>/dev/null || true
  done
}

# Mount points of the hierarchies with controllers, and of v2.
hierarchies() {
  awk '$3 ~ /^cgroup2?$/ && $4 !~ /name=/ && $2 ~ "^/sys/fs/cgroup" { print $2 }' /proc/mounts
}

# Groups below this run's and those that Plimsoll or a test made elsewhere, and processes of this
# tree's programs or in this run's group; one a line. Not the live runs and test groups of others.
left_behind() {
  local root group process own=${PLIMSOLL_CGROUP:-/plimsoll-test-none}
  for root in $(hierarchies); do
    find "$root$own" -mindepth 1 -type d -printf 'group %p\n' 2>/dev/null || true
    while read -r group; do
      # The directory of a run is locked while the run lives; that of a test program has its pid.
      if [[ $group == */plimsoll-test-* ]]; then
        [[ ! -d /proc/${group##*-} ]] || continue
      else
        flock -n "$group" true 2>/dev/null || continue
      fi
      echo "group $group"
    done < <(find "$root" -mindepth 1 -type d -name 'plimsoll-*' ! -path "$root/plimsoll-test-*/*" \
      ! -path "$root/plimsoll-test-[0-9]*" ! -path "$root/plimsoll-bench*" 2>/dev/null)
  done
  for process in /proc/[0-9]*; do
    if grep -qsE ":$own(/|\$)" "$process/cgroup" ||
      [[ $(readlink "$process/exe" 2>/dev/null) == "$PWD"/build* ]]; then
      echo "process ${process#/proc/} $(tr '\0' ' ' <"$process/cmdline" 2>/dev/null)"
    fi
  done
}

# leaks BEFORE: fails, and says what there is now that was not before. The kernel takes a moment to
# finish with what has been killed.
leaks() {
  local try new
  for try in 1 2 3 4; do
    new=$(comm -13 <(sort <<<"$1") <(left_behind | sort))
    [[ $new ]] || return 0
    ((try == 4)) || sleep 0.5
  done
  sed 's/^/LEFT BEHIND: /' <<<"$new"
  return 1
}

# --- builds ahead

# start_ahead: ahead_LAYER for each of ahead_layers, one after the other, on processors that nobody
# else wants. What fails fails once more in its layer, where it counts.
start_ahead() {
  local layer
  for layer in "${ahead_layers[@]}"; do rm -f "$logs/$layer.ahead"; done
  set -m # in a process group, as it may have to be ended
  (
    chrt --idle --pid 0 $BASHPID && renice -n 19 -p $BASHPID
    for layer in "${ahead_layers[@]}"; do
      (set -e && "ahead_$layer") || true
      touch "$logs/$layer.ahead"
    done
  ) </dev/null >"$logs/ahead.log" 2>&1 &
  set +m
  ahead=$!
}

# await_ahead LAYER...: until the builds ahead of these have ended; at once for all others.
await_ahead() {
  local layer
  for layer; do
    [[ ${ahead:-} && " ${ahead_layers[*]} " == *" $layer "* ]] || continue
    until [[ -e $logs/$layer.ahead ]] || ! kill -0 "$ahead" 2>/dev/null; do sleep 0.2; done
  done
}

end_ahead() { [[ ! ${ahead:-} ]] || kill -TERM -- "-$ahead" 2>/dev/null || true; }

# --- the run

# run_layer LAYER: a line with its counts and minutes, and what its log says when something failed.
run_layer() {
  local layer=$1 log=$logs/$1.log start=$SECONDS status before good bad not
  : >"$counts"
  await_ahead "$layer"
  before=$(left_behind)
  set +e
  (enter_pids_group && set -e && "layer_$layer") </dev/null >"$log" 2>&1
  status=$?
  set -e
  leaks "$before" >>"$log" || count 0 1
  [[ -s $counts ]] || { echo 'FAILED: no test ran' >>"$log" && status=1; }
  read -r good bad not < <(
    awk '{ p += $1; f += $2; s += $3 } END { print p + 0, f + 0, s + 0 }' "$counts"
  )
  ((status == 0 || bad > 0)) || bad=1
  ((bad == 0)) || grep -vE '^ *(Start +[0-9]+:|[0-9]+/[0-9]+ Test .* Passed )' "$log" | tail -n 200 || true
  printf '%-10s %5d passed, %d failed, %d skipped, %s min  %s\n' "$layer" \
    "$good" "$bad" "$not" "$(minutes $((SECONDS - start)))" \
    "$(grep -m 1 '^skipped: ' "$log" || true)"
  passed=$((passed + good)) failed=$((failed + bad)) skipped=$((skipped + not))
}

# minutes SECONDS: with one decimal.
minutes() { printf '%d.%d' $(($1 / 60)) $(($1 % 60 / 6)); }

# run_tests [full|all|LAYER...|NAME]
run_tests() {
  local layer layers=("${usual_layers[@]}") passed=0 failed=0 skipped=0 only='' several='' begin=$SECONDS
  [[ ${1:-} != @(full|all) || $# == 1 ]] || die "test: nothing can be given after $1"
  case ${1:-} in
    '') ;;
    full) layers=("${full_layers[@]}") several=yes ;;
    all) layers=("${all_layers[@]}") several=yes thorough=yes fuzz_seconds=120 ;;
    *)
      layers=("$@")
      for layer in "$@"; do
        [[ " ${all_layers[*]} " != *" $layer "* ]] || continue
        (($# == 1)) || die "test: $layer is no layer; the layers are ${all_layers[*]}"
        layers=(named) only=$layer
      done
      ;;
  esac
  mkdir -p "$logs"
  trap end_ahead EXIT
  enter_group
  for layer in "${layers[@]}"; do
    [[ ! $several || $layer != "$ahead_from" ]] || start_ahead
    run_layer "$layer"
  done
  [[ ! $several ]] || echo "all in $(minutes $((SECONDS - begin))) min"
  echo "$passed passed, $failed failed, $skipped skipped"
  ((failed == 0))
}

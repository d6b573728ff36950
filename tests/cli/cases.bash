# Cases of a test script: functions whose names begin with `case_`, each run by itself in an empty
# directory; sourced.
#
# A case says what it expects with the words below. What is not as expected is told with what was
# seen, and the case goes on: the first line that is wrong is seldom the only interesting one.
# shellcheck shell=bash

plimsoll=$(realpath "${PLIMSOLL:-$(dirname "${BASH_SOURCE[0]}")/../../build/plimsoll}")
python=$(type -P /usr/bin/python3 || type -P python3)
wrong=0

# Whether the program is the one of the debug build.
is_sanitized() { grep -qsF __asan_init "$plimsoll"; }

# As long as anything may take on a loaded or an emulated machine.
patience=${PATIENCE:-$(if is_sanitized; then echo 180; else echo 60; fi)}
readonly patience

# A case that takes so long is told with its time: it is where a script's time goes.
readonly seconds_told=3

# What sanitizers find goes to files of this name, which fails the case wherever its process was; and
# what is freed is used again soon, so that memory can be seen to grow.
sanitizers_tell() {
  is_sanitized || return 0
  export ASAN_OPTIONS=log_path=$1:quarantine_size_mb=1:thread_local_quarantine_size_kb=64
  export UBSAN_OPTIONS=print_stacktrace=1:log_path=$1
}

# For a case whose processes are traced or may start no other, which looking for leaks would need.
look_for_no_leaks() {
  [[ ${ASAN_OPTIONS:-} == *detect_leaks=0* ]] || export ASAN_OPTIONS=${ASAN_OPTIONS:-}:detect_leaks=0
}

# wrong TEXT...: the case has failed.
wrong() {
  wrong=1
  echo "  ${FUNCNAME[1]}, line ${BASH_LINENO[1]}: $*"
}

# same EXPECTED SEEN [WHAT]
same() { [[ $1 == "$2" ]] || wrong "${3:+$3: }expected '$1', saw '$2'"; }

# has FILE TEXT / lacks FILE TEXT: a fixed string somewhere in a file.
has() { grep -qF -- "$2" "$1" || wrong "expected '$2' in $1, which is: $(head -c 2000 "$1")"; }
lacks() { ! grep -qF -- "$2" "$1" || wrong "did not expect '$2' in $1, which is: $(head -c 2000 "$1")"; }

# empty FILE
empty() { [[ ! -s $1 ]] || wrong "expected nothing in $1, which is: $(head -c 2000 "$1")"; }

# gives STATUS COMMAND...: runs it with its output in the files `out` and `err`.
gives() {
  local expected=$1 seen=0
  shift
  "$@" >out 2>err || seen=$?
  ((seen == expected)) || wrong "expected exit status $expected, saw $seen of: $*; on stderr: $(head -c 1000 err)"
}

# run STATUS OPTION... -- COMMAND...: the same of `plimsoll run`.
run() { gives "$1" "$plimsoll" run "${@:2}"; }

# becomes_true COMMAND...: waits for it.
becomes_true() {
  local end=$((SECONDS + patience))
  until "$@" 2>/dev/null; do
    if ((SECONDS >= end)); then
      wrong "waited in vain for: $*"
      return 1
    fi
    sleep 0.02
  done
}

# draws_are_told: what this case draws by $RANDOM can be drawn again.
draws_are_told() {
  RANDOM=${SEED:=$RANDOM}
  echo "  the seed is $SEED; SEED=$SEED draws the same again"
}

# lives PID: a thread of this process does; a zombie is dead, but its other threads may live on for a
# moment, and hold things open.
lives() { grep -hs '^State:' "/proc/$1/task"/*/status | grep -qv '[ZX] ('; }

# is_dying PID: a thread of it has SIGKILL pending (bit 8 of a mask of 16 digits) or is in its exit
# (PF_EXITING).
is_dying() {
  awk '/^S(ig|hd)Pnd:/ && substr($2, 14, 1) ~ /[13579bdf]/ { dying = 1 }
    /^[0-9]+ \(/ { sub(/.*\) /, ""); if (int($7 / 4) % 2) dying = 1 }
    END { exit !dying }' < <(cat "/proc/$1/task"/*/stat{us,} 2>/dev/null)
}

# gone PID: it does not live. One that has been killed, and so is no longer waited for, may still be on its
# last instructions, for as long as it is given no processor.
gone() {
  local end=$((SECONDS + patience)) seen=0
  while lives "$1"; do
    is_dying "$1" || ((++seen < 5)) || return 1
    ((SECONDS < end)) || return 1
    sleep 0.1
  done
}

# commands_in REPORT: those of the steps, one a line, sorted.
commands_in() {
  "$python" -c '
import json, sys
for line in open(sys.argv[1]):
    step = json.loads(line)
    if step["schema"] == "plimsoll.job/1":
        print(step.get("shell") or " ".join(step["argv"]))' "$1" | sort
}

# told FILE EXPRESSION...: each holds in Python, where `r` is the JSON of the file.
told() {
  "$python" - "$@" <<'END' >told || wrong "report $1: $(cat told)"
import json, sys
try:
    r = json.load(open(sys.argv[1]))
except (OSError, ValueError) as error:
    sys.exit(print(error) or 1)
failed = 0
for expression in sys.argv[2:]:
    try:
        if eval(expression):
            continue
        print("not so:", expression, end="; ")
    except (KeyError, IndexError, TypeError) as error:
        print(repr(error), "in", expression, end="; ")
    failed = 1
if failed:
    print({k: v for k, v in r.items() if k not in ("samples", "system_samples", "machine", "host", "unavailable")})
sys.exit(failed)
END
}

# For jobs. own FILE...: in a job, the first of these files that its group has; the words are NAME/FILE with
# the v1 name of the controller.
# shellcheck disable=SC2016,SC2034 # dollars are for the shells that are run; used by scripts
cat_own='
own() {
  for word; do
    controller=${word%%/*} file=${word#*/}
    path=$(grep -E ":([a-z_,]*,)?$controller(,[a-z_,]*)?:" /proc/self/cgroup | cut -d: -f3-)
    root=$(awk -v c="$controller" "\$3 == \"cgroup\" && (\",\" \$4 \",\") ~ (\",\" c \",\") { print \$2; exit }" /proc/mounts)
    [ "$path" ] || path=$(grep "^0::" /proc/self/cgroup | cut -d: -f3-)
    [ "$root" ] || root=$(awk "\$3 == \"cgroup2\" { print \$2; exit }" /proc/mounts)
    [ ! -e "$root$path/$file" ] || { cat "$root$path/$file"; return; }
  done
  echo "none of $*"
}
'

# state: a state directory of this case's own.
state() {
  export PLIMSOLL_STATE_DIR=$PWD/state
  mkdir -p -m 700 "$PLIMSOLL_STATE_DIR"
}

# supervisor_of PID: of the Plimsoll that was started as this process, if it is there.
supervisor_of() {
  local child
  for child in $(cat "/proc/$1/task/$1/children" 2>/dev/null); do
    [[ $(cat "/proc/$child/comm" 2>/dev/null) != pl-supervisor ]] || echo "$child"
  done
}

# `reap --stale` reaps what dead runs have left anywhere on the machine, those of a script that runs
# beside this one, too. So it is run by one script at a time, and a case that looks at what a dead run
# has left keeps the others from it until it ends.
readonly stale_lock=${TMPDIR:-/tmp}/plimsoll-tests-stale-$UID
keep_the_stale() { exec {stale_kept}>>"$stale_lock" && flock "$stale_kept"; }
reap_stale() {
  if [[ ${stale_kept:-} ]]; then "$plimsoll" reap --stale; else flock -o "$stale_lock" "$plimsoll" reap --stale; fi
}

# free_port: one at which nobody listens and that is given to nobody who connects.
free_port() {
  "$python" -c '
import random, socket
while True:
    port = random.randrange(20000, 32000)
    try:
        with socket.socket() as s: s.bind(("", port))
        break
    except OSError:
        pass
print(port)'
}

# metrics_of PORT: what the daemon tells Prometheus there.
metrics_of() {
  "$python" - "$1" <<'END'
import sys, urllib.request
request = urllib.request.Request(f"http://127.0.0.1:{sys.argv[1]}/metrics",
                                 headers={"Accept": "application/openmetrics-text"})
print(urllib.request.urlopen(request, timeout=30).read().decode(), end="")
END
}

is_root() { ((EUID == 0)); }

# skip REASON...: the host lacks the means for (the rest of) this case.
readonly skipped_status=77
skip() {
  ((wrong == 0)) || exit 1
  echo "skipped: $*"
  exit $skipped_status
}

# skip_all REASON...: the host lacks the means for every case of this script.
skip_all() {
  echo "skipped: $*"
  echo '0 passed, 0 failed, 1 skipped'
  exit
}

# can_mount: whether there can be mounts that nobody else sees; not so in a plain chroot.
can_mount() { is_root && unshare -m true 2>/dev/null; }

# mount_of CONTROLLER: where a v1 hierarchy with it is mounted, else the v2 tree.
mount_of() {
  awk -v controller="$1" '
    $3 == "cgroup" && ("," $4 ",") ~ ("," controller ",") && !v1 { v1 = $2 }
    $3 == "cgroup2" && !v2 { v2 = $2 }
    END { print v1 ? v1 : v2 }' /proc/mounts
}

# on_v1 CONTROLLER
on_v1() { awk '$3 == "cgroup" { print "," $4 "," }' /proc/mounts | grep -q ",$1,"; }

# hierarchies_used: mount points of v2 and of the v1 hierarchies with controllers, each once: what
# is mounted again elsewhere is the same.
hierarchies_used() {
  awk '$3 ~ /^cgroup2?$/ && $4 !~ /name=/ && !seen[$3 $4]++ { print $2 }' /proc/mounts
}

# groups_left: what is below the group that this script works in, one a line.
groups_left() {
  local root
  for root in $(hierarchies_used); do
    find "$root${PLIMSOLL_CGROUP:?}" -mindepth 1 -type d 2>/dev/null
  done
}

# processes_left: who is in the group that this script works in or below it, one a line. The dead that
# the host's init has still to take note of are not.
processes_left() {
  local pid
  for pid in $(grep -lsE ":${PLIMSOLL_CGROUP:?}(/|\$)" /proc/[0-9]*/cgroup | sed 's|/proc/\([0-9]*\)/.*|\1|'); do
    ! lives "$pid" || echo "$pid"
  done
}

nothing_left() { [[ -z $(groups_left) && -z $(processes_left) ]]; }

# A group of this script's own, unless the caller named one; removed at the end.
work_in_own_group() {
  [[ ${PLIMSOLL_CGROUP:-} ]] || own_group=/plimsoll-test-$$
  export PLIMSOLL_CGROUP=${own_group:-/${PLIMSOLL_CGROUP#/}}
}

leave_own_group() {
  local root
  [[ -n ${own_group:-} ]] || return 0
  for root in $(hierarchies_used); do rmdir "$root$own_group" 2>/dev/null; done
}

# run_cases [PATTERN]: every case of the script whose name has the pattern in it, in the order of
# their definition; then the line that the harness counts by.
run_cases() {
  local name status begun passed=0 failed=0 skipped=0
  [[ -x $plimsoll ]] || { echo "there is no program $plimsoll" && exit 1; }
  scratch=$(mktemp -d)
  trap 'cd / && rm -rf "$scratch"; leave_own_group' EXIT
  work_in_own_group
  export PLIMSOLL_RUNTIME_DIR=$scratch/.run
  ulimit -c 0
  chmod 755 "$scratch"
  sanitizers_tell "$scratch/found"
  for name in $(grep -o '^case_[a-z0-9_]*' "$0"); do
    [[ $name == *${1:-}* ]] || continue
    mkdir "$scratch/$name"
    # What earlier runs of this machine have learnt is no business of a case's, nor other cases.
    export PLIMSOLL_STATE_DIR=$scratch/.state-$name
    status=0 begun=$SECONDS
    (cd "$scratch/$name" && { "$name"; ((wrong == 0)); }) </dev/null >"$scratch/log" 2>&1 || status=$?
    if compgen -G "$scratch/found.*" >/dev/null; then
      status=1
      { echo "  sanitizers:" && head -n 40 "$scratch"/found.*; } >>"$scratch/log"
      rm "$scratch"/found.*
    fi
    ((SECONDS - begun < seconds_told)) || echo "${name#case_}: $((SECONDS - begun)) s"
    if ((status == 0)); then
      passed=$((passed + 1))
    elif ((status == skipped_status)); then
      skipped=$((skipped + 1))
      echo "${name#case_}: $(tail -n 1 "$scratch/log")"
    else
      failed=$((failed + 1))
      echo "FAILED: ${name#case_}"
      cat "$scratch/log"
    fi
  done
  ((skipped == 0)) && skipped='' || skipped=", $skipped skipped"
  echo "$passed passed, $failed failed$skipped"
  ((failed == 0))
}

#!/bin/bash
# Sessions of two users at once, of which processes are killed at random moments: the supervisor, the
# guardian, both, the program, a driver that it has started. Nothing of that session is left then, and
# the other user's goes on. Last line: `N passed, N failed`.
#
# ROUNDS (5): so many kills. SEED: what they are drawn by; a run prints its own.
# long: a session for each round
# program: released
# shellcheck disable=SC2016,SC2317 # dollars for the shells that are run; called by name
set -uo pipefail
source "$(dirname "$(realpath "$0")")/cases.bash"
readonly rounds=${ROUNDS:-5}

unset PLIMSOLL_JOB PLIMSOLL_GOVERN PLIMSOLL_LIGHT
is_root || skip_all 'not root'
type -P setpriv >/dev/null || skip_all 'no setpriv'

# Of this run alone, as all processes of theirs are looked at.
declare -A user=([a]=$((50000 + $$ % 5000)) [b]=$((55000 + $$ % 5000))) guardian

# The program: it has one driver after the other start steps, until it is told to stop. A step leaves
# its session, and one stays.
make_home() {
  install -d -o "${user[$1]}" -g "${user[$1]}" -m 700 "$1"
  cat >"$1/agent" <<'END'
echo $$ >program.new; mv program.new program
while [[ ! -e stop ]]; do
  bash driver
  echo >>turns
done
true
END
  cat >"$1/driver" <<'END'
[[ -e left ]] || { >left; setsid sleep 1000 & sh -c 'trap "" TERM; sleep 1000; true' & }
sh -c 'sleep 0.02; true' &
one=$!
sh -c 'sleep 0.05; exit 1' &
other=$!
echo $$ >driver.new; mv driver.new driver.pid
wait $one $other
END
}

# Gives a group to the user in every hierarchy, as an administrator would.
delegate() {
  local root group=$PLIMSOLL_CGROUP/of-$1 file
  for root in $(hierarchies_used); do
    mkdir -p "$root$group"
    for file in "$root" "$root$PLIMSOLL_CGROUP"; do
      [[ ! -e $file/cgroup.subtree_control ]] ||
        echo '+memory +pids +cpu' >"$file/cgroup.subtree_control" 2>/dev/null
    done
    for file in cpuset.cpus cpuset.mems; do
      [[ ! -e $root$group/$file ]] || cat "$root/$file" >"$root$group/$file" 2>/dev/null
    done
    chown "${user[$1]}" "$root$group"
    for file in cgroup.procs cgroup.threads cgroup.subtree_control tasks; do
      [[ ! -e $root$group/$file ]] || chown "${user[$1]}" "$root$group/$file"
    done
  done
}

# session NAME COMMAND...: in place of this shell, the user's.
session() {
  local root id=${user[$1]}
  for root in $(hierarchies_used); do echo $BASHPID >"$root$PLIMSOLL_CGROUP/of-$1/cgroup.procs"; done
  cd "$1" && exec setpriv --reuid "$id" --regid "$id" --clear-groups --no-new-privs \
    env -u PLIMSOLL_CGROUP -u XDG_RUNTIME_DIR HOME="$PWD" PLIMSOLL_STATE_DIR="$PWD/state" \
    PLIMSOLL_RUNTIME_DIR="$PWD/run" PLIMSOLL_SOCKET="$PWD/nobody" ../program session -- "${@:2}"
}

# begin NAME: its session, in the background.
begin() {
  rm -f "$1"/{program,driver.pid,stop,left,turns}
  session "$1" bash agent >"$1.out" 2>"$1.err" &
  guardian[$1]=$!
}

# ends NAME STATUS: its session does.
ends() {
  local seen=0
  wait "${guardian[$1]}" || seen=$?
  same "$2" "$seen" "exit status of the session of $1, which said '$(tail -n 3 "$1.err")'"
}

# turns NAME: that its program has taken so far.
turns() { wc -l <"$1/turns"; }
has_turned() { (($(turns "$1") > $2)); }

# What is left of NAME's: processes that live, groups, sockets and lines of the ledger.
processes_of() { ps -o stat=,pid=,args= -u "${user[$1]}" | grep -v '^[ZX]'; }
groups_of() {
  local root
  for root in $(hierarchies_used); do find "$root$PLIMSOLL_CGROUP/of-$1" -mindepth 1 -type d; done
}
none_of() { [[ -z $(processes_of "$1")$(groups_of "$1") ]]; }
files_of() { find "$1/run" -mindepth 1 ! -name ledger; }

# kill_in NAME WHO: and how its session ends then.
kill_in() {
  local name=$1 supervisor
  becomes_true eval 'supervisor=$(supervisor_of "${guardian[$name]}"); [[ $supervisor ]]' || return
  case $2 in
    supervisor) kill -KILL "$supervisor" && ends "$1" 125 ;;
    guardian) kill -KILL "${guardian[$1]}" && ends "$1" 137 ;;
    both)
      kill -KILL "${guardian[$1]}" "$supervisor" && ends "$1" 137
      # Until it has gone its line of the ledger is a living run's.
      gone "$supervisor" || wrong "the supervisor that was killed lives on"
      ;;
    program)
      becomes_true test -e "$1/program" && kill -KILL "$(<"$1/program")" && ends "$1" 137
      ;;
    driver)
      # It may have ended by itself, and be followed by another.
      becomes_true eval 'kill -KILL "$(<"$name/driver.pid")"' || return
      touch "$1/stop"
      ends "$1" 0
      ;;
  esac 2>/dev/null
}

# lost NAME WHO: one round.
lost() {
  local other=b before
  [[ $1 == a ]] || other=a
  kill_in "$1" "$2"
  # Whoever starts next sweeps what both have left.
  [[ $2 == both ]] || becomes_true none_of "$1" ||
    wrong "$2: left are $(processes_of "$1" | head -n 5) $(groups_of "$1" | head -n 3)"
  (session "$1" true) >next 2>&1 || wrong "the next session: $(<next)"
  becomes_true none_of "$1" ||
    wrong "$2: left for ever are $(processes_of "$1" | head -n 5) $(groups_of "$1" | head -n 3)"
  same '' "$(files_of "$1")" "files after the death of $2"
  before=$(turns "$other")
  becomes_true has_turned "$other" "$before" || wrong "$2: the other session stands still"
}

case_one_is_lost_and_the_other_goes_on() {
  local name who round victims=(supervisor guardian both program driver)
  chmod 755 .
  install -m 755 "$plimsoll" program
  draws_are_told
  for name in a b; do
    make_home $name
    delegate $name
    begin $name
  done
  for name in a b; do becomes_true test -e $name/turns; done
  for ((round = 0; round < rounds; round++)); do
    name=a who=${victims[round % 5]}
    ((RANDOM % 2)) || name=b
    lost $name "$who"
    ((wrong == 0)) || { echo "  round $round: $who of $name"; break; }
    begin $name
    # At its start, or among its steps.
    if ((RANDOM % 3)); then becomes_true test -e $name/turns; fi
    sleep "$(printf '0.%03d' $((RANDOM % 300)))"
  done
  for name in a b; do
    touch $name/stop
    ends $name 0
    becomes_true none_of $name
    for root in $(hierarchies_used); do rmdir "$root$PLIMSOLL_CGROUP/of-$name"; done
  done
}

run_cases "$@"

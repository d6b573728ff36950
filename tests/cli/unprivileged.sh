#!/bin/bash
# As an ordinary user: in a subtree that was given to it, and without one. What it leaves on disk, and
# what its processes show, is its own alone. Needs root, to become two users.
# shellcheck disable=SC2016,SC2317 # dollars for the shells that are run; called by name
set -u
source "$(dirname "$0")/cases.bash"

# Of this run alone, as all processes of theirs are looked at.
readonly user=$((30000 + $$ % 10000)) other=$((40000 + $$ % 10000))
readonly secret=unprivileged-secret-$$

# become UID: the words that turn a command into one of that user's, with nothing of root's.
become() {
  as=(setpriv --reuid "$1" --regid "$1" --clear-groups --no-new-privs
    env -u PLIMSOLL_CGROUP -u XDG_RUNTIME_DIR "HOME=$PWD/home"
    "PLIMSOLL_STATE_DIR=$PWD/home/state" "PLIMSOLL_RUNTIME_DIR=$PWD/home/run")
}

# by UID COMMAND...
by() {
  become "$1"
  "${as[@]}" "${@:2}"
}

# A home of the user's, and the program where it can be reached.
make_home() {
  chmod 755 .
  install -d -o $user -g $user -m 700 home
  install -m 755 "$plimsoll" program
}

# Gives a group to the user in every hierarchy, as an administrator would.
delegate() {
  local root file
  group=$PLIMSOLL_CGROUP/given
  for root in $(hierarchies_used); do
    mkdir -p "$root$group"
    for file in "$root" "$root$PLIMSOLL_CGROUP"; do
      [[ ! -e $file/cgroup.subtree_control ]] ||
        echo '+memory +pids +cpu' >"$file/cgroup.subtree_control" 2>/dev/null
    done
    for file in cpuset.cpus cpuset.mems; do
      [[ ! -e $root$group/$file ]] || cat "$root/$file" >"$root$group/$file" 2>/dev/null
    done
    chown $user "$root$group"
    for file in cgroup.procs cgroup.threads cgroup.subtree_control tasks; do
      [[ ! -e $root$group/$file ]] || chown $user "$root$group/$file"
    done
  done
}

withdraw() {
  local root
  for root in $(hierarchies_used); do
    [[ ! -d $root$group ]] || rmdir "$root$group" || wrong "$(find "$root$group")"
  done
}

# in_group COMMAND...: as the user, from within its group, and alone there.
in_group() {
  local root
  (
    for root in $(hierarchies_used); do echo $BASHPID >"$root$group/cgroup.procs"; done
    become $user
    exec "${as[@]}" "$@"
  )
}

case_a_subtree_that_was_given() {
  is_root || skip 'not root'
  make_home
  delegate
  gives 0 in_group ./program run --report home/r.json -- \
    "$python" -c 'a = bytearray(40 << 20)'
  lacks err 'process mode'
  told home/r.json 'r["host"]["hierarchy"] != "process"' 'r["memory"]["peak_bytes"] > 40 << 20'
  gives 137 in_group ./program run -q --memory-max 30M -- "$python" -c 'a = bytearray(100 << 20)'
  gives 1 in_group ./program batch -j4 --memory-max 200M -- 'sleep 0.2; exit {}' ::: 0 0 1 0
  lacks err 'process mode'
  gives 0 in_group ./program explain last
  gives 0 in_group ./program run -q -- sh -c '(setsid sleep 1000 &)'
  becomes_true eval '[[ -z $(processes_left) ]]'
  withdraw
}

# One step may let nobody read what it executes: the others are held and measured all the same.
case_a_step_that_can_not_be_read() {
  is_root || skip 'not root'
  make_home
  delegate
  cat >hidden.py <<'END'
import ctypes, os
PR_SET_DUMPABLE = 4
ctypes.CDLL(None).prctl(PR_SET_DUMPABLE, 0, 0, 0, 0)
os.execv("/bin/echo", ["echo", "hidden"])
END
  gives 0 in_group ./program govern --report home/r.json -- sh -c '"$0" hidden.py; /bin/echo seen' "$python"
  has out hidden
  lacks err 'neither held nor measured'
  has home/r.json '"seen"'
  withdraw
}

# In the group of a job root has made one that the user can't remove: no waiting helps.
case_a_group_that_may_not_be_removed_is_named_and_left() {
  is_root || skip 'not root'
  make_home
  local command root job pid
  for command in 'run -q --' 'batch -q --'; do
    delegate # anew: on v2 nobody enters a group that had a run
    rm -f home/ready home/go
    # shellcheck disable=SC2086 # words
    in_group ./program $command \
      sh -c 'cat /proc/self/cgroup >home/ready; until [ -e home/go ]; do sleep 0.05; done' sh ::: 1 >out 2>err &
    pid=$!
    becomes_true test -s home/ready || return
    root=$(awk '$3 == "cgroup2" { print $2; exit }' /proc/mounts)
    job=$root$(sed -n 's/^0:://p' home/ready)
    mkdir -p "$job/of-root/below"
    touch home/go
    wait $pid
    same 0 $? "$command: $(<err)"
    has err 'of-root'
    has err 'Permission denied'
    gives 0 "$plimsoll" reap "${job%/pool/*}"
    withdraw
  done
}

case_without_one_it_is_process_mode() {
  is_root || skip 'not root'
  make_home
  gives 7 by $user ./program run --report home/r.json -- sh -c 'exit 7'
  has err 'process mode, without cgroups'
  told home/r.json 'r["host"]["hierarchy"] == "process"'
  gives 1 by $user ./program batch -- 'exit {}' ::: 0 1 0
  has err 'process mode'
  gives 0 by $user ./program runs
  gives 0 by $user ./program doctor
  has out 'process mode'
}

case_a_group_that_is_not_its_own_is_an_error() {
  is_root || skip 'not root'
  make_home
  gives 125 by $user ./program run --cgroup "$PLIMSOLL_CGROUP/not-mine" -- touch home/ran
  [[ ! -e home/ran ]] || wrong 'it was run all the same'
}

case_files_are_its_own() {
  is_root || skip 'not root'
  make_home
  by $user ./program batch -q --cgroup none --report home/report --joblog home/joblog \
    -- "until [ -e home/stop ]; do sleep 0.05; done; : $secret {}" ::: a &
  local pid=$! mode file
  becomes_true eval 'ls home/run/*.sock'
  mode=$(stat -c %a home/run/*.sock)
  same 600 "$mode" 'the socket'
  chmod 711 home
  while read -r file; do wrong "open to others: $file"; done < <(
    find home/state home/run -perm /077 ! -type l -printf '%m %p\n')
  by $user touch home/stop
  wait $pid
  same 0 $?
  has home/report "$secret"
  while read -r file; do wrong "open to others: $file"; done < <(
    find home/state home/run home/report home/joblog -perm /077 ! -type l -printf '%m %p\n')
}

# Nobody else can have made the directory before him.
case_without_a_runtime_directory_runs_meet_in_the_state_directory() {
  is_root || skip 'not root'
  make_home
  local squatted=/tmp/plimsoll-$user pid without
  [[ -e $squatted ]] || install -d -o $other -m 700 "$squatted"
  become $user
  without=("${as[@]}" env -u PLIMSOLL_RUNTIME_DIR)
  "${without[@]}" ./program batch --progress plain --cgroup none \
    -- 'touch home/up; until [ -e home/stop ]; do sleep 0.05; done; : {}' ::: a >out.batch 2>err.batch &
  pid=$!
  becomes_true test -e home/up
  gives 0 "${without[@]}" ./program ctl status
  has out ' a'
  same 700 "$(stat -c %a home/state/run-*)"
  [[ -S $(echo "home/state/run-$(uname -n)"/*.sock) ]] || wrong "$(find home/state)"
  by $user touch home/stop
  wait $pid
  same 0 $?
  lacks err.batch 'cannot control this run'
  lacks err.batch 'not shared'
  gives 125 "${without[@]}" env -u PLIMSOLL_STATE_DIR -u HOME ./program ctl status
  has err 'no run goes on'
  rmdir "$squatted"
}

case_root_trusts_no_runtime_directory_of_somebody_else() {
  is_root || skip 'not root'
  install -d -o $user -m 700 theirs
  PLIMSOLL_RUNTIME_DIR=$PWD/theirs gives 0 "$plimsoll" batch --progress plain -- true ::: a
  has err "theirs belongs to another user (uid $user)"
  same '' "$(ls -A theirs)"
}

case_the_output_file_of_another_user_is_opened_with_his_rights() {
  is_root || skip 'not root'
  make_home
  echo precious >precious
  chmod 600 precious
  ln -s "$PWD/precious" home/out
  printf '{"shell":"echo overwritten","uid":"%s","stdout":"home/out"}\n' $user:$user >jobs
  gives 1 "$plimsoll" batch --progress plain jobs
  has err 'stdout: open home/out: Permission denied'
  same precious "$(<precious)"
  printf '{"shell":"echo mine","uid":"%s","stdout":"home/fine"}\n' $user:$user >jobs
  gives 0 "$plimsoll" batch --progress plain jobs
  same mine "$(<home/fine)"
  same $user "$(stat -c %u home/fine)"
  # Root is root again.
  printf '{"id":"a","shell":"echo x","uid":"%s","stdout":"home/fine"}\n' $user:$user >jobs
  echo '{"shell":"true","needs":["a"],"stdout":"precious"}' >>jobs
  gives 0 "$plimsoll" batch --progress plain jobs
  same '' "$(<precious)"
}

case_another_user_learns_nothing() {
  is_root || skip 'not root'
  make_home
  SECRET=$secret by $user ./program batch -q --cgroup none \
    -- "echo up >home/up; until [ -e home/stop ]; do sleep 0.05; done; : $secret {}" ::: a &
  local pid=$! process words=(ctl\ status runs explain\ last history) word
  becomes_true test -s home/up
  for word in "${words[@]}"; do
    # shellcheck disable=SC2086 # words
    by $other env PLIMSOLL_STATE_DIR="$PWD/home/state" PLIMSOLL_RUNTIME_DIR="$PWD/home/run" \
      ./program $word >out 2>&1 && wrong "$word: $(<out)"
    lacks out "$secret"
  done
  # Even if the user opens its directories: the supervisor asks who is there.
  chmod 755 home home/run
  chmod 666 home/run/*.sock
  by $other "$python" - home/run/*.sock <<'ASK' >out 2>&1
import socket, sys
s = socket.socket(socket.AF_UNIX)
s.settimeout(5)
s.connect(sys.argv[1])
try:
    s.sendall(b'{"cmd":"status"}\n')
    print(s.recv(65536))
except OSError as error:
    print(error)
ASK
  lacks out "$secret"
  lacks out line_bytes
  for process in "$pid" $(descendants "$pid"); do
    by $other cat "/proc/$process/environ" >out 2>/dev/null && wrong "environment of $process"
    lacks out "$secret"
    by $other ls "/proc/$process/fd" >/dev/null 2>&1 && wrong "descriptors of $process"
  done
  by $user touch home/stop
  wait $pid
  same 0 $?
}

# descendants PID
descendants() {
  local child
  for child in $(cat "/proc/$1/task/$1/children" 2>/dev/null); do
    echo "$child"
    descendants "$child"
  done
}

case_nothing_is_left() {
  local process
  for process in /proc/[0-9]*; do
    [[ $(stat -c %u "$process" 2>/dev/null) != @("$user"|"$other") ]] || gone "${process#/proc/}" ||
      wrong "left: $(tr '\0' ' ' <"$process/cmdline")"
  done
  [[ -z $(groups_left) ]] || wrong "left: $(groups_left)"
}

run_cases "${1:-}"

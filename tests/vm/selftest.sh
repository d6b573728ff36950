#!/bin/bash
# Shows that tests/vm/vm does what docs/testing-vm.md says. Takes some minutes.
set -uo pipefail

vm=$(cd "$(dirname "$0")" && pwd -P)/vm
work=$(mktemp -d /tmp/vm-selftest.XXXXXX)
trap 'rm -rf --one-file-system "$work"' EXIT
mkdir "$work/tmp" "$work/results"
passed=0 failed=0

# check NAME TEST...: TEST is a command, run here.
check() {
  local name=$1
  shift
  if "$@"; then
    passed=$((passed + 1))
    echo "ok      $name"
  else
    failed=$((failed + 1))
    echo "FAILED  $name"
    sed 's/^/        /' "$work/out" "$work/err" 2>/dev/null | tail -n 40
  fi
}

# run ARG...: a VM; its output is in out and err, its status in $status, its time in $took.
run() {
  local start=$SECONDS
  echo "        vm ${*//$'\n'/ }" | cut -c -150
  TMPDIR=$work/tmp "$vm" "$@" >"$work/out" 2>"$work/err"
  status=$?
  took=$((SECONDS - start))
  echo "        status $status after $took s"
}

status_is() { ((status == $1)); }
out_is() { [[ $(<"$work/out") == "$1" ]]; }
out_has() { grep -qxE -- "$1" "$work/out"; }
err_has() { grep -qE -- "$1" "$work/err"; }
nothing_left() { [[ -z $(ls -A "$work/tmp") ]] && ! grep -qs -- "$work/tmp" /proc/[0-9]*/cmdline; }

"$vm" --kernel 6.1 --prepare && "$vm" --kernel 6.12 --systemd --prepare || exit 1

# Statuses and output.
for expected in 0 3 126 200; do
  run -- bash -c "exit $expected"
  check "status $expected" status_is "$expected"
done
run -- no-such-command
check 'status of an unknown command' status_is 127
run -- bash -c 'kill -TERM $$'
check 'status after a signal' status_is 143
head -c 102400 /dev/urandom >"$work/bytes"
run --keep "$work" -- cat "$work/bytes"
check '100 KB byte for byte' cmp "$work/bytes" "$work/out"
check 'nothing else on stderr' test ! -s "$work/err"
run -- bash -c 'echo to-out; echo to-err >/dev/stderr; sleep 1000 & exit 4'
check 'stdout alone' out_is to-out
check 'stderr alone' err_has '^to-err$'
check 'a process left behind: status' status_is 4
check 'a process left behind: no waiting for it' test "$took" -lt 30
run --timeout 4 -- sleep 1000
check 'time limit' status_is 124
run -- sh -c 'echo c >/proc/sysrq-trigger'
check 'a machine that dies' status_is 125

# The machine.
# shellcheck disable=SC2016
for kernel in 6.1 6.12; do
  run --kernel "$kernel" -- bash -c '
    uname -r
    stat -f -c %T /sys/fs/cgroup
    for c in memory cpu io pids; do grep -qw $c /sys/fs/cgroup/cgroup.controllers && echo has-$c; done
    echo "+memory +cpu +io +pids" >/sys/fs/cgroup/cgroup.subtree_control && mkdir /sys/fs/cgroup/a
    for f in memory.peak memory.pressure cgroup.kill cgroup.freeze; do [[ -e /sys/fs/cgroup/a/$f ]] && echo has-$f; done
    grep -q "^some avg10=" /proc/pressure/memory && grep -q "^full" /proc/pressure/io && grep -q "^some" /proc/pressure/cpu && echo has-psi
    echo swaps $(($(wc -l </proc/swaps) - 1))
    awk "/MemTotal/ { print \"memory\", (\$2 > 900000 && \$2 <= 1048576) ? \"right\" : \$2 }" /proc/meminfo
    modprobe -v null_blk >/dev/null && echo has-modules'
  check "kernel $kernel" out_has "${kernel/./\\.}\\..*-cloud-amd64"
  check "$kernel: cgroup2" out_has cgroup2fs
  for word in memory cpu io pids memory.peak memory.pressure cgroup.kill cgroup.freeze psi modules; do
    check "$kernel: $word" out_has "has-$word"
  done
  check "$kernel: no swap" out_has 'swaps 0'
  check "$kernel: 1 GB" out_has 'memory right'
  run --kernel "$kernel" --zram --memory 512 -- awk 'NR == 2 { print $1, int($3 / 1000) } /MemTotal/ { print ($2 > 400000 && $2 <= 524288) ? "right" : $2 }' \
    /proc/swaps /proc/meminfo
  check "$kernel: zram of half the memory" out_has '/dev/zram0 26[0-9]'
  check "$kernel: 512 MB" out_has right
done

# Files.
# shellcheck disable=SC2016
run --output "$work/results" --env 'A=b c' -- bash -c '
  pwd; echo "$A"; echo kept >"$1/file"; touch /tmp/x "$HOME/x" /run/x /var/tmp/x && echo scratch
  mount -o remount,rw / 2>/dev/null; touch "/vm-selftest" 2>/dev/null || echo read-only' - "$work/results"
check 'same directory' out_has "$(pwd -P)"
check 'variables' out_has 'b c'
check 'scratch directories' out_has scratch
check 'the root is read-only' out_has read-only
check 'the root was not written' test ! -e /vm-selftest
check 'results arrive' grep -qx kept "$work/results/file"

# systemd.
# shellcheck disable=SC2016
for kernel in 6.1 6.12; do
  run --kernel "$kernel" --systemd -- bash -c '
    echo "pid1 $(cat /proc/1/comm)"
    systemctl is-system-running
    stat -f -c %T /sys/fs/cgroup
    systemd-run --scope -p Delegate=yes bash -c "cd /sys/fs/cgroup\$(cut -d : -f 3 /proc/self/cgroup) && mkdir a && echo made in \$(pwd)"
    pwd
    exit 5'
  check "systemd on $kernel: first process" out_has 'pid1 systemd'
  check "systemd on $kernel: state" out_has 'running|degraded'
  check "systemd on $kernel: cgroup2" out_has cgroup2fs
  check "systemd on $kernel: root's delegated scope" out_has 'made in /sys/fs/cgroup/system.slice/run-.*\.scope'
  check "systemd on $kernel: same directory" out_has "$(pwd -P)"
  check "systemd on $kernel: status" status_is 5
  run --kernel "$kernel" --systemd -- bash -c 'kill -TERM $$'
  check "systemd on $kernel: status after a signal" status_is 143
  run --kernel "$kernel" --systemd --user -- bash -c '
    id -un
    echo "in $(cut -d : -f 3 /proc/self/cgroup)"
    [[ -S $XDG_RUNTIME_DIR/bus ]] && busctl --user status >/dev/null && echo has-bus
    systemd-run --user --scope -p Delegate=yes bash -c "cd /sys/fs/cgroup\$(cut -d : -f 3 /proc/self/cgroup) && mkdir a && echo made in \$(pwd)"
    exit 6'
  check "user on $kernel: name" out_has tester
  check "user on $kernel: login session" out_has 'in /user\.slice/user-1000\.slice/session-.*\.scope'
  check "user on $kernel: bus" out_has has-bus
  check "user on $kernel: delegated scope" out_has 'made in /sys/fs/cgroup/user\.slice/.*/user@1000\.service/.*\.scope'
  check "user on $kernel: status" status_is 6
done

# Boots that go wrong.
export PLIMSOLL_VM_BOOT_SECONDS=15
PLIMSOLL_VM_BREAK=hang run -- true
check 'a boot that hangs: status' status_is 125
check 'a boot that hangs: three tries' err_has 'boot 3 of 3 failed: no sign of life'
unset PLIMSOLL_VM_BOOT_SECONDS
PLIMSOLL_VM_BREAK=once:panic run -- echo fine
check 'a boot that fails once: told' err_has 'boot 1 of 3 failed'
check 'a boot that fails once: tried again' out_is fine

# Two at once; an end from outside.
TMPDIR=$work/tmp "$vm" -- echo first >"$work/first" 2>/dev/null &
other=$!
run --kernel 6.1 -- echo second
wait "$other"
check 'two at once' test "$(<"$work/first") $(<"$work/out")" = 'first second'
TMPDIR=$work/tmp "$vm" -- sh -c 'echo up; sleep 1000' >"$work/out" 2>"$work/err" &
other=$!
for ((i = 0; i < 200; i++)); do
  grep -q up "$work/out" && break
  sleep 1
done
kill -TERM "$other"
wait "$other"
status=$?
check 'ended by a signal' status_is 143
check 'output comes at once' out_is up
check 'no process or file is left' nothing_left

echo "$passed passed, $failed failed"
((failed == 0))

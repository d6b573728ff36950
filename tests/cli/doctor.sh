#!/bin/bash
# plimsoll doctor, from outside, on whatever host this is; its last line counts.
set -uo pipefail
: "${PLIMSOLL:=$PWD/build/plimsoll}"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
passed=0 failed=0 skipped=0

# expect NAME COMMAND...
expect() {
  local name=$1
  shift
  if "$@" >"$work/said" 2>&1; then
    passed=$((passed + 1))
  else
    failed=$((failed + 1))
    echo "FAILED: $name"
    cat "$work/said"
  fi
}

skip() {
  echo "skipped: $1"
  skipped=$((skipped + 1))
}

has() { grep -qF -- "$1" "$2" || { echo "no \"$1\" in:" && cat "$2" && false; }; }

lacks() { ! grep -qF -- "$1" "$2" || { echo "\"$1\" in:" && cat "$2" && false; }; }

# status EXPECTED COMMAND...: with its outputs in out and err.
status() {
  local expected=$1 got=0
  shift
  "$@" >"$work/out" 2>"$work/err" </dev/null || got=$?
  [[ $got == "$expected" ]] || { echo "exit status $got, not $expected" && cat "$work/out" "$work/err" && false; }
}

python=$(type -P python3 || true)
reads_json() { "$python" -c "import json
d = json.load(open('$work/json'))
$1"; }

runs_below() {
  find /sys/fs/cgroup -path "*${PLIMSOLL_CGROUP:-/}*" -name 'plimsoll-2*' -type d 2>/dev/null | sort
}

# What was there before may go while this runs; nothing may come.
# A supervisor whose guardian was killed is seen by nobody, and systemd removes its scopes when it
# comes to it: so not at once.
nothing_new() {
  local new
  for _ in {1..50}; do
    new=$(comm -13 "$work/before" <(runs_below))
    [[ $new ]] || return 0
    sleep 0.1
  done
  echo "left behind: $new"
  return 1
}
runs_below >"$work/before"

answer=0
"$PLIMSOLL" doctor --json >"$work/json" 2>"$work/err" </dev/null || answer=$?
expect 'the answer is yes or no' test "$answer" -le 1
expect 'JSON has its schema' has '"schema": "plimsoll.doctor/1"' "$work/json"
[[ $python ]] || skip 'no Python to read JSON'
# expect_json NAME PYTHON: of the document `d`.
expect_json() { [[ ! $python ]] || expect "$1" reads_json "$2"; }
expect_json 'JSON begins with its schema' 'assert next(iter(d)) == "schema"'
expect_json 'JSON has the verdict of the exit status' "assert d['can_run'] == ($answer == 0)"
expect_json 'a no has its reason' 'assert d["can_run"] or d["why_not"]'
expect_json 'each check has its keys' '
for c in d["checks"]:
  assert set(c) - {"cost", "remedy"} == {"id", "section", "state", "value"}, c
  assert c["state"] in ("ok", "degraded", "missing"), c
  assert ("cost" in c) == (c["state"] != "ok"), c
  assert c["value"], c'
expect_json 'ids are unique' 'ids = [c["id"] for c in d["checks"]]; assert len(ids) == len(set(ids))'
expect_json 'checks that need no group are there always' '
ids = {c["id"] for c in d["checks"]}
wanted = {"kernel", "layout", "own_group", "controller.memory", "placement", "delegation", "swap",
  "psi.system", "pidfd", "limit.nofile", "oom_score_adj", "hidepid"}
assert wanted <= ids, wanted - ids'
expect_json 'what is ok tells no error' '
for c in d["checks"]:
  assert c["state"] != "ok" or "Invalid argument" not in c["value"], c'
expect_json 'no check contradicts another' '
checks = {c["id"]: c for c in d["checks"]}
assert not d["can_run"] or all("no job can be run" not in c.get("cost", "") for c in d["checks"])
if "io.usage" in checks and checks["controller.io"]["state"] == "ok":
  assert "no io controller" not in checks["io.usage"]["value"], checks["io.usage"]'
if ((answer == 0)) && ! grep -q 'process mode' "$work/json"; then
  expect_json 'checks in a group are there where groups can be made' '
ids = {c["id"] for c in d["checks"]}
wanted = {"spawn", "freeze", "kill", "memory.high", "memory.peak", "memory.events",
  "memory.reclaim", "psi.group", "psi.triggers", "cpu.limit", "io.usage", "pids.peak", "network"}
assert wanted <= ids, wanted - ids'
  expect 'a job can indeed be run' status 0 "$PLIMSOLL" run -q -- true
else
  expect 'a job can indeed not be run' status 125 "$PLIMSOLL" run -q -- true
fi
expect 'nothing is left' nothing_new

expect 'text for people' status "$answer" "$PLIMSOLL" doctor
expect 'text has the checks' has memory "$work/out"
expect 'no colour in a file' eval '! grep -q $'"'\\e'"' "$work/out"'
expect 'nothing on standard error' test ! -s "$work/err"

expect 'help' status 0 "$PLIMSOLL" doctor --help
expect 'help has examples' has 'plimsoll doctor --json' "$work/out"
expect 'an unknown option' status 125 "$PLIMSOLL" doctor --colour
expect 'a climbing path' status 1 "$PLIMSOLL" doctor --cgroup ../up
expect 'the climbing path is named' has '../up' "$work/out"
expect 'a full disk' status 125 eval '"$PLIMSOLL" doctor >/dev/full'

# As soon as there are groups: the tree must go with it, and the status tell the signal.
interrupted() {
  local pid got=0
  "$PLIMSOLL" doctor >/dev/null 2>&1 &
  pid=$!
  for _ in {1..200}; do
    [[ -n $(comm -13 "$work/before" <(runs_below)) ]] && break
  done
  kill -"$1" "$pid" 2>/dev/null
  wait "$pid" || got=$?
  # It may have been quicker.
  [[ $got == "$2" || $got == "$answer" ]] || { echo "exit status $got" && return 1; }
  nothing_new
}
if ((answer == 0)); then
  expect 'interrupted' interrupted INT 130
  expect 'terminated' interrupted TERM 143
  expect 'killed' interrupted KILL 137
fi

# Other hosts, made of this one.
if ((EUID == 0)); then
  cp "$PLIMSOLL" "$work/plimsoll" && chmod 755 "$work" "$work/plimsoll"
  nobody=(setpriv --reuid 65534 --regid 65534 --clear-groups env -u PLIMSOLL_CGROUP "$work/plimsoll")
  expect 'without a group that can be written' status 0 "${nobody[@]}" doctor
  expect 'it is process mode' has 'process mode, without groups' "$work/out"
  expect 'what that costs' has 'memory is sampled' "$work/out"
  expect 'a group that was named and is not ours' status 1 "${nobody[@]}" doctor --cgroup /not-ours
  expect 'it says so first' has 'No job can run here' "$work/out"
  # shellcheck disable=SC2016 # for the inner shell
  read_only='
    mount --make-rprivate / 2>/dev/null || exit 77
    awk '\''$9 ~ /^cgroup/ || $10 ~ /^cgroup/ || $8 ~ /^cgroup/ {print $5}'\'' /proc/self/mountinfo | tac |
      while read -r mount; do
        case $mount in
          /sys/fs/cgroup | /sys/fs/cgroup/*) mount -o remount,bind,ro "$mount" || exit 77 ;;
          *) umount "$mount" || exit 77 ;;
        esac
      done || exit 77
    exec env -u PLIMSOLL_CGROUP "$1" doctor'
  unshared=0
  unshare -m --propagation unchanged sh -c "$read_only" sh "$PLIMSOLL" >"$work/out" 2>"$work/err" || unshared=$?
  if ((unshared == 77)); then
    skip 'mounts can not be changed here'
  else
    expect 'read-only mounts: the answer is yes' test "$unshared" = 0
    expect 'read-only mounts: in process mode' has 'process mode, without groups' "$work/out"
    expect 'read-only mounts are told' has 'mounted read-only' "$work/out"
  fi
  no_mounts='
    mount --make-rprivate / 2>/dev/null || exit 77
    awk '\''$9 ~ /^cgroup/ || $10 ~ /^cgroup/ || $8 ~ /^cgroup/ {print $5}'\'' /proc/self/mountinfo | tac |
      while read -r mount; do umount "$mount" || exit 77; done || exit 77
    exec "$@" doctor'
  unshared=0
  unshare -m --propagation unchanged sh -c "$no_mounts" sh env PLIMSOLL_CGROUP=/named "$PLIMSOLL" \
    >"$work/out" 2>"$work/err" || unshared=$?
  if ((unshared == 77)); then
    skip 'mounts can not be removed here'
  else
    expect 'no hierarchy and a named group: the answer is no' test "$unshared" = 1
    expect 'that there is no hierarchy' has 'no cgroup hierarchy is mounted' "$work/out"
    expect 'how to do without' has 'name no group with --cgroup or' "$work/out"
    expect 'root is not told to be root' lacks 'as root' "$work/out"
    expect 'nothing of process mode' lacks 'run in process mode' "$work/out"
    unshared=0
    unshare -m --propagation unchanged sh -c "$no_mounts" sh env -u PLIMSOLL_CGROUP "$PLIMSOLL" \
      >"$work/out" 2>"$work/err" || unshared=$?
    expect 'no hierarchy and no named group: the answer is yes' test "$unshared" = 0
    expect 'by process mode' has 'process mode, without groups' "$work/out"
    expect 'and nothing says the contrary' lacks 'no job can be run' "$work/out"
  fi
  if unshare -C true 2>/dev/null; then
    # Where our group is no longer below a mount, there is nothing that could be used.
    unshared=0
    unshare -C "$PLIMSOLL" doctor >"$work/out" 2>"$work/err" || unshared=$?
    expect 'in a cgroup namespace: the answer is yes or no' test "$unshared" -le 1
    if ((unshared == 0)); then
      expect 'what the namespace costs' has 'cgroup namespace' "$work/out"
    else
      expect 'what the namespace hides' has 'no mount shows the group' "$work/out"
    fi
  else
    skip 'no cgroup namespaces'
  fi
else
  skip 'not root: other hosts can not be made of this one'
fi
expect 'nothing is left at the end' nothing_new

((skipped == 0)) && tail= || tail=", $skipped skipped"
echo "$passed passed, $failed failed$tail"
((failed == 0))

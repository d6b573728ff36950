#!/bin/bash
# plimsoll session: a program that is protected, and what its shells start. Last line: `N passed, N failed`.
# Usage: tests/cli/session.sh [CASE]
# program: released
# shellcheck disable=SC2016 # dollars are for the shells that are run
set -uo pipefail
source "$(dirname "$(realpath "$0")")/cases.bash"

unset PLIMSOLL_JOB PLIMSOLL_GOVERN PLIMSOLL_LIGHT PLIMSOLL_HOLD_MAX PYTEST_XDIST_AUTO_NUM_WORKERS
is_root || skip_all 'groups for steps are made by root here'
hooks=$(realpath "$(dirname "$0")/../../packaging/hooks")

# Where no daemon is, and where this run's own socket is. What hooks and scripts call plimsoll is the
# program that is tested.
here() {
  state
  export PLIMSOLL_RUNTIME_DIR=$PWD/run PLIMSOLL_SOCKET=$PWD/nobody PATH=$PWD/bin:$PATH SHELL=/bin/bash
  mkdir bin
  ln -s "$plimsoll" bin/plimsoll
  mkfifo never
}

# What a script begins with that waits without a program that would be a step.
readonly words='turn() { read -rt 0.05 <>never || true; }; await() { until [[ -e $1 ]]; do turn; done; };'

# session STATUS OPTION...: runs the shell script of the file `agent`.
session() { gives "$1" "$plimsoll" session "${@:2}" -- bash agent; }

case_status_is_the_programs() {
  here
  local status
  for status in 0 3; do gives $status "$plimsoll" session -q -- sh -c "exit $status"; done
  empty err
  gives 127 "$plimsoll" session -q -- /no/such/program
  gives 125 "$plimsoll" session
  has err 'session: no command was given; see `plimsoll session --help`'
  gives 125 "$plimsoll" session --rerun 1 -- true
  gives 125 "$plimsoll" session --hold-max 0s -- true
  has err '--hold-max'
}

case_what_it_starts_is_governed() {
  here
  echo 'cat /proc/self/cgroup >step; read -r cgroup </proc/self/cgroup; echo "$cgroup" >own' >agent
  session 0
  has step /pool/step-
  lacks own /pool/
  has err 'steps        1'
  becomes_true nothing_left
}

case_the_program_comes_first() {
  here
  cat >agent <<'END'
cat /proc/self/oom_score_adj >of_step
plimsoll exec -- cat /proc/self/oom_score_adj >of_launched
read -r score </proc/self/oom_score_adj; echo "$score" >own
while IFS=: read -r number controllers path; do
  [[ -z $controllers ]] && echo "$path"
done </proc/self/cgroup >group
END
  local before
  before=$(</proc/self/oom_score_adj)
  session 0
  same "$before" "$(<own)" 'the program'
  ((before >= 300)) || same 300 "$(<of_step)" 'a step'
  same "$(<of_step)" "$(<of_launched)" 'one that was launched'
  has group /drivers-1
  gives 0 "$plimsoll" govern -q -- bash agent
  same "$before" "$(<of_step)" 'a step below govern'
}

# On v1, where groups of drivers have no weight, there is neither.
case_it_has_weight_and_memory_where_the_kernel_gives_them() {
  here
  cat >agent <<'END'
while IFS=: read -r _ controllers path; do [[ $controllers ]] || group=$path; done </proc/self/cgroup
while read -r _ at type _; do [[ $type != cgroup2 ]] || root=$at; done </proc/mounts
for file in cpu.weight memory.low; do
  value=none
  [[ ! -e $root$group/$file ]] || read -r value <"$root$group/$file"
  echo "$file $value"
done >found
END
  session 0 -q
  grep -qxE 'cpu.weight (1000|none)' found && grep -qxE 'memory.low (1073741824|none)' found ||
    wrong "found: $(<found)"
}

case_programs_are_told_of_the_share() {
  here
  printf 'echo "$PYTEST_XDIST_AUTO_NUM_WORKERS $PLIMSOLL_HOLD_MAX" >told\necho "$MAKEFLAGS" >flags' >agent
  session 0 --cores 1 -q --standalone
  same '1 100000ms' "$(<told)"
  has flags --jobserver
  session 0 --hold-max 1500ms --cores 1 -q --jobserver=off --standalone
  same '1 1500ms' "$(<told)"
  PYTEST_XDIST_AUTO_NUM_WORKERS=7 session 0 -q
  has told '7 '
}

case_what_is_left_is_named_and_killed() {
  here
  echo "$words" >agent
  cat >>agent <<'END'
(while :; do read -rt 1000 <>never; done) &
echo $! >driver
bash -c 'echo $$ >step; exec sleep 1000' &
await step
END
  session 0
  grep -q 'the command left [12] process.* running, killed now: .*bash (' err || wrong "not named: $(<err)"
  has err '1 step still ran when the command had ended, and was killed: '
  becomes_true gone "$(<driver)"
  becomes_true gone "$(<step)"
  becomes_true nothing_left
}

# A session in a session leaves all to the outer one.
case_session_in_session() {
  here
  printf 'plimsoll session -- bash -c "echo inner; exit 4"\n' >agent
  session 4
  same inner "$(<out)"
  has err 'session: the run '
  has err 'governs this command already'
  same 1 "$(grep -c 'plimsoll: the command' err)" 'summaries'
}

# held_session: a session whose only place is taken until `go` exists; it runs the script `rest`.
held_session() {
  { echo "$words" && cat; } >agent <<'END'
plimsoll exec -- bash -c 'touch taken; until [[ -e go ]]; do sleep 0.05; done' &
await taken
source ./rest
>go
wait
END
  session 0 -q -j 1 --hold-max 300ms
}

case_a_hook_rewrites_commands() {
  type -P python3 >/dev/null || skip 'no python3'
  here
  local event='{"hook_event_name": "PreToolUse", "tool_name": "Bash", "tool_input": {"command": "echo '"'a  b'"' && exit 3", "timeout": 5}}'
  export PLIMSOLL_GOVERN=run PLIMSOLL_HOLD_MAX=5s
  "$hooks/pre-tool-use" <<<"$event" >answer || wrong 'it failed'
  told answer 'list(r) == ["hookSpecificOutput"]' 'r["hookSpecificOutput"]["hookEventName"] == "PreToolUse"' \
    'r["hookSpecificOutput"]["permissionDecision"] == "allow"' \
    'r["hookSpecificOutput"]["updatedInput"]["timeout"] == 5' \
    'r["hookSpecificOutput"]["updatedInput"]["command"].startswith("plimsoll exec --hold-max 5s -- /bin/bash -c ")'
  "$python" -c 'import json; print(json.load(open("answer"))["hookSpecificOutput"]["updatedInput"]["command"])' >command
  gives 3 bash command
  same 'a  b' "$(<out)"
  # What it has rewritten, other tools and what it does not know pass.
  "$python" -c 'import json; print(json.dumps({"tool_name": "Bash", "tool_input": {"command": open("command").read()}}))' |
    "$hooks/pre-tool-use" >answer || wrong 'it failed'
  empty answer
  for event in '{"tool_name": "Edit", "tool_input": {"command": "x"}}' '{"tool_name": "Bash"}' '[]' 'no JSON' \
    '{"tool_name": "Bash", "tool_input": {"command": 7}}' '{"tool_name": "Bash", "tool_input": {"command": " "}}'; do
    "$hooks/pre-tool-use" <<<"$event" >answer 2>&1 || wrong "it failed with $event"
    empty answer
  done
  unset PLIMSOLL_GOVERN
  "$hooks/pre-tool-use" <<<'{"tool_name": "Bash", "tool_input": {"command": "true"}}' >answer || wrong 'it failed'
  empty answer
}

# Whatever is in a command, it is one word of what is run, and only that; what the hook can't read passes.
case_a_hook_keeps_hostile_commands_whole() {
  type -P python3 >/dev/null || skip 'no python3'
  here
  rm bin/plimsoll
  printf '#!%s\nimport json, sys\njson.dump(sys.argv[1:], open("words", "w"))\n' "$python" >bin/plimsoll
  chmod +x bin/plimsoll
  draws_are_told
  PLIMSOLL_GOVERN=run PLIMSOLL_HOLD_MAX='5s; touch harmed' SEED=$SEED "$python" - "$hooks/pre-tool-use" <<'END' || wrong 'a command was changed'
import json, os, random, subprocess, sys

def ask(data, **env):
    ran = subprocess.run([sys.argv[1]], input=data, capture_output=True, env={**os.environ, **env})
    assert ran.returncode == 0 and not ran.stderr, ran
    return json.loads(ran.stdout)["hookSpecificOutput"]["updatedInput"]["command"] if ran.stdout else None

def event(command):
    return json.dumps({"tool_name": "Bash", "tool_input": {"command": command}}, ensure_ascii=False).encode()

draw = random.Random(int(os.environ["SEED"]))
letters = "'\"$`\\\n\t ;&|<>()*?[]{}!#~=%-a\u00e9\r\x01\x7f"
commands = ["".join(draw.choice(letters) for _ in range(20)) for _ in range(8)]
for command in ["'; touch harmed; '", "$(touch harmed)", "-c x", "\u00e9"] + commands:
    if not command.strip():
        continue
    for shell in "bash", "sh":
        subprocess.run([shell, "-c", ask(event(command), LC_ALL="POSIX", PYTHONUTF8="0", PYTHONCOERCECLOCALE="0")])
        words = json.load(open("words"))
        assert words == ["exec", "--hold-max", os.environ["PLIMSOLL_HOLD_MAX"], "--", "/bin/bash", "-c", command], words
assert ask(event("x"), SHELL="", PLIMSOLL_HOLD_MAX="").startswith("plimsoll exec --hold-max 100s -- /bin/sh ")
deep = b'{"tool_name": "Bash", "tool_input": {"command": "x", "y": ' + b"[" * 100000 + b"]" * 100000 + b"}}"
for data in deep, b"[" * 100000, b"\xff", b"", event("'" * 60000):
    assert ask(data) is None, data[:100]
assert len(ask(event("x" * 100000))) > 100000
END
  [[ ! -e harmed ]] || wrong 'a part of a command was run'
}

# As an agent does it: asks the hook, and runs what that has answered.
case_a_hook_hands_on_what_waits() {
  type -P python3 >/dev/null || skip 'no python3'
  here
  cat >tool <<END
event='{"tool_name": "Bash", "tool_input": {"command": "touch ran; echo done"}}'
answer=\$("$hooks/pre-tool-use" <<<"\$event")
command=\$("$python" -c 'import json, sys; print(json.loads(sys.argv[1])["hookSpecificOutput"]["updatedInput"]["command"])' "\$answer")
eval "\$command"
END
  cat tool >agent
  session 0
  same done "$(<out)"
  rm ran
  # The hook itself is no step here: it would wait for the only place.
  bash -c 'export PLIMSOLL_GOVERN=x PLIMSOLL_HOLD_MAX=300ms; source <(head -n 3 tool); echo "$command"' >rest
  echo 'echo $? >status' >>rest
  held_session
  same 75 "$(<status)" 'exit status'
  [[ ! -e ran ]] || wrong 'it ran'
  has err 'exec: "touch ran; echo done" has waited for 300 ms and was not started: '
  has err 'Try again later'
}

case_a_prefix_hands_on_commands() {
  here
  local prefix=$hooks/shell-prefix
  gives 3 "$prefix" 'echo "$BASH_VERSION" | grep -q . && echo out; exit 3'
  same out "$(<out)"
  gives 0 "$prefix" printf '%s|' 'a b' c
  same 'a b|c|' "$(<out)"
  echo "$prefix 'cat /proc/self/cgroup'; $prefix printf '%s|' 'a b' c" >agent
  session 0
  has out /pool/command-
  has out 'a b|c|'
  echo "$prefix 'touch ran'; echo \$? >status" >rest
  held_session
  same 75 "$(<status)" 'exit status'
  [[ ! -e ran ]] || wrong 'it ran'
}

# So often until it is known; then it does not wait, whatever does.
case_small_commands_pass() {
  here
  for ((i = 0; i < 8; ++i)); do echo 'plimsoll exec -- /bin/echo small'; done >agent
  session 0 --report report
  grep -q 'small ones' err || skip 'this machine is too slow for small commands'
  echo "plimsoll exec --hold-max ${patience}s -- /bin/echo small; echo \$? >status" >rest
  held_session
  same 0 "$(<status)" 'exit status'
  has out small
}

run_cases "$@"

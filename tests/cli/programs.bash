# Programs of others below `plimsoll govern`, unmodified, each with steps that would together pass the
# kernel's limit at the line; sourced after cases.bash.
# shellcheck shell=bash disable=SC2154 # plimsoll, python: of cases.bash

is_root || skip_all 'groups for steps are made by root here'
# The system's own come first: not a wrapper of somebody's, which would be a driver with steps of its
# own.
export PATH=/usr/bin:/bin:$PATH
unset MAKEFLAGS MAKELEVEL CARGO_MAKEFLAGS PLIMSOLL_JOB PLIMSOLL_GOVERN PLIMSOLL_LIGHT

needs=8   # steps that need much in each case
line=300M # they need 100 MiB each, beside their program

# here: a state directory of the case's own, and `need.py FILE`, which grows and then makes the file.
here() {
  state
  cat >need.py <<'END'
import sys, time
def grow(pause=0.005):
    memory = bytearray()
    for _ in range(100):
        memory.extend(b"x" * (1 << 20))
        time.sleep(pause)
if __name__ == "__main__":
    grow()
    open(sys.argv[1], "w").write("made\n")
END
  need="$python $PWD/need.py"
}

# needy_compiler NAME: a compiler in the directory `bin` that needs as much before it compiles as the
# real one of that name.
needy_compiler() {
  mkdir -p bin
  cat >"bin/$1" <<END
#!$python
import os, sys
sys.path.insert(0, "$PWD")
from need import grow
if "-c" in sys.argv and "-E" not in sys.argv:
    grow()
os.execv("$(type -P "$1")", ["$(type -P "$1")"] + sys.argv[1:])
END
  chmod +x "bin/$1"
}

# has_tool NAME...: the case is skipped where one is missing.
has_tool() {
  local name
  for name; do type -P "$name" >/dev/null || skip "$name is not installed"; done
}

# govern COMMAND...: it succeeds. A step that is not told of would make it wait for ever, which is what
# `bound`, in seconds, is there to see.
govern() {
  gives 0 timeout "${bound:-$((2 * patience))}" "$plimsoll" govern --line "$line" --standalone \
    --report steps.jsonl "$@"
}

# steps_are COUNT TEXT [DRIVER]: so many steps have this in their commands, and ended well; none is the
# driver itself; none was killed; nothing is left.
steps_are() {
  "$python" - "$@" <<'END' >said || wrong "the steps: $(cat said)"
import json, os, sys
expected, text, driver = int(sys.argv[1]), sys.argv[2], (sys.argv[3:] + [None])[0]
*steps, run = [json.loads(each) for each in open("steps.jsonl")]
def command(step): return step.get("shell") or " ".join(step["argv"])
mine = [step for step in steps if text in command(step)]
seen = "\n".join(f"{s['outcome']} {s.get('exit_code')} {command(s)[:300]}" for s in steps)
if len(mine) != expected:
    sys.exit(print(f"expected {expected} with {text!r}, saw {len(mine)} of {run['jobs']}:\n{seen}") or 1)
if any(s["outcome"] != "exited" or s.get("exit_code", 0) != 0 for s in mine):
    sys.exit(print(f"not all ended well:\n{seen}") or 1)
if any(os.path.basename(command(s).split()[0]) == driver for s in steps):
    sys.exit(print(f"{driver} is a step:\n{seen}") or 1)
if run["oom_kills"] or run["command"]["killed_steps"] or run["command"]["reruns"]:
    sys.exit(print("killed:", run["oom_kills"], run["command"]) or 1)
END
  becomes_true nothing_left
}

# no_other_steps: beside those that were counted last there were none.
no_other_steps() {
  tail -n 1 steps.jsonl >summary
  told summary "r['jobs'] == $1"
}

# the_line_was_kept: by steps that would have passed, side by side, where the kernel kills.
the_line_was_kept() {
  "$python" - <<'END' >said || wrong "the line: $(cat said)"
import json, sys
*steps, run = [json.loads(each) for each in open("steps.jsonl")]
end = run["wall"]["max_bytes"]
needed = sum(step["memory"]["peak_bytes"] for step in steps)
if not run["used_peak_bytes"] <= end < needed:
    sys.exit(print("used", run["used_peak_bytes"], "of", end, "needed", needed) or 1)
END
}

# all_made PREFIX: what the steps were to make is there.
all_made() {
  local each
  for each in $(seq "$needs"); do
    [[ -s $1$each ]] || wrong "$1$each was not made"
  done
}

# Most cases: the needy steps are all there are.
all_is_well() {
  steps_are "$needs" need.py "${2:-}"
  the_line_was_kept
  all_made "$1"
}

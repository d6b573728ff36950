# Commands that plimsoll exec launches in a run; sourced after cases.bash. The run is in the background,
# and its guardian is $run.
# shellcheck shell=bash disable=SC2154 # run, python: of who sources this

# ends STATUS: the run that was started does.
ends() {
  local seen=0
  wait "$run" || seen=$?
  same "$1" "$seen" 'exit status of the run'
}

# A command that writes its number to `pid` and stays.
# shellcheck disable=SC2034
stays="sh -c 'echo \$\$ >pid; exec sleep 1000'"

# all_gone: the command that stays has ended, and nothing else is left.
all_gone() {
  becomes_true gone "$(cat pid)"
  becomes_true nothing_left
}

# fake_compiler: a gcc on PATH that takes 150 MiB, then makes a file `attemptN`, and waits for `done`.
fake_compiler() {
  mkdir bin
  cat >bin/gcc <<END
#!$python
import os, time
attempt = len([f for f in os.listdir(".") if f.startswith("attempt")]) + 1
print(f"warning of attempt {attempt}", flush=True)
lump = bytearray(150 << 20)
lump[::4096] = b"x" * len(lump[::4096])
open(f"attempt{attempt}", "w").close()
while not os.path.exists("done"):
    time.sleep(0.05)
END
  chmod +x bin/gcc
  export PATH=$PWD/bin:$PATH
}

# grower: grow.py, which takes 600 MiB, 2 MiB at a time, and stays.
grower() {
  cat >grow.py <<'END'
import time
lumps = []
while len(lumps) < 300:
    lumps.append(b"x" * (2 << 20))
    time.sleep(0.02)
time.sleep(1000)
END
}

#!/bin/bash
# Readers of a slow disk beside jobs that compute, on pure v2: a disk that moves only so many bytes a second, which only
# a machine of one's own has.
# vm: --kernel 6.12
# shellcheck disable=SC2317 # called by name
set -u
tree=$(cd "$(dirname "$0")/../.." && pwd)
source "$tree/tests/cli/cases.bash"

readonly disk=/dev/nullb0
readonly rate=4  # MiB a second of the disk, which takes no request that is larger than a fiftieth of that
readonly each=20 # MiB that a reader reads

readonly computes=6 # seconds, so that the cores are busy until a reader has shown what it moves

# Six of each.
make_jobs() {
  local i
  for i in 1 2 3 4 5 6; do
    echo "{\"id\":\"read-$i\",\"class\":\"reader\",\"shell\":\"dd if=$disk of=/dev/null bs=64k count=$((each * 16)) iflag=direct 2>/dev/null\"}"
    echo "{\"id\":\"compute-$i\",\"class\":\"computer\",\"shell\":\"timeout $computes sh -c 'while :; do :; done' || true\"}"
  done >jobs.jsonl
}

# The last run's events.
events() { cat "$(printf '%s\n' "$PLIMSOLL_STATE_DIR"/runs/*/events.jsonl | tail -n 1)"; }

# How many readers are known, whether each moved all that it read, and whether they waited for much of their time.
learnt() {
  "$python" - "$PLIMSOLL_STATE_DIR/history.db" "$each" <<'END'
import sqlite3, sys
rows = sqlite3.connect(sys.argv[1]).execute(
    "SELECT io_bytes, io_wait_ns * 1.0 / ran_ns FROM experience JOIN class ON class.id = experience.class "
    "WHERE exact = 'reader'").fetchall()
print(len(rows), all(moved == int(sys.argv[2]) << 20 for moved, waited in rows),
      sum(waited for moved, waited in rows) / len(rows) > 0.3)
END
}

# Whether the first two readers of the last run started together, and how many there were.
first_readers() {
  events | "$python" -c '
import json, sys
starts = [e["t_ns"] for e in map(json.loads, sys.stdin)
          if e["kind"] == "started" and e["job"].startswith("read-")]
print("apart" if starts[1] - starts[0] > 2.4e9 else "together", len(starts))'
}

case_known_readers_of_a_slow_disk_start_one_after_the_other() {
  modprobe null_blk nr_devices=1 gb=1 mbps=$rate
  echo +io +memory +cpu +pids >/sys/fs/cgroup/cgroup.subtree_control
  make_jobs
  gives 0 "$plimsoll" batch jobs.jsonl
  same '6 True True' "$(learnt)" 'what the first run taught of its readers'
  gives 0 "$plimsoll" batch jobs.jsonl
  same 'apart 6' "$(first_readers)" 'the first two readers of which something is known'
  events >second
  has second 'how busy the job just started keeps the disk: 1 job bound by I/O at once'
  has second '"io_unshown":1'
}

# With a priority goes a weight of I/O, where the kernel divides a disk by weights.
case_io_weight_follows_the_priority() {
  echo '{"id":"1","shell":"cat /sys/fs/cgroup$(cut -d: -f3 /proc/self/cgroup)/io.weight","priority":3}' >jobs.jsonl
  gives 0 "$plimsoll" batch jobs.jsonl
  has out 'default 195'
}

run_cases "${1:-}"

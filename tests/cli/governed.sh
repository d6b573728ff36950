#!/bin/bash
# What batch does for its jobs beside starting them: weights by priority, sizes of what they read,
# and how good its estimates were; its last line counts.
# program: released
# shellcheck disable=SC2016,SC2317 # for the shells that are run; called by name
set -uo pipefail
. "$(dirname "$0")/cases.bash"

# priority N [MORE]: a job of that priority which prints its weight.
priority() {
  "$python" -c '
import json, sys
print(json.dumps({"shell": sys.argv[2], "priority": int(sys.argv[1]), **json.loads(sys.argv[3])}))' \
    "$1" "$cat_own own cpu/cpu.weight cpu/cpu.shares" "${2:-{\}}"
}

case_a_priority_is_a_weight() {
  { priority 3 && priority 0 && priority -3 && priority 3 '{"weight": 50}'; } >jobs.jsonl
  gives 0 "$plimsoll" batch -q -k jobs.jsonl
  # On v1 1024 shares are what a weight of 100 is on v2; a weight of its own goes before.
  same 1 "$(grep -cxE '1996|195' out)" 'priority 3'
  same 1 "$(grep -cxE '1024|100' out)" 'priority 0'
  same 1 "$(grep -cxE '522|51' out)" 'priority -3'
  same 1 "$(grep -cxE '512|50' out)" 'weight 50'
  gives 0 "$plimsoll" explain last 1 --json
  has out '"priority":3'
  has out '"weight":195'
}

# What the history has of the sizes that jobs read, one a line.
sizes_known() {
  "$python" -c '
import glob, sqlite3, sys
for file in glob.glob(sys.argv[1] + "/*"):
    try:
        rows = sqlite3.connect(f"file:{file}?mode=ro", uri=True).execute(
            "SELECT input_bytes FROM experience ORDER BY input_bytes").fetchall()
    except sqlite3.Error:
        continue
    for (size,) in rows: print(size)' "$PLIMSOLL_STATE_DIR"
}

case_sizes_of_inputs_are_learnt() {
  export PLIMSOLL_STATE_DIR=$PWD/state
  head -c 4096 /dev/zero >small
  head -c 1048576 /dev/zero >large
  gives 0 "$plimsoll" batch -q -- 'cat {} | sleep 0.3' ::: small large nowhere-file
  same $'None\n4096\n1048576' "$(sizes_known)"
}

case_how_good_the_estimates_were() {
  gives 0 "$plimsoll" batch -v --report report -- 'sleep 0.{}' ::: 3 4 5
  has err '  estimates    '
  has err 'reserved in vain'
  tail -n 1 report >summary
  told summary 'r["calibration"]["attempts"] == 3' '0 <= r["calibration"]["above_estimate"] <= 1' \
    '0 <= r["calibration"]["reserve_wasted"] <= 1'
  gives 0 "$plimsoll" batch -- 'sleep 0.{}' ::: 3 4
  lacks err '  estimates    '
}

run_cases "${1:-}"

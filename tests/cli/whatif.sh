#!/bin/bash
# plimsoll whatif, from outside; its last line counts.
set -uo pipefail
source "$(dirname "$(realpath "$0")")/cases.bash"
source "$(dirname "$(realpath "$0")")/recorded.bash"

case_an_answer_for_each_combination() {
  record a
  gives 0 "$plimsoll" whatif a --cores 1,2,4 --line 1G,2G --json
  told out 'r["schema"] == "plimsoll.whatif/1"' 'r["jobs"] == 12' 'r["run"] == "a"' \
    '[(w["cores"], w["line_bytes"] >> 30) for w in r["answers"]] == [(1, 1), (1, 2), (2, 1), (2, 2), (4, 1), (4, 2)]' \
    'all(w["finished"] and w["makespan_low_s"] <= w["makespan_s"] <= w["makespan_high_s"] for w in r["answers"])' \
    'all(w["makespan_s"] >= w["lower_bound_s"] for w in r["answers"])' \
    'r["replay"]["cores"] == 2 and r["replay"]["line_bytes"] == 1 << 30' \
    'abs(r["replay"]["error_share"] - (r["replay"]["makespan_s"] / r["makespan_s"] - 1)) < 1e-9'
  # 24 s of CPU time in all: one core needs that.
  told out 'r["answers"][0]["makespan_s"] >= 24' 'r["answers"][5]["makespan_s"] < r["answers"][0]["makespan_s"]'
}

case_what_is_not_given_is_as_it_was() {
  record a
  gives 0 "$plimsoll" whatif a --json
  told out 'len(r["answers"]) == 1' 'r["answers"][0]["makespan_s"] == r["replay"]["makespan_s"]'
  gives 0 "$plimsoll" whatif a --cores 8
  has out 'Run a: 12 jobs, 2 cores, a line of 1.00 GiB; it took 1m'
  has out 'Its replay there: '
  has out 'which is off by '
  has out 'AGAINST REPLAY'
}

case_a_job_that_does_not_fit_does_not_finish() {
  record a
  gives 0 "$plimsoll" whatif a --line 100M
  has out 'does not finish'
}

case_other_load_takes_cores() {
  record a
  gives 0 "$plimsoll" whatif a --cores 2 --other-load 2 --json
  cp out loaded
  gives 0 "$plimsoll" whatif a --cores 2 --json
  "$python" -c 'import json
loaded, alone = (json.load(open(name))["answers"][0]["makespan_s"] for name in ("loaded", "out"))
assert loaded > alone, (loaded, alone)' >told 2>&1 || wrong "$(cat told)"
}

case_what_the_governor_knows_can_be_said() {
  record a
  for knowledge in nothing all; do
    gives 0 "$plimsoll" whatif a --knowledge "$knowledge" --json
    told out "r['knowledge'] == '$knowledge'" 'r["answers"][0]["makespan_s"] == r["replay"]["makespan_s"]'
  done
}

case_what_the_governor_knew_is_in_the_record() {
  record new known=0
  gives 0 "$plimsoll" whatif new --json
  told out 'r["knowledge"] == "nothing"'
  record seen known=3
  gives 0 "$plimsoll" whatif seen --json
  told out 'r["knowledge"] == "all"'
  gives 0 "$plimsoll" whatif seen
  has out 'the governor knows these jobs before'
}

# A record may be anybody's.
case_a_machine_that_there_is_not() {
  local cores runs
  record a
  runs=$PLIMSOLL_STATE_DIR/runs
  cp "$runs/a/meta.json" meta.json
  for cores in 0 -1 1e-308 1e308 '"x"' '{}'; do
    "$python" -c 'import json, sys; json.dump(json.load(open("meta.json")) | {"cores": json.loads(sys.argv[1])}, sys.stdout)' \
      "$cores" >"$runs/a/meta.json"
    gives 125 "$plimsoll" whatif a
    has err 'does not say its cores and its line'
  done
}

case_mistakes_are_told() {
  record a
  gives 125 "$plimsoll" whatif a --knowledge some
  has err '--knowledge: found "some", expected nothing or all'
  gives 125 "$plimsoll" whatif a --cores 2,x
  has err '--cores: '
  gives 125 "$plimsoll" whatif a --line 1K
  has err '--line: found 1K, expected 1M or more'
  gives 125 "$plimsoll" whatif a --cores "$(seq -s, 1 101)"
  has err 'found 101 combinations of --cores and --line, expected 100 or fewer'
  gives 125 "$plimsoll" whatif nothing
}

run_cases "$@"

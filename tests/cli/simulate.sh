#!/bin/bash
# plimsoll simulate, from outside; its last line counts.
set -uo pipefail
. "$(dirname "$0")/cases.bash"

curves=$(realpath "$(dirname "$0")/../data/curves/mixed.jsonl")

# value KEY: of the JSON in `out`.
value() { "$python" -c 'import json, sys; print(json.load(open("out"))[sys.argv[1]])' "$1"; }

case_text_for_people() {
  gives 0 "$plimsoll" simulate "$curves" --cores 8 --line 8G --policy fixed:2
  empty err
  for word in policy makespan 'kernel kills' evictions pauses lost memory cpu 'the lower bound'; do
    has out "$word"
  done
}

case_json_of_every_baseline() {
  for policy in fixed:1 memfree:25% memfree:2G fit:best fit:first fit:dot clairvoyant \
    clairvoyant:class; do
    gives 0 "$plimsoll" simulate "$curves" --cores 8 --line 8G --policy "$policy" --json
    same "$policy" "$(value policy)"
    same True "$(value finished)" "$policy"
    same 60 "$(value jobs)"
    same 8192.0 "$(value line_mb)"
  done
}

case_policies_are_compared_in_a_table() {
  local seconds
  gives 0 "$plimsoll" simulate "$curves" --cores 8 --line 8G --policy plimsoll,fixed:1,fixed:8
  same 4 "$(wc -l <out)" 'lines'
  same 'POLICY plimsoll fixed:1 fixed:8' "$(awk '{ print $NF }' out | xargs)"
  seconds=$(awk '$NF == "fixed:8" { print $1 }' out)
  gives 0 "$plimsoll" simulate "$curves" --cores 8 --line 8G --policy fixed:8
  has out "$seconds"
  gives 0 "$plimsoll" simulate "$curves" --cores 8 --line 8G --policy fixed:1,fixed:8 --json
  same '"policy": "fixed:1" "policy": "fixed:8"' "$(grep -o '"policy": "[^"]*"' out | paste -sd' ')"
  gives 125 "$plimsoll" simulate "$curves" --cores 8 --line 8G --policy fixed:1,,fixed:8
  has err '--policy: '
}

case_a_seed_decides_the_shuffle() {
  local first
  gives 0 "$plimsoll" simulate "$curves" --cores 8 --line 8G --policy fixed:3 --order shuffle --seed 1 --json
  first=$(<out)
  gives 0 "$plimsoll" simulate "$curves" --cores 8 --line 8G --policy fixed:3 --order shuffle --seed 1 --json
  same "$first" "$(<out)"
  gives 0 "$plimsoll" simulate "$curves" --cores 8 --line 8G --policy fixed:3 --order shuffle --seed 2 --json
  [[ $first != "$(<out)" ]] || wrong "another seed gave the same"
}

case_packed_by_content() {
  local plain
  gives 0 "$plimsoll" simulate "$curves" --cores 8 --line 8G --policy fixed:3 --json
  plain=$(<out)
  xz -c "$curves" >packed.jsonl
  gives 0 "$plimsoll" simulate packed.jsonl --cores 8 --line 8G --policy fixed:3 --json
  same "$plain" "$(<out)"
  head -c 3000 packed.jsonl >cut.xz
  gives 125 "$plimsoll" simulate cut.xz --cores 8 --line 8G --policy fixed:3
  has err "cut.xz: found a truncated xz file"
}

case_a_set_that_never_fits_is_told() {
  gives 0 "$plimsoll" simulate "$curves" --cores 8 --line 1G --policy fixed:4 --json
  same False "$(value finished)"
}

case_a_job_that_does_not_fit_is_named() {
  gives 0 "$plimsoll" simulate "$curves" --cores 8 --line 1G --policy fixed:4
  has out 'did not finish:'
  has out "cannot run: it needs"
  has out 'more than the line'
  gives 0 "$plimsoll" simulate "$curves" --cores 8 --line 1G --policy fixed:4 --json
  "$python" -c '
import json
named = json.load(open("out"))["unfinished"]
assert 0 < len(named) <= 10, named
assert named[0]["peak_mb"] > 1024 and named[0]["id"], named' || wrong 'no job is named'
}

# between LEAST SEEN MOST WHAT
between() { awk -v a="$1" -v b="$2" -v c="$3" 'BEGIN { exit !(a <= b && b <= c) }' || wrong "$4: $2 is not $1 to $3"; }

case_a_recorded_run_is_replayed() {
  local run name took
  export PLIMSOLL_STATE_DIR=$PWD/state
  printf '%s\n' '{"id":"first","argv":["sleep","0.6"]}' \
    '{"id":"second","argv":["sleep","0.4"],"needs":["first"]}' >two.jsonl
  gives 0 "$plimsoll" batch -q --standalone --line 1G --cores 2 --report report.jsonl two.jsonl
  run=$(echo state/runs/*)
  # One after the other.
  took=$("$python" -c '
import json
print(sum(job["times"]["wall_ns"] for job in map(json.loads, open("report.jsonl")) if "times" in job) / 1e9)')
  between 1.0 "$took" "$patience" 'what they took'
  for name in last "$run" "$run/jobs.jsonl" "$(basename "$run")"; do
    gives 0 "$plimsoll" simulate "$name" --json
    same True "$(value finished)" "$name"
    same 2 "$(value jobs)" "$name"
    same 1024.0 "$(value line_mb)" "$name"
    between 1.0 "$(value makespan_s)" "$(awk -v took="$took" 'BEGIN { print took + 0.4 }')" "$name"
  done
  gives 0 "$plimsoll" simulate last --line 2G --cores 4 --policy fixed:2 --json
  same 2048.0 "$(value line_mb)"
  gives 0 "$plimsoll" simulate report.jsonl --line 2G --cores 4 --policy fixed:2 --json
  same 2 "$(value jobs)"
  between 1.0 "$(value makespan_s)" "$(awk -v took="$took" 'BEGIN { print took + 0.4 }')" report.jsonl
  gives 125 "$plimsoll" simulate report.jsonl --cores 4
  has err '--line is needed, because report.jsonl does not say it'
}

case_a_run_that_died_early_has_nothing_to_simulate() {
  export PLIMSOLL_STATE_DIR=$PWD/died
  mkdir -p -m 700 died/runs/20240101-000000-aaaa
  printf '{"schema":"plimsoll.meta/1","run":"20240101-000000-aaaa","state":"running","command_line":[],"started_unix_ns":1,"jobs":2}\n' \
    >died/runs/20240101-000000-aaaa/meta.json
  : >died/runs/20240101-000000-aaaa/events.jsonl
  : >died/runs/20240101-000000-aaaa/jobs.jsonl
  gives 125 "$plimsoll" simulate last
  same 'plimsoll: simulate: run 20240101-000000-aaaa died before any of its jobs had ended: there is nothing to simulate' \
    "$(cat err)"
  gives 125 "$plimsoll" simulate nosuch
  has err 'there is no file "nosuch", and there is no run "nosuch"'
}

case_other_load_takes_its_share() {
  local alone
  echo '{"class":"a","name":"a","t":[0,10],"mem_mb":[1,1],"cpu_pct":[200,0]}' >busy.jsonl
  gives 0 "$plimsoll" simulate busy.jsonl --cores 2 --line 1G --json
  alone=$(value makespan_s)
  between 10 "$alone" 10.2 alone
  gives 0 "$plimsoll" simulate busy.jsonl --cores 2 --line 1G --other-load 2 --json
  between 20 "$(value makespan_s)" 20.2 'beside others'
  gives 125 "$plimsoll" simulate busy.jsonl --cores 2 --line 1G --other-load -1
  has err "--other-load: found \"-1\", expected a number of cores"
}

case_mistakes() {
  export PLIMSOLL_STATE_DIR=$PWD/state
  gives 125 "$plimsoll" simulate "$curves" --cores 8
  has err "--line"
  gives 125 "$plimsoll" simulate "$curves" --cores 0 --line 8G --policy fixed:1
  has err "--cores"
  gives 125 "$plimsoll" simulate "$curves" --cores 8 --line lots --policy fixed:1
  has err "--line"
  gives 125 "$plimsoll" simulate "$curves" --cores 8 --line 8G --policy fixed:none
  has err 'found "fixed:none", expected fixed:N'
  gives 125 "$plimsoll" simulate "$curves" --cores 8 --line 8G --policy fixed:1 --order best
  has err 'found "best", expected file, shuffle or longest'
  gives 125 "$plimsoll" simulate nowhere --cores 8 --line 8G --policy fixed:1
  has err 'there is no file "nowhere", and no run is recorded'
  gives 125 "$plimsoll" simulate ./nowhere --cores 8 --line 8G --policy fixed:1
  has err "nowhere: No such file or directory"
  echo '{"class":"a"}' >bad.jsonl
  gives 125 "$plimsoll" simulate bad.jsonl --cores 8 --line 8G --policy fixed:1
  has err 'bad.jsonl:1: found no "name", expected text'
}

case_the_governor_learns_from_a_history_and_from_another_trace() {
  local unlearnt
  gives 0 "$plimsoll" simulate "$curves" --cores 8 --line 8G --json
  same True "$(value finished)"
  unlearnt=$(value makespan_s)
  gives 0 "$plimsoll" simulate "$curves" --cores 8 --line 8G --learn "$curves" --json
  [[ $unlearnt != "$(value makespan_s)" ]] || wrong 'what was learnt makes no difference'
  # A history that a run has written; none of its classes is in the trace.
  gives 0 "$plimsoll" batch -q -- 'sleep 0.{}' ::: 1 2
  gives 0 "$plimsoll" simulate "$curves" --cores 8 --line 8G --json \
    --history "$PLIMSOLL_STATE_DIR/history.db"
  same True "$(value finished)"
  gives 125 "$plimsoll" simulate "$curves" --cores 8 --line 8G --history nowhere
  has err '--history'
}

run_cases "${1:-}"

#!/bin/bash
# plimsoll history, runs and explain, from outside, on what earlier runs have left; its last line
# counts. Each case has a state directory of its own.
set -uo pipefail
source "$(dirname "$(realpath "$0")")/cases.bash"

# A history of version 1 (docs/formats/history.md) with three classes.
make_history() {
  state
  "$python" - "$PLIMSOLL_STATE_DIR/history.db" <<'END'
import sqlite3, sys, time
db = sqlite3.connect(sys.argv[1])
db.executescript("""
CREATE TABLE class (
  id INTEGER PRIMARY KEY, exact TEXT NOT NULL, tool TEXT NOT NULL, UNIQUE (exact, tool));
CREATE TABLE experience (
  id INTEGER PRIMARY KEY,
  class INTEGER NOT NULL REFERENCES class (id) ON DELETE CASCADE,
  recorded_unix_ns INTEGER NOT NULL,
  peak_bytes INTEGER NOT NULL, peak_at_least INTEGER NOT NULL,
  ran_ns INTEGER NOT NULL, ran_at_least INTEGER NOT NULL,
  cores REAL, input_bytes INTEGER, curve TEXT NOT NULL);
CREATE INDEX experience_of_class ON experience (class, id);
PRAGMA application_id = 0x506c696d;
PRAGMA user_version = 1;
""")
for i, name in enumerate(("cc -c", "cc -O2 -c", "ld"), 1):
    db.execute("INSERT INTO class VALUES (?, ?, ?)", (i, name, name.split()[0]))
    for k in range(1, 11):
        db.execute("INSERT INTO experience VALUES (NULL, ?, ?, ?, 0, ?, 0, 1.5, NULL, '0 1 5 2')",
                   (i, time.time_ns(), i * k << 20, k * 10**9))
db.commit()
END
}

# make_run ID STATE [LINE-OF-EVENTS...]
make_run() {
  local dir=$PLIMSOLL_STATE_DIR/runs/$1
  mkdir -p -m 700 "$dir"
  printf '{"schema":"plimsoll.meta/1","run":"%s","state":"%s","command_line":["plimsoll","batch","jobs.txt"],"started_unix_ns":1700000000000000000,"jobs":2,"line_bytes":2147483648}\n' \
    "$1" "$2" >"$dir/meta.json"
  if [[ $2 == finished ]]; then
    printf '{"schema":"plimsoll.run/1","run":"%s","makespan_ns":90000000000,"jobs":2,"outcomes":{"exited":2},"holds":3,"pauses":1,"evictions":1,"line_bytes":2147483648,"used_peak_bytes":1073741824}\n' \
      "$1" >"$dir/summary.json"
  fi
  : >"$dir/events.jsonl"
  local event
  for event in "${@:3}"; do
    printf '{"schema":"plimsoll.event/1",%s}\n' "$event" >>"$dir/events.jsonl"
  done
  printf '{"schema":"plimsoll.job/1","id":"link","argv":["ld","-o","my app"],"outcome":"exited","exit_code":0,"attempts":[{},{}],"times":{"wall_ns":8000000000},"memory":{"peak_bytes":1073741824}}\n' \
    >"$dir/jobs.jsonl"
}

readonly story=(
  '"t_ns":0,"kind":"queued","job":"link","number":7'
  '"t_ns":0,"kind":"queued","job":"2","number":2'
  '"t_ns":1000000000,"kind":"held","job":"link","number":7,"reason":"needs 2.00 GiB, 1.00 GiB is free","numbers":{"mean_bytes":2147483648,"line_bytes":2147483648}'
  '"t_ns":2000000000,"kind":"held","job":"2","number":2,"reason":"needs 900 MiB, 100 MiB is free"'
  '"t_ns":5000000000,"kind":"admitted","job":"link","number":7,"reason":"it fits"'
  '"t_ns":5500000000,"kind":"admitted","job":"2","number":2,"reason":"it fits"'
  '"t_ns":6000000000,"kind":"frozen","job":"link","number":7,"reason":"it grows fastest"'
  '"t_ns":9000000000,"kind":"thawed","job":"link","number":7,"reason":"there is room again"'
  '"t_ns":9500000000,"kind":"evicted","job":"2","number":2,"reason":"no room is left"'
  '"t_ns":9600000000,"kind":"ended","job":"link","number":7'
)

case_nothing_is_known() {
  export PLIMSOLL_STATE_DIR=$PWD/none
  gives 0 "$plimsoll" history
  has out 'the history is empty'
  gives 0 "$plimsoll" history --json
  told out 'r["schema"] == "plimsoll.history/1"' 'r["classes"] == []'
  gives 0 "$plimsoll" runs
  has out 'no run is recorded'
  gives 0 "$plimsoll" history forget --all
  [[ ! -e none ]] || wrong 'looking made a directory'
  gives 125 "$plimsoll" explain last
  has err 'no run is recorded'
}

case_history_lists_classes() {
  make_history
  gives 0 "$plimsoll" history
  empty err
  has out 'cc -O2 -c'
  has out '27.0 MiB'
  same 4 "$(wc -l <out)" 'lines'
  gives 0 "$plimsoll" history --json
  told out '[c["class"] for c in r["classes"]] == ["ld", "cc -O2 -c", "cc -c"]' \
    'r["classes"][2]["peak_bytes"] == {"p50": 5 << 20, "p90": 9 << 20, "max": 10 << 20}' \
    'r["classes"][0]["count"] == 10' 'r["classes"][0]["cores"]["max"] == 1.5'
  gives 0 "$plimsoll" history 'cc *'
  lacks out ' ld'
  gives 125 "$plimsoll" history nosuch
  has err 'no class is named "nosuch"'
  same 6 "$("$python" -c 'import sqlite3,sys; print(sqlite3.connect(sys.argv[1]).execute("PRAGMA user_version").fetchone()[0])' state/history.db)" 'version'
}

case_history_tells_what_was_written() {
  state
  gives 0 "$plimsoll" batch -q -- 'head -c {}M /dev/zero >f{}; sync f{}; sleep 0.3' ::: 20 10
  gives 0 "$plimsoll" history
  has out 'WRITTEN P90'
  gives 0 "$plimsoll" history --json
  told out '20 << 20 <= r["classes"][0]["written_bytes"]["max"] < 24 << 20' \
    '10 << 20 <= r["classes"][0]["written_bytes"]["p50"] < 14 << 20'
}

# Nobody may look at the moment in which a short job has it. What it has only read is no need of it,
# and what it has written and removed counts once, while it is dirty.
case_history_knows_what_short_jobs_had() {
  state
  head -c 60M /dev/zero >big
  sync big
  dd if=big iflag=nocache count=0 status=none
  gives 0 "$plimsoll" batch -q --class had -- "$python" -c 'held = bytearray(60 << 20); del held' ::: 1 2 3
  gives 0 "$plimsoll" run -q --class had -- "$python" -c 'held = bytearray(60 << 20); del held'
  gives 0 "$plimsoll" batch -q --class read -- 'cat {} >/dev/null; rm {}' ::: big
  gives 0 "$plimsoll" batch -q --class wrote -- 'head -c 60M /dev/zero >new; rm new; true {}' ::: 1
  gives 0 "$plimsoll" history --json
  told out '[c["count"] for c in r["classes"] if c["class"] == "had"] == [4]' \
    'all(c["peak_bytes"]["p50"] >= 60 << 20 for c in r["classes"] if c["class"] == "had")' \
    'all(c["peak_bytes"]["max"] < 30 << 20 for c in r["classes"] if c["class"] == "read")' \
    'all(c["peak_bytes"]["max"] < 70 << 20 for c in r["classes"] if c["class"] == "wrote")'
}

case_history_forgets() {
  make_history
  gives 0 "$plimsoll" history forget 'cc *'
  has out 'forgot 20 attempts of 2 classes'
  gives 0 "$plimsoll" history
  lacks out 'cc'
  gives 125 "$plimsoll" history forget 'cc *'
  gives 125 "$plimsoll" history forget
  has err 'give a PATTERN, or --all'
  gives 125 "$plimsoll" history forget --all ld
  gives 0 "$plimsoll" history forget --all
  gives 0 "$plimsoll" history
  has out 'the history is empty'
}

case_history_lists_the_largest_classes() {
  state
  printf '{"argv":["true"],"class":"c%s"}\n' {1..50} >jobs
  gives 0 "$plimsoll" batch -q jobs
  gives 0 "$plimsoll" history
  has out "and 10 more classes; \`plimsoll history '*'\` lists all"
  same 42 "$(wc -l <out)" 'lines'
  gives 0 "$plimsoll" history '*'
  same 51 "$(wc -l <out)" 'lines of all'
  gives 0 "$plimsoll" history forget c1
  same 'forgot 1 attempt of 1 class' "$(<out)"
}

case_history_damaged() {
  state
  head -c 8192 /dev/urandom >state/history.db
  gives 0 "$plimsoll" history
  has out 'the history is empty'
  has err 'was damaged'
  same 1 "$(find state -name 'history.db.corrupt-*' -size 16 | wc -l)" 'set aside'
  gives 0 "$plimsoll" history
  empty err
}

case_history_of_others() {
  state
  "$python" -c 'import sqlite3; d = sqlite3.connect("state/history.db"); d.execute("CREATE TABLE mail (x)")'
  gives 125 "$plimsoll" history
  has err "state/history.db: is a database, but not a history of Plimsoll"
  make_history 2>/dev/null
  rm state/history.db && make_history
  gives 0 "$plimsoll" history
  "$python" -c 'import sqlite3; d = sqlite3.connect("state/history.db"); d.execute("PRAGMA user_version = 7")'
  gives 125 "$plimsoll" history
  has err 'was written by a later version of Plimsoll: found format 7'
}

case_state_directory() {
  mkdir -m 777 open
  PLIMSOLL_STATE_DIR=$PWD/open gives 0 "$plimsoll" history
  : >open/history.db
  PLIMSOLL_STATE_DIR=$PWD/open gives 125 "$plimsoll" history
  has err 'can be written by others'
  is_root || skip 'not root'
  cp "$plimsoll" program
  chmod 755 . program
  local nobody=(setpriv --reuid 65534 --regid 65534 --clear-groups env -u PLIMSOLL_STATE_DIR)
  make_history
  # What belongs to root can't be written: an error, no crash.
  chmod 755 state && chmod 644 state/history.db
  gives 125 "${nobody[@]}" PLIMSOLL_STATE_DIR="$PWD/state" ./program history
  has err history.db
  gives 125 "${nobody[@]}" -u HOME -u XDG_STATE_HOME ./program history
  has err 'there is no directory for the history'
  install -d -o 65534 -g 65534 -m 700 home
  gives 0 "${nobody[@]}" -u XDG_STATE_HOME HOME="$PWD/home" ./program runs
}

case_runs_are_listed() {
  state
  make_run 20240101-000000-aaaa finished
  make_run 20240102-000000-bbbb running
  gives 0 "$plimsoll" runs
  has out 20240101-000000-aaaa
  has out '1m30s'
  has out '2 exited'
  has out died
  gives 0 "$plimsoll" runs --json
  told out 'r["schema"] == "plimsoll.runs/1"' '[x["state"] for x in r["runs"]] == ["finished", "died"]' \
    'r["runs"][0]["evictions"] == 1' '"evictions" not in r["runs"][1]'
  local running
  exec {running}<state/runs/20240102-000000-bbbb
  flock -x "$running"
  gives 0 "$plimsoll" runs --json
  told out 'r["runs"][1]["state"] == "running"'
  gives 125 eval '"$plimsoll" runs >/dev/full'
}

case_a_single_command_is_a_run_of_one() {
  state
  gives 0 "$plimsoll" run -q -- sleep 0.4
  gives 0 "$plimsoll" runs
  has out '1 ok'
  gives 0 "$plimsoll" runs --json
  told out 'r["runs"][0]["succeeded"] == 1' 'r["runs"][0]["cores"] > 0' \
    'r["runs"][0]["line_bytes"] > 1 << 20'
  gives 0 "$plimsoll" explain last
  has out '1 (1 ok)'
  gives 0 "$plimsoll" simulate last
  has out makespan
  gives 3 "$plimsoll" run -q -- sh -c 'sleep 0.4; exit 3'
  gives 0 "$plimsoll" runs --json
  told out 'r["runs"][1]["succeeded"] == 0'
}

case_runs_are_named() {
  state
  make_run 20240101-000000-aaaa finished "${story[@]}"
  make_run 20240101-000000-aabb finished "${story[@]}"
  make_run 20240102-000000-bbbb finished
  gives 0 "$plimsoll" explain last
  has out 'Run 20240102-000000-bbbb, finished: plimsoll batch jobs.txt'
  gives 0 "$plimsoll" explain last-1
  has out 'Run 20240101-000000-aabb'
  gives 125 "$plimsoll" explain last-3
  has err 'there is no run "last-3"; 3 runs are recorded'
  gives 0 "$plimsoll" explain 20240102
  gives 0 "$plimsoll" explain state/runs/20240101-000000-aabb
  has out 'Run 20240101-000000-aabb'
  gives 125 "$plimsoll" explain 20240101
  has err 'matches several runs: 20240101-000000-aaaa, 20240101-000000-aabb'
  gives 125 "$plimsoll" explain 2025
  has err 'there is no run "2025"'
  gives 125 "$plimsoll" explain
  gives 125 "$plimsoll" explain ./elsewhere
}

case_explain_a_run() {
  state
  make_run 20240101-000000-aaaa finished "${story[@]}"
  printf '{"schema":"plimsoll.event/1","t_ns":99' >>state/runs/20240101-000000-aaaa/events.jsonl
  gives 0 "$plimsoll" explain last
  empty err
  has out '2 (2 exited)'
  has out 'needs 900 MiB to 2.00 GiB, 100 MiB to 1.00 GiB is free'
  has out '4.50 s'
  has out 'it grows fastest'
  has out 'no room is left'
  gives 0 "$plimsoll" explain last --json
  same 10 "$(wc -l <out)" 'events'
  head -n 3 out | tail -n 1 >event
  told event 'r["kind"] == "held"' 'r["numbers"]["mean_bytes"] == 2147483648' 'r["number"] == 7'
}

case_explain_a_run_that_died() {
  state
  make_run 20240101-000000-aaaa running '"t_ns":0,"kind":"started","job":"link"' \
    '"t_ns":1000000000,"kind":"started","job":"2"' '"t_ns":2000000000,"kind":"ended","job":"link"'
  gives 0 "$plimsoll" explain last
  has out 'which died'
  has out '1 of 2 ended, 1 running when it died'
  has out 'at least 2.00 s, until its last event'
}

case_explain_a_job() {
  state
  make_run 20240101-000000-aaaa finished "${story[@]}"
  gives 0 "$plimsoll" explain last link
  has out "Job link (number 7) of run 20240101-000000-aaaa: ld -o 'my app'"
  has out 'mean 2.00 GiB, line 2.00 GiB'
  has out 'memory that all jobs together may use'
  has out 'there is room again'
  has out 'Ended: exited with code 0 after 8.00 s, attempt 2, peak 1.00 GiB'
  lacks out 'no room is left'
  cp out by_name
  gives 0 "$plimsoll" explain last 7
  same "$(cat by_name)" "$(cat out)" 'by number'
  gives 0 "$plimsoll" explain last 2 --json
  same 4 "$(wc -l <out)" 'events of job 2'
  gives 125 "$plimsoll" explain last nosuch
  has err 'has no job "nosuch"'
}

case_explain_the_failed() {
  state
  make_run 20240101-000000-aaaa finished "${story[@]}"
  gives 0 "$plimsoll" explain last --failed
  same 'No job of run 20240101-000000-aaaa has failed.' "$(cat out)"
  printf '{"schema":"plimsoll.job/1","id":"2","argv":["cc","two.c"],"outcome":"exited","exit_code":3,"attempts":[{}]}
{"schema":"plimsoll.job/1","id":"3","argv":["cc","three.c"],"outcome":"skipped","attempts":[]}
{"schema":"plimsoll.job/1","id":"4","argv":["cc","four.c"],"outcome":"timed_out","attempts":[{}]}
' >>state/runs/20240101-000000-aaaa/jobs.jsonl
  gives 0 "$plimsoll" explain last --failed
  has out 'Job 2 of run 20240101-000000-aaaa: cc two.c'
  has out 'no room is left'
  has out 'Ended: exited with code 3'
  has out 'Job 4 of run 20240101-000000-aaaa: cc four.c'
  lacks out 'my app'
  lacks out 'three.c'
  gives 0 "$plimsoll" explain last --failed --json
  same 4 "$(wc -l <out)" 'events of job 2'
  gives 125 "$plimsoll" explain last 2 --failed
}

case_a_run_is_told_again() {
  state
  make_run 20240101-000000-aaaa finished "${story[@]}"
  gives 0 "$plimsoll" report last
  empty err
  has out 'Run 20240101-000000-aaaa, finished: plimsoll batch jobs.txt'
  has out '1 of 1 jobs succeeded in 1m30s'
  has out 'heaviest by memory:'
  has out "link: ld -o 'my app'"
  has out 'holds 3, pauses 1, evictions 1'
  gives 0 "$plimsoll" report last link
  has out 'exited with code 0'
  has out 'peak 1.00 GiB'
  make_run 20240102-000000-bbbb running
  gives 0 "$plimsoll" report last
  has out 'Run 20240102-000000-bbbb, which died'
  has out '1 of 1 jobs succeeded'
  gives 125 "$plimsoll" report last nosuch
  has err 'has no job "nosuch"'
}

case_a_record_that_lacks_something_says_so() {
  state
  make_run 20240101-000000-aaaa finished "${story[@]}"
  local meta=state/runs/20240101-000000-aaaa/meta.json
  sed -i 's/"jobs":2/"jobs":2,"left_out":{"unstarted":75,"beyond":0,"late":0}/' "$meta"
  local command
  for command in explain report; do
    gives 0 "$plimsoll" $command last
    has out 'incomplete: 75 events and reports of jobs that never started are left'
  done
  gives 125 "$plimsoll" explain last 9
  has err 'has no job "9" in its record, which is incomplete'
}

case_help() {
  local command
  for command in history 'history forget' runs explain; do
    # shellcheck disable=SC2086 # two words
    gives 0 "$plimsoll" $command --help
    has out 'Examples:'
    # shellcheck disable=SC2086
    gives 125 "$plimsoll" $command --nonsense last
    has err --nonsense
  done
  gives 0 "$plimsoll" --help
  has out 'plimsoll explain last'
}

run_cases "${1:-}"

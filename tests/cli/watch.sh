#!/bin/bash
# Memory is watched: by which monitors, what they tell, and what becomes of memory that jobs leave.
# program: released
# alone: who watches is to have a processor while the memory is there that is watched
# shellcheck disable=SC2016,SC2317 # dollars for the shells that are run; called by name
set -u
source "$(dirname "$0")/cases.bash"

programs=$(dirname "$plimsoll")/tests/programs

# hold MIB SECONDS: a command that has that much memory for so long.
hold() { echo "\"$python\" -c 'import time; b = bytearray($1 << 20); time.sleep($2)'"; }

case_the_summary_names_the_monitors() {
  echo true >jobs.txt
  gives 0 "$plimsoll" batch --report report jobs.txt
  tail -n 1 report >summary
  told summary '[m["name"] for m in r["monitors"]] == ["event", "pressure", "threshold", "oom"]' \
    'all(m["why"] for m in r["monitors"])' \
    'r["monitors"][2]["health"] == r["monitors"][3]["health"] == "working"' \
    'all(m["health"].split(":")[0] in ("working", "missing") for m in r["monitors"])'
}

case_doctor_says_who_would_watch() {
  gives 0 "$plimsoll" doctor --json
  told out '{"watch.event", "watch.pressure", "watch.threshold", "watch.oom"} <= {c["id"] for c in r["checks"]}' \
    'all(c["value"] for c in r["checks"] if c["id"].startswith("watch."))'
}

case_passing_the_line_is_an_alarm() {
  # Nobody can be evicted, so that it gets there; by less than the eighth that ends a job at once, before
  # anybody has heard of it.
  echo "$programs/hog 106" >jobs.txt
  gives 1 "$plimsoll" batch --line 100M --no-evict --memory-hint 10M --progress plain jobs.txt
  has err 'alarm: '
  has err 'line is 100 MiB'
}

case_a_run_that_fits_alarms_nobody() {
  hold 20 1 >jobs.txt
  gives 0 "$plimsoll" batch --line 200M --memory-hint 30M --progress plain jobs.txt
  lacks err 'alarm: '
}

case_memory_left_in_dev_shm_is_told() {
  local file=/dev/shm/plimsoll-watch-$$
  echo "head -c 50000000 /dev/zero >$file" >jobs.txt
  gives 0 "$plimsoll" batch --report report --progress plain jobs.txt
  rm -f "$file"
  has err 'of shared memory (files in /dev/shm or another tmpfs)'
  head -n 1 report >job
  told job '45e6 < r["memory"]["left_bytes"] < 60e6'
}

case_memory_that_is_given_back_is_not_told() {
  hold 60 0 >jobs.txt
  gives 0 "$plimsoll" batch --report report --progress plain jobs.txt
  lacks err 'shared memory'
  head -n 1 report >job
  told job '"left_bytes" not in r["memory"]'
}

# The pool's own count has it beside what the next job uses.
case_what_is_left_takes_room_below_the_line() {
  local file=/dev/shm/plimsoll-watch-$$
  hold 60 3 >b # looked at once a second, and later where others have the CPUs
  {
    echo "{\"id\": \"a\", \"shell\": \"head -c 80000000 /dev/zero >$file\"}"
    echo '{"id": "b", "needs": ["a"], "shell": "sh b"}'
  } >jobs.jsonl
  gives 0 "$plimsoll" batch --line 200M --memory-hint 60M --report report jobs.jsonl
  rm -f "$file"
  tail -n 1 report >summary
  told summary 'r["used_peak_bytes"] > 130e6'
}

case_nothing_is_left() { nothing_left || wrong "left: $(groups_left) $(processes_left)"; }

run_cases "${1:-}"

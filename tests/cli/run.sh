#!/bin/bash
# `plimsoll run` as its user meets it: what goes in, what comes out, what is left.
# shellcheck disable=SC2016 # dollars in single quotes are for the shells that are run
set -u
source "$(dirname "$0")/cases.bash"

# --- exit status

case_every_exit_status_passes_through() {
  export plimsoll
  seq 0 255 | xargs -P 4 -n 1 sh -c '"$plimsoll" run -q -- sh -c "exit $0"; echo "$0 $?"' >out 2>err
  same "$(seq 0 255 | sed 's/.*/& &/')" "$(sort -n out)" 'expected and seen'
  empty err
}

case_status_of_signals() {
  local signal
  for signal in HUP INT QUIT ABRT KILL SEGV PIPE TERM USR1 RTMIN; do
    run $((128 + $(kill -l "$signal"))) -- sh -c "kill -$signal \$\$"
  done
}

case_125_and_nothing_started_for_wrong_options() {
  local options
  for options in '--nonsense' '--memory-max 12X' '--memory-max -1' '--timeout soon' '--cpus 0' '--cpus 0.0009' \
    '--cpus many' '--cpu-weight 0' '--cpu-weight 10001' '--io-weight x' '--io-max /dev/null' \
    '--pids-max 0' '--pids-max x' '--env =x' '--uid no-such-user-here' '--uid 0:no-such-group' \
    '--cpuset 0-100000' '--cpuset x' \
    '--cgroup ../x' '--report'; do
    # shellcheck disable=SC2086 # options are words
    run 125 $options -- touch started
    [[ ! -e started ]] || wrong "started in spite of $options"
    rm -f started
    has err plimsoll
    # The message names the option and what was found.
    has err "${options%% *}"
    [[ $options != *' '* ]] || has err "$(sed 's/^[^ ]* //; s/^0:no/no/' <<<"$options")"
  done
}

case_125_when_it_cannot_enter_the_directory() {
  local directory
  for directory in /no/such/directory /etc/passwd; do
    run 125 --cwd "$directory" -- touch started
    has err "working directory \"$directory\""
  done
  [[ ! -e started ]] || wrong started
}

case_125_without_a_command() {
  run 125
  has err 'no command'
  run 125 --
  run 125 --quiet
}

case_125_when_the_report_cannot_be_written() {
  run 125 --report no/such/directory/report.json -- touch started
  has err 'no/such/directory/report.json: No such'
  lacks err .tmp
  [[ ! -e started ]] || wrong 'found out after the command'
}

case_status_passes_through_when_the_report_is_lost() {
  mkdir reports
  run 7 -q --report reports/report.json -- sh -c 'rm -r reports; exit 7'
  has err '--report: write '
  has err 'reports/report.json: No such'
  lacks err .tmp
}

case_126_when_it_cannot_be_executed() {
  echo 'exit 0' >plain
  run 126 -- ./plain
  has err 'Permission denied'
  run 126 -- /
  run 126 -- ./plain/below
}

case_127_when_it_is_not_found() {
  run 127 -- no-such-command-anywhere
  has err 'No such file'
  run 127 -- ./no-such-file
  run 127 -- ''
  printf '#!/no/such/interpreter\n' >script
  chmod +x script
  run 127 -- ./script
}

case_124_when_it_takes_too_long() {
  run 124 --timeout 200ms -- sleep 1000
  has err 'took longer than 200 ms'
}

case_137_over_the_memory_limit_though_the_main_process_would_survive() {
  # It forks no more: there may be no memory left for that, and it would end by itself.
  run 137 --memory-max 32M --report report.json -- sh -c 'tail /dev/zero; while :; do :; done'
  has err 'memory limit of 32.0 MiB'
  told report.json 'r["outcome"] == "over_limit"' '"32.0 MiB" in r["reason"]' \
    'r["memory"]["max_bytes"] == 32 << 20' 'r["memory"]["peak_bytes"] >= 28 << 20' \
    'r["signal"] == "KILL"' '"exit_code" not in r'
}

case_137_when_the_main_process_ends_well_after_a_kill() {
  run 137 --memory-max 32M -- sh -c 'tail /dev/zero; exit 0'
  run 137 --memory-max 32M -- tail /dev/zero
}

case_the_memory_limit_takes_the_whole_group() {
  run 137 --memory-max 32M -- sh -c 'sleep 1000 & echo $! >pid; setsid sleep 1000 & echo $! >>pid; tail /dev/zero; wait'
  local pid
  while read -r pid; do gone "$pid" || wrong "process $pid lives"; done <pid
}

# --- the command

case_words_arrive_unchanged() {
  local words=('a b' $'c\nd' '' '*' '$HOME' '"' "'" '\' $'\xff' '--' '-q' '--report')
  printf '<%s>' "${words[@]}" >expected
  run 0 -- printf '<%s>' "${words[@]}"
  cmp -s expected out || wrong "saw $(<out)"
  # A command may start without `--`, and what follows it is its own, `--` too.
  run 0 printf '<%s>' "${words[@]}"
  cmp -s expected out || wrong "without --: saw $(<out)"
  run 0 -q printf '<%s>' -- x
  same '<--><x>' "$(<out)"
  run 0 --env A=1 printf '<%s>' --env A=1
  same '<--env><A=1>' "$(<out)"
}

case_an_environment_of_two_megabytes() {
  "$python" - "$plimsoll" <<'END' || wrong "$?"
import os, resource, subprocess, sys

plimsoll = sys.argv[1]
stack = resource.getrlimit(resource.RLIMIT_STACK)[0]
most = min(stack // 4, 6 << 20) if stack != resource.RLIM_INFINITY else 6 << 20

# A path of nearly PATH_MAX, which the kernel counts with the words of the command.
deep = os.getcwd()
while len(deep) < 3700:
    deep += "/" + "d" * 200
os.makedirs(deep)
os.symlink("/bin/true", deep + "/deep-true")

def environment(size):
    env = {"PATH": deep, "PLIMSOLL_CGROUP": os.environ["PLIMSOLL_CGROUP"]}
    number = 0
    while size > 0:
        env[f"FILL{number}"] = "x" * min(size, 60000)
        size -= 60000
        number += 1
    return env

def status(size, *command):
    try:
        return subprocess.run([plimsoll, "run", "-q", "--", *command], env=environment(size),
                              stderr=subprocess.PIPE).returncode
    except OSError:
        return "too long for plimsoll"

low, high = most - (64 << 10), most
assert status(low, "/bin/true") == 0, status(low, "/bin/true")
while high - low > 64:
    middle = (low + high) // 2
    if status(middle, "/bin/true") == 0:
        low = middle
    else:
        high = middle
assert low > most * 0.95, (low, most)
# What plimsoll could just be given, the longer path of the same command makes too much.
assert status(low, "deep-true") == 126, status(low, "deep-true")
assert status(low - 8192, "deep-true") == 0, status(low - 8192, "deep-true")
END
}

case_one_word_that_is_too_long() {
  # The kernel's MAX_ARG_STRLEN: 128 KiB for one word; --env and its value are two.
  local long
  long=$(head -c 131060 /dev/zero | tr '\0' x)
  run 0 -q --env "A=$long" -- true
  run 0 -q -- sh -c 'echo ${#1}' sh "$long"
  same 131060 "$(<out)"
}

case_paths() {
  mkdir dir
  printf '#!/bin/sh\necho "$0 in $(pwd)"\n' >dir/the-tool
  chmod +x dir/the-tool
  run 0 -- dir/the-tool
  same "dir/the-tool in $PWD" "$(<out)"
  run 0 --cwd dir -- ./the-tool
  same "./the-tool in $PWD/dir" "$(<out)"
  run 0 --cwd "$PWD/dir" -- pwd
  same "$PWD/dir" "$(<out)"
  # The PATH is the job's.
  run 0 --env "PATH=$PWD/dir:$PATH" -- the-tool
  same "$PWD/dir/the-tool in $PWD" "$(<out)"
  run 127 --env PATH=/no/such -- ls
  run 0 --cwd dir --env "PATH=:$PATH" -- the-tool
  run 0 --cwd dir --env "PATH=$PATH:." -- the-tool
  # One that may not be executed does not hide one that may.
  mkdir first
  cp dir/the-tool first/the-tool
  chmod -x first/the-tool
  run 0 --env "PATH=$PWD/first:$PWD/dir:$PATH" -- the-tool
  run 126 --env "PATH=$PWD/first:/no/such" -- the-tool
}

case_odd_directory_names() {
  mkdir '[a,b]' 'a b' -- -x
  local name
  for name in '[a,b]' 'a b'; do
    run 0 --cwd "$name" -- pwd
    same "$PWD/$name" "$(<out)"
  done
  run 0 --cwd=-x -- pwd
  same "$PWD/-x" "$(<out)"
}

case_a_script_without_a_first_line() {
  echo 'echo "$1,$2"; exit 9' >script
  chmod +x script
  run 9 -- ./script 'a b' c
  same 'a b,c' "$(<out)"
}

case_environment() {
  export HERE='from here'
  run 0 --env A=1 --env 'B=two = words' --env C= --env HERE -- sh -c 'echo "$A|$B|${C-unset}|$HERE"'
  same '1|two = words||from here' "$(<out)"
  run 0 --env HERE=there --env HERE=elsewhere -- sh -c 'echo "$HERE"; env | grep -c ^HERE='
  same $'elsewhere\n1' "$(<out)"
  run 0 -- env
  env | grep -v ^_= | sort >expected
  grep -v ^_= out | sort | diff - expected >difference || wrong "$(<difference)"
}

case_what_the_job_inherits() {
  umask 027
  ulimit -n 77
  echo hi >file
  exec 7<file
  run 0 -- sh -c 'umask; ulimit -n; cat <&7; ps -o ni= -p $$ 2>/dev/null || nice'
  same "0027 77 hi $(nice)" "$(tr -s ' \n' ' ' <out | sed 's/ $//')"
}

case_descriptors_of_plimsoll_are_not_the_jobs() {
  run 0 -- "$python" -c 'import os; print(sorted(int(f) for f in os.listdir("/proc/self/fd"))[:-1])'
  local bare
  bare=$("$python" -c 'import os; print(sorted(int(f) for f in os.listdir("/proc/self/fd"))[:-1])' 2>err)
  same "$bare" "$(<out)"
  run 0 -- grep -E '^Sig(Blk|Ign):' /proc/self/status
  grep -E '^Sig(Blk|Ign):' /proc/self/status >expected
  diff expected out >difference || wrong "signals: $(<difference)"
}

# --- input and output

case_standard_input() {
  same hello "$(echo hello | "$plimsoll" run -q -- cat)"
  same 20000000 "$(head -c 20000000 /dev/zero | "$plimsoll" run -q -- cat | wc -c)"
  # What the command does not read is the next one's.
  same second "$(printf 'first\nsecond\n' | { "$plimsoll" run -q -- sh -c 'read -r line' && cat; })"
}

case_a_reader_that_goes_away() {
  "$plimsoll" run yes 2>err | head -n 1 >out
  same '141 0' "${PIPESTATUS[*]}"
  same y "$(<out)"
  # Its summary has nobody to read it.
  { "$plimsoll" run sh -c 'sleep 0.2; exit 3'; echo $? >status; } 2>&1 | true
  same 3 "$(<status)"
}

case_closed_descriptors() {
  "$plimsoll" run true <&- >&- 2>&-
  same 0 $?
  local bare=0 seen=0
  sh -c 'echo x' >&- 2>/dev/null || bare=$?
  "$plimsoll" run -q -- sh -c 'echo x' >&- 2>/dev/null || seen=$?
  same "$bare" "$seen"
  "$plimsoll" run --report report.json -- sh -c 'cat; exit 4' <&- >&- 2>&-
  told report.json 'r["outcome"] == "exited"' 'r["exit_code"] == 4 or r["exit_code"] == 1'
}

case_a_full_disk() {
  [[ -c /dev/full ]] || skip 'no /dev/full'
  "$plimsoll" run --report - -- true >/dev/full 2>err
  same 125 $?
  "$plimsoll" run -- sh -c 'exit 3' 2>/dev/full
  same 3 $?
}

case_quiet_and_verbose() {
  run 3 --quiet -- sh -c 'exit 3'
  empty err
  run 143 --quiet -- sh -c 'kill $$'
  has err 'ended by signal TERM'
  same 1 "$(wc -l <err)"
  run 0 -- true
  empty out
  [[ -s err ]] || wrong 'no summary'
  local usual
  usual=$(wc -l <err)
  run 0 --verbose -- true
  (($(wc -l <err) >= usual)) || wrong "verbose says less: $(<err)"
  # No terminal, no colour.
  lacks err $'\e'
}

# --- the report

case_report_on_standard_output() {
  run 5 --report - -- sh -c 'echo said; exit 5'
  told out 'r["exit_code"] == 5'
  has err said
}

case_report_of_one_that_exited() {
  run 5 --report report.json --class tests --timeout 1m -- sh -c 'i=0; while [ $i -lt 20000 ]; do i=$((i+1)); done; head -c 100 /dev/zero | tail -c 1; exit 5'
  told report.json 'r["schema"] == "plimsoll.job/1"' 'r["outcome"] == "exited"' \
    'r["exit_code"] == 5' '"signal" not in r' 'not r.get("reason")' 'r["argv"][0] == "sh"' \
    'len(r["argv"]) == 3' 'r["class"] == "tests"' "r['cwd'] == '$PWD'" 'not r.get("left_behind")' \
    'len(r["attempts"]) == 1' 'r["attempts"][0]["outcome"] == "exited"' \
    '0 < r["times"]["wall_ns"] < 60e9' \
    'r["times"]["queued_unix_ns"] <= r["times"]["started_unix_ns"] < r["times"]["ended_unix_ns"]' \
    'abs(r["times"]["ended_unix_ns"] - r["times"]["started_unix_ns"] - r["times"]["wall_ns"]) < 5e9' \
    'r["cpu"]["usage_ns"] > 1e6' '1 << 16 < r["memory"]["peak_bytes"] < 1 << 30' \
    'r["rusage"]["maxrss_bytes"] > 1 << 19' 'r["pids"]["peak"] >= 2 if "pids" in r else True' \
    "r['host']['kernel'] == '$(uname -r)'" 'r["host"]["hierarchy"] in ("v2", "hybrid", "v1")' \
    'len(r["samples"]) >= 1' 'r["machine"]["memory_total_bytes"] > 1 << 28' \
    'isinstance(r.get("unavailable", {}), dict)'
}

case_report_of_one_ended_by_a_signal() {
  run 139 --report report.json -- sh -c 'kill -SEGV $$'
  told report.json 'r["outcome"] == "signalled"' 'r["signal"] == "SEGV"' '"exit_code" not in r' \
    '"SEGV" in r["reason"]'
}

case_report_of_one_timed_out() {
  run 124 --report report.json --timeout 100ms -- sleep 1000
  told report.json 'r["outcome"] == "timed_out"' 'r["signal"] == "TERM"' \
    '100e6 <= r["times"]["wall_ns"] < 30e9' '"100 ms" in r["reason"]'
}

case_report_of_one_that_failed_to_start() {
  run 127 --report report.json -- no-such-command
  told report.json 'r["outcome"] == "failed_to_start"' '"No such file" in r["reason"]' \
    '"exit_code" not in r' '"signal" not in r'
}

case_report_of_a_command_with_bytes_that_are_not_text() {
  run 0 --report report.json -- printf '%s' $'\xff\x01\n"\\'
  told report.json 'r["argv"][0] == "printf"' 'len(r["argv"]) == 3'
}

case_a_report_replaces_the_old_one_whole() {
  echo old >report.json
  run 0 --report report.json -- grep old report.json
  told report.json 'r["outcome"] == "exited"'
  same 1 "$(find . -name 'report.json*' | wc -l)"
}

case_nothing_is_left() {
  becomes_true nothing_left || wrong "left: $(groups_left) $(processes_left)"
}

run_cases "${1:-}"

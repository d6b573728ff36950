#!/bin/bash
# `plimsoll run` as its user meets it: what goes in, what comes out, what is left.
# shellcheck disable=SC2016 # dollars in single quotes are for the shells that are run
set -u
source "$(dirname "$0")/cases.bash"

# own FILE...: in a job, the first of these files that its group has; the words are NAME/FILE with
# the v1 name of the controller.
cat_own='
own() {
  for word; do
    controller=${word%%/*} file=${word#*/}
    path=$(grep -E ":([a-z_,]*,)?$controller(,[a-z_,]*)?:" /proc/self/cgroup | cut -d: -f3-)
    root=$(awk -v c="$controller" "\$3 == \"cgroup\" && (\",\" \$4 \",\") ~ (\",\" c \",\") { print \$2; exit }" /proc/mounts)
    [ "$path" ] || path=$(grep "^0::" /proc/self/cgroup | cut -d: -f3-)
    [ "$root" ] || root=$(awk "\$3 == \"cgroup2\" { print \$2; exit }" /proc/mounts)
    [ ! -e "$root$path/$file" ] || { cat "$root$path/$file"; return; }
  done
  echo "none of $*"
}
'

# --- exit status

case_every_exit_status_passes_through() {
  local status
  for ((status = 0; status < 256; status += 1)); do
    run "$status" -q -- sh -c "exit $status"
  done
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
  for options in '--nonsense' '--memory-max 12X' '--memory-max -1' '--timeout soon' '--cpus 0' \
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
  run 125 --report no/such/directory/report.json -- true
  has err 'no/such/directory'
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
  run 137 --memory-max 32M --report report.json -- sh -c 'tail /dev/zero; sleep 1000; exit 0'
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

case_user() {
  is_root || return 0
  chmod 777 .
  run 0 --uid nobody -- id -u
  same "$(id -u nobody)" "$(<out)"
  run 0 --uid nobody -- id -G
  same "$(id -G nobody)" "$(<out)"
  run 0 --uid nobody:daemon -- sh -c 'id -un; id -gn'
  same $'nobody\ndaemon' "$(<out)"
  run 0 --uid 12345:54321 -- sh -c 'id -u; id -g'
  same $'12345\n54321' "$(<out)"
  mkdir -m 700 closed
  run 125 --uid nobody --cwd closed -- true
  has err 'working directory'
  run 0 --uid nobody --memory-max 1G --pids-max 50 --timeout 1m -- true
}

case_user_without_the_right() {
  is_root && { setpriv --reuid=65534 true 2>/dev/null || return 0; }
  is_root || return 0
  # A job may not become another user: the job's own plimsoll is refused.
  run 0 --uid nobody -- sh -c '"$0" run --uid root -- id -u; [ $? = 125 ]' "$plimsoll"
  lacks out 0
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
  [[ -c /dev/full ]] || return 0
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
    'abs(r["times"]["ended_unix_ns"] - r["times"]["started_unix_ns"] - r["times"]["wall_ns"]) < 50e6' \
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

# --- limits

case_limits_are_set_on_the_group() {
  run 0 --pids-max 123 -- sh -c "$cat_own own pids/pids.max"
  same 123 "$(<out)"
  run 0 --cpus 1.5 -- sh -c "$cat_own own cpu/cpu.max cpu/cpu.cfs_quota_us"
  [[ $(<out) == '150000 100000' || $(<out) == 150000 ]] || wrong "cpus: $(<out)"
  run 0 --cpuset 0 -- sh -c "$cat_own own cpuset/cpuset.cpus; grep Cpus_allowed_list /proc/self/status"
  same $'0\nCpus_allowed_list:\t0' "$(<out)"
  run 0 --cpu-weight 200 -- sh -c "$cat_own own cpu/cpu.weight cpu/cpu.shares"
  [[ $(<out) == 200 || $(<out) == 2048 ]] || wrong "cpu-weight: $(<out)"
  run 0 --memory-max 64M -- sh -c "$cat_own own memory/memory.max memory/memory.limit_in_bytes"
  same $((64 << 20)) "$(<out)"
  run 0 --pids-max 50 --cpus 1 --cpuset 0 --memory-max 1G --cpu-weight 50 -- sh -c "$cat_own"'
    own pids/pids.max; own cpuset/cpuset.cpus'
  same $'50\n0' "$(<out)"
}

case_processes_over_the_limit_are_refused() {
  run 0 --pids-max 5 --report report.json -- "$python" -c '
import subprocess
children = []
try:
    for _ in range(20): children.append(subprocess.Popen(["sleep", "1000"]))
except OSError as error:
    print(len(children), type(error).__name__)'
  same '4 BlockingIOError' "$(<out)"
  told report.json 'r["pids"]["peak"] == 5' 'len(r["left_behind"]) == 4'
}

case_a_fork_bomb_within_its_limit() {
  run 124 --pids-max 60 --timeout 1s --kill-after 0s -- sh -c 'bomb() { bomb | bomb & }; bomb 2>/dev/null; sleep 1000' 
  becomes_true eval '[[ -z $(processes_left) ]]'
}

case_memory_high() {
  if on_v1 memory; then
    run 125 --memory-high 1G -- touch started
    has err '--memory-max'
    has err 'cgroup v1'
    [[ ! -e started ]] || wrong started
  else
    run 0 --memory-high 64M -- sh -c "$cat_own own memory/memory.high"
    same $((64 << 20)) "$(<out)"
  fi
}

# --- the end

case_what_is_left_behind_is_named_and_killed() {
  run 3 --report report.json -- sh -c 'sleep 1000 & echo $! >pid; exit 3'
  gone "$(<pid)" || wrong "$(<pid) lives"
  told report.json 'r["outcome"] == "exited"' '[p["comm"] for p in r["left_behind"]] == ["sleep"]' \
    "r['left_behind'][0]['pid'] == $(<pid)"
  has err sleep
}

case_daemons_do_not_get_away() {
  run 0 --report report.json -- sh -c '(setsid sh -c "setsid sleep 1000 & echo \$! >pid" &) ; while [ ! -s pid ]; do sleep 0.01; done'
  gone "$(<pid)" || wrong "$(<pid) lives"
  told report.json '"sleep" in [p["comm"] for p in r["left_behind"]]'
}

# escape DIRECTORY: what a job does to leave its v2 group for another one of the same tree.
case_moving_to_another_group_of_the_tree_does_not_help() {
  is_root || return 0
  local where
  for where in '..' '../other' '../../other' '../../other/deeper'; do
    rm -f pid moved
    run 0 -- sh -c '
      root=$(awk "\$3 == \"cgroup2\" { print \$2; exit }" /proc/mounts)
      group=$root$(grep ^0:: /proc/self/cgroup | cut -d: -f3-)
      sleep 1000 & echo $! >pid
      mkdir -p "$group/$1" 2>/dev/null
      echo $(cat pid) >"$group/$1/cgroup.procs" && touch moved
      exit 0' sh "$where"
    gone "$(<pid)" || wrong "$(<pid) lives after moving to $where"
    becomes_true eval '[[ -z $(groups_left) ]]'
  done
}

case_a_job_that_makes_groups_of_its_own() {
  is_root || return 0
  run 0 -- sh -c '
    root=$(awk "\$3 == \"cgroup2\" { print \$2; exit }" /proc/mounts)
    group=$root$(grep ^0:: /proc/self/cgroup | cut -d: -f3-)
    mkdir -p "$group/a/b/c"; sleep 1000 & echo $! >"$group/a/b/c/cgroup.procs"; echo $! >pid'
  gone "$(<pid)" || wrong "$(<pid) lives"
  becomes_true eval '[[ -z $(groups_left) ]]'
}

case_on_time_out_a_job_may_clean_up() {
  run 124 --timeout 300ms --kill-after 30s --report report.json -- \
    sh -c 'trap "echo cleaned up; exit 7" TERM; sleep 1000 & wait'
  same 'cleaned up' "$(<out)"
  told report.json 'r["outcome"] == "timed_out"' 'r["exit_code"] == 7'
}

case_on_time_out_a_job_that_will_not_end_is_killed() {
  run 124 --timeout 100ms --kill-after 100ms --report report.json -- \
    sh -c 'trap "" TERM; while :; do sleep 0.01; done'
  told report.json 'r["signal"] == "KILL"' 'r["outcome"] == "timed_out"'
  run 124 --timeout 100ms --kill-after 0s -- sh -c 'trap "" TERM; while :; do sleep 0.01; done'
}

case_on_time_out_a_stopped_job_ends() {
  run 124 --timeout 100ms -- sh -c 'kill -STOP $$'
}

# --- signals

# started STATUS-FILE COMMAND...: in the background, in a process group of its own with no signal
# ignored; $! is its pid. It is ready when the file `ready` exists.
started() {
  "$python" -c '
import os, signal, sys
os.setpgid(0, 0)
for number in (signal.SIGINT, signal.SIGQUIT): signal.signal(number, signal.SIG_DFL)
os.execv(sys.argv[1], sys.argv[1:])' "$plimsoll" "$@" >out 2>err &
}

case_signals_go_on_to_the_command() {
  local signal pid
  for signal in TERM INT HUP QUIT USR1 USR2; do
    rm -f ready
    started run -q -- sh -c 'trap "echo got it; exit 9" '"$signal"'; touch ready; while :; do sleep 0.01; done'
    pid=$!
    becomes_true test -e ready
    kill -"$signal" "$pid"
    wait "$pid"
    same 9 $? "$signal"
    same 'got it' "$(<out)" "$signal"
  done
}

case_a_signal_without_a_handler_ends_it() {
  local pid
  started run -- sh -c 'touch ready; exec sleep 1000'
  pid=$!
  becomes_true test -e ready
  kill -TERM "$pid"
  wait "$pid"
  same 143 $?
}

case_a_signal_arrives_once() {
  local pid
  started run -q -- "$python" -c '
import signal, time
got = []
signal.signal(signal.SIGUSR1, lambda *_: got.append(1))
open("ready", "w").close()
end = time.time() + 60
while not got and time.time() < end: time.sleep(0.01)
time.sleep(0.3)
print(len(got))'
  pid=$!
  becomes_true test -e ready
  kill -USR1 "$pid"
  wait "$pid"
  same 1 "$(<out)"
}

# A shell script that cleans up with `kill 0` signals plimsoll as well, which is in its group.
case_a_signal_of_the_jobs_own_does_not_come_back() {
  local pid
  started run -q -- "$python" -c '
import os, signal, time
got = []
signal.signal(signal.SIGTERM, lambda *_: got.append(1))
os.kill(0, signal.SIGTERM)
time.sleep(0.5)
print(len(got))'
  pid=$!
  wait "$pid"
  same 0 $?
  same 1 "$(<out)"
}

case_nohup() {
  local pid
  nohup "$plimsoll" run -q -- sh -c 'kill -HUP $$; touch ready; sleep 0.3; echo alive' >out 2>err &
  pid=$!
  becomes_true test -e ready
  kill -HUP "$pid"
  wait "$pid"
  same 0 $?
  same alive "$(<out)"
}

case_in_the_background() {
  "$plimsoll" run -q -- sh -c 'cat; exit 6' >out 2>err &
  wait $!
  same 6 $?
}

# --- together

case_many_at_once_below_one_new_group() {
  local i pids=() pid
  for i in 1 2 3; do
    pids=()
    for _ in 1 2 3 4 5 6 7 8; do
      "$plimsoll" run --cgroup "$PLIMSOLL_CGROUP/new/deeper" -q -- true 2>>errors &
      pids+=($!)
    done
    for pid in "${pids[@]}"; do
      wait "$pid"
      same 0 $? "round $i"
    done
    remove_new_group
  done
  [[ ! -s errors ]] || wrong "$(sort errors | uniq -c)"
}

remove_new_group() {
  local root
  for root in $(hierarchies_used); do
    rmdir "$root$PLIMSOLL_CGROUP/new/deeper" "$root$PLIMSOLL_CGROUP/new" 2>/dev/null
  done
}

case_one_within_another() {
  run 7 -- "$plimsoll" run -q -- "$plimsoll" run -q --pids-max 20 -- sh -c 'exit 7'
  run 124 --timeout 300ms -- "$plimsoll" run -q -- sh -c 'sleep 1000 & wait'
  becomes_true eval '[[ -z $(groups_left) ]]'
}

case_without_a_named_group() {
  is_root || return 0
  (
    unset PLIMSOLL_CGROUP
    run 7 -- sh -c 'cat /proc/self/cgroup; exit 7'
    has out plimsoll-
  )
}

case_jobserver_of_make() {
  type -P make >/dev/null || return 0
  printf 'all:\n\t+%s run -q -- $(MAKE) -f inner.mk\n' "$plimsoll" >Makefile
  printf 'all: a b c\na b c:\n\t@echo made $@\n' >inner.mk
  gives 0 make -j2
  same 3 "$(grep -c ^made out)"
  lacks err jobserver
}

case_nothing_is_left() {
  becomes_true nothing_left || wrong "left: $(groups_left) $(processes_left)"
}

run_cases "${1:-}"

#!/bin/bash
# The wall at the line: where it stands, that it never stands without a watcher, and whose limit it
# was when the kernel killed somebody.
# program: released
# shellcheck disable=SC2016,SC2317 # dollars for the shells that are run; called by name
set -u
source "$(dirname "$0")/cases.bash"

readonly mib=$((1 << 20))

# pool_in CONTROLLER: the directory of the run's pool.
pool_in() { echo "$(mount_of "$1")$PLIMSOLL_CGROUP"/plimsoll-*/pool; }

v2_pool() {
  local root
  root=$(awk '$3 == "cgroup2" { print $2; exit }' /proc/mounts)
  echo "$root$PLIMSOLL_CGROUP"/plimsoll-*/pool
}

is_frozen() { grep -q '^frozen 1' "$(v2_pool)/cgroup.events"; }
job_is_frozen() { grep -q '^frozen 1' "$(v2_pool)/job-1/cgroup.events"; }
is_thawed() { grep -q '^frozen 0' "$(v2_pool)/cgroup.events"; }

# The limit that throttles, or on v1 the one that kills.
throttle() { cat "$(pool_in memory)/$(if on_v1 memory; then echo memory.limit_in_bytes; else echo memory.high; fi)"; }
throttle_is() { [[ $(throttle) == "$1" ]]; }
# set_limit GROUP BYTES: of a group in the hierarchy of the memory controller.
set_limit() { echo "$2" >"$1/$(if on_v1 memory; then echo memory.limit_in_bytes; else echo memory.max; fi)"; }

# start_batch OPTION...: with the jobs in jobs.txt; waits until the supervisor is there.
start_batch() {
  "$plimsoll" batch --cores 8 --report report "$@" jobs.txt >batch.out 2>batch.err &
  guardian=$!
  becomes_true eval '[[ $(supervisor_of '$guardian') ]]'
  supervisor=$(supervisor_of $guardian)
}

# ends STATUS: the batch does; its reports are then in job.json (the first job) and run.json.
ends() {
  local status=0
  wait $guardian || status=$?
  same "$1" $status "exit status, with $(head -c 1000 batch.err)"
  head -n 1 report >job.json
  tail -n 1 report >run.json
}

# Ticks until there is a file `stop`.
ticker='while [ ! -e stop ]; do echo >>ticks; sleep 0.02; done'
ticks() { stat -c %s ticks; }
ticks_go_on() { local before; before=$(ticks) && sleep 0.2 && (($(ticks) > before)); }

# A job that takes so many MiB at once, when it may.
taker() { echo "while [ ! -e go ]; do sleep 0.02; done; exec $python -c 'import time; b = b\"x\" * ($1 << 20); time.sleep(1000)'"; }

case_it_stands_at_the_line_while_jobs_run() {
  echo "$ticker" >jobs.txt
  start_batch --line 512M
  becomes_true test -e ticks
  if on_v1 memory; then throttle_is $((768 * mib)) || wrong "limit $(throttle)"; else
    throttle_is $((512 * mib)) || wrong "high $(throttle)"
    same $((576 * mib)) "$(cat "$(pool_in memory)/memory.max")" 'memory.max'
    same 0 "$(cat "$(pool_in memory)/memory.oom.group")" 'memory.oom.group of the pool'
  fi
  # Who watches is not made to give memory back, nor killed for it.
  if is_root && ! is_sanitized; then # who locks nothing, for its shadow memory
    becomes_true eval '(($(awk '\''/^VmLck/ { print $2 }'\'' /proc/$supervisor/status) > 0))'
  fi
  if (echo -1 >/proc/self/oom_score_adj) 2>/dev/null; then
    becomes_true eval '(($(cat /proc/$supervisor/oom_score_adj) < 0))'
  fi
  gives 0 "$plimsoll" ctl line 640M
  becomes_true throttle_is $((on_v1_line + 640 * mib))
  gives 0 "$plimsoll" ctl line 256M
  if on_v1 memory; then becomes_true throttle_is $((512 * mib)); else becomes_true throttle_is $((256 * mib)); fi
  touch stop
  ends 0
  told run.json "r['wall']['stalls'] >= 0" "r['wall']['stalled_ns'] >= 0" "r['wall']['max_bytes'] > 256 << 20"
}

case_a_stopped_supervisor_has_its_pool_frozen() {
  echo "$ticker" >jobs.txt
  start_batch --line 512M
  becomes_true test -e ticks
  kill -STOP "$supervisor"
  becomes_true is_frozen
  on_v1 memory || becomes_true throttle_is max
  local before
  before=$(ticks)
  sleep 1.2 # a shorter stall is in the report alone
  same "$before" "$(ticks)" 'ticks of a frozen pool'
  kill -CONT "$supervisor"
  becomes_true is_thawed
  on_v1 memory || becomes_true throttle_is $((512 * mib))
  becomes_true ticks_go_on
  touch stop
  ends 0
  has batch.err 'its jobs were paused meanwhile'
  told run.json "r['wall']['stalls'] >= 1" "r['wall']['stalled_ns'] > 1e9"
  told job.json "r['times']['paused_ns'] > 1e9" "r['outcome'] == 'exited'"
}

case_time_in_which_the_guardian_held_the_pool_is_no_jobs_time() {
  echo "$ticker" >jobs.txt
  start_batch --line 512M --timeout "$((patience / 10))s"
  becomes_true test -e ticks
  kill -STOP "$supervisor"
  becomes_true is_frozen
  sleep "$((patience / 10 + 1))"
  touch stop
  kill -CONT "$supervisor"
  ends 0
  told job.json "r['outcome'] == 'exited'" "r['times']['wall_ns'] > $((patience / 10)) * 1e9"
}

case_what_the_user_paused_stays_paused() {
  echo "$ticker" >jobs.txt
  start_batch --line 512M
  becomes_true test -e ticks
  gives 0 "$plimsoll" ctl pause 1
  local before
  becomes_true job_is_frozen
  before=$(ticks)
  kill -STOP "$supervisor"
  becomes_true is_frozen
  kill -CONT "$supervisor"
  becomes_true eval '[[ $(<"$(v2_pool)/cgroup.freeze") == 0 ]]'
  sleep 0.3
  same "$before" "$(ticks)" 'ticks of a job that the user has paused'
  gives 0 "$plimsoll" ctl resume 1
  becomes_true ticks_go_on
  touch stop
  ends 0
}

# quota: the job's own, in us of each 100 ms; -1 or max: none.
quota() {
  local group
  group=$(echo "$(pool_in cpu)"/job-*)
  if on_v1 cpu; then cat "$group/cpu.cfs_quota_us"; else cut -d ' ' -f 1 "$group/cpu.max"; fi
}
quota_is() { [[ $(quota) == "$1" ]]; }

# Whoever is throttled freezes late.
case_a_quota_is_lifted_as_long_as_its_job_is_paused() {
  local none=max
  if on_v1 cpu; then none=-1; fi
  printf '{"shell": "%s", "cpus": 0.5}\n' "$ticker" >jobs.txt
  start_batch --line 512M
  becomes_true test -e ticks
  same 50000 "$(quota)" 'quota of a job that runs'
  gives 0 "$plimsoll" ctl pause 1
  becomes_true quota_is $none || wrong "quota of a paused job: $(quota)"
  becomes_true eval '! ticks_go_on'
  gives 0 "$plimsoll" ctl resume 1
  becomes_true ticks_go_on
  becomes_true quota_is 50000 || wrong "quota of a job that goes on: $(quota)"
  touch stop
  ends 0
}

case_a_supervisor_killed_while_its_pool_is_held() {
  echo "$ticker" >jobs.txt
  start_batch --line 512M
  becomes_true test -e ticks
  kill -STOP "$supervisor"
  becomes_true is_frozen
  kill -KILL "$supervisor"
  wait $guardian
  same 125 $?
  becomes_true nothing_left
}

# What sleeps at the wall has nobody left who would relieve it.
case_killed_with_jobs_at_the_wall() {
  taker 400 >jobs.txt
  start_batch --line 64M --no-evict --no-pause
  becomes_true eval '[[ $(cat "$(v2_pool)"/job-*/cgroup.procs) ]]'
  kill -STOP "$supervisor"
  touch go
  kill -KILL "$supervisor"
  wait $guardian
  same 125 $?
  becomes_true nothing_left
}

case_ctrl_z_lifts_it() {
  echo "$ticker" >jobs.txt
  start_batch --line 512M
  becomes_true test -e ticks
  kill -TSTP $guardian
  becomes_true eval 'grep -q "^State:.T" /proc/'$guardian'/status'
  becomes_true is_frozen || wrong 'the pool is not frozen'
  on_v1 memory || throttle_is max || wrong "memory.high is $(throttle)"
  kill -CONT $guardian
  becomes_true is_thawed
  on_v1 memory || becomes_true throttle_is $((512 * mib))
  becomes_true ticks_go_on
  touch stop
  ends 0
}

case_its_own_limit() {
  taker 200 >jobs.txt
  touch go
  start_batch --line 512M --memory-max 50M
  ends 1
  told job.json "r['outcome'] == 'over_limit'" "r['signal'] == 'KILL'" "r['oom']['level'] == 'own'" \
    "r['oom']['limit_bytes'] == 50 << 20" "r['oom']['kills'] >= 1" "r['oom']['peak_bytes'] > 40 << 20" \
    "len(r['attempts']) == 1" "'memory limit of 50' in r['reason']"
}

# The kernel takes one process (v1), or the job whole (v2): nothing of it may live on.
case_the_pools_limit() {
  cat >take.sh <<END
while [ ! -e go ]; do sleep 0.02; done
$python -c 'import time; b = b"x" * (200 << 20); time.sleep(1000)' &
exec sleep 1000
END
  echo '{"argv": ["sh", "take.sh"], "restartable": false}' >jobs.txt
  start_batch --line 512M
  becomes_true eval '[[ $(cat "$(v2_pool)"/job-*/cgroup.procs) ]]'
  set_limit "$(pool_in memory)" $((50 * mib))
  touch go
  ends 1
  told job.json "r['outcome'] == 'machine_oom'" "r['oom']['level'] == 'pool'" \
    "r['oom']['limit_bytes'] == 50 << 20" "r['oom']['group'].endswith('/pool')" \
    "'all jobs together' in r['reason']" "r['attempts'][0]['oom']['level'] == 'pool'"
  told run.json "r['oom_kills'] >= 1"
}

case_a_limit_further_up() {
  echo '{"argv": ["sh", "take.sh"], "restartable": false}' >jobs.txt
  taker 200 >take.sh
  start_batch --line 512M
  becomes_true eval '[[ $(cat "$(v2_pool)"/job-*/cgroup.procs) ]]'
  local above
  above=$(mount_of memory)$PLIMSOLL_CGROUP
  set_limit "$above" $((80 * mib))
  touch go
  ends 1
  if on_v1 memory; then set_limit "$above" -1 2>/dev/null; else set_limit "$above" max 2>/dev/null; fi
  told job.json "r['outcome'] == 'machine_oom'" "r['oom']['level'] == 'ancestor'" \
    "r['oom']['limit_bytes'] == 80 << 20" "r['oom']['group'] == '$above'"
}

case_what_was_lost_runs_again() {
  taker 200 >take.sh
  echo '{"argv": ["sh", "again.sh"]}' >jobs.txt
  echo '[ $PLIMSOLL_ATTEMPT = 1 ] || exit 0; exec sh take.sh' >again.sh
  start_batch --line 512M
  becomes_true eval '[[ $(cat "$(v2_pool)"/job-*/cgroup.procs) ]]'
  set_limit "$(pool_in memory)" $((50 * mib))
  touch go
  ends 0
  told job.json "[a['outcome'] for a in r['attempts']] == ['machine_oom', 'exited']" \
    "r['attempts'][0]['oom']['level'] == 'pool'" "'oom' not in r"
}

# In a machine whose memory may run out: those of tests/vm.
case_the_whole_machine() {
  local total
  total=$(awk '/^MemTotal/ { print int($2 / 1024) }' /proc/meminfo)
  if ((total > 2048)) || on_v1 memory; then return; fi
  run 75 --report job.json -- "$python" -c '
held = []
while True: held.append(b"x" * (1 << 24))'
  told job.json "r['outcome'] == 'machine_oom'" "r['oom']['level'] == 'machine'" "r['signal'] == 'KILL'" \
    "'whole machine' in r['reason']"
}

case_children_do_not_inherit_the_protection() {
  echo 'cat /proc/self/oom_score_adj >score; until test -e go; do sleep 0.05; done' >jobs.txt
  start_batch --line 512M
  touch go
  ends 0
  same "$(cat /proc/self/oom_score_adj)" "$(<score)" 'oom_score_adj of a job'
}

case_nothing_is_left() { becomes_true nothing_left; }

on_v1_line=0
if on_v1 memory; then on_v1_line=$((256 * mib)); fi
run_cases "${1:-}"

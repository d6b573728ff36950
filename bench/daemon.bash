# What the daemon costs those who use it; sourced by bench/run.
# shellcheck shell=bash disable=SC2154 # variables of bench/run

daemon_worker=$PWD/build/tests/test_worker

# daemon_begin [OPTION...]: a daemon with a runner for $work/actions; its pid is in `daemon`.
daemon_begin() {
  mkdir -p "$work/actions"
  cat >"$work/runner.json" <<END
{"buildDirectoryPath": "$work/actions",
 "grpcServers": [{"listenPaths": ["$work/runner"], "authenticationPolicy": {"allow": {}}}]}
END
  rm -f "$work/runner"
  PLIMSOLL_RUNTIME_DIR=$work/runtime "$plimsoll" serve --metrics off --socket "$work/socket" \
    --runner-config "$work/runner.json" "$@" 2>"$work/daemon.log" &
  daemon=$!
  local i
  for ((i = 0; i < 300; i++)); do
    [[ ! -S $work/runner ]] || return 0
    sleep 0.1
  done
  cat "$work/daemon.log" >&2
  return 1
}

daemon_end() {
  kill "$daemon"
  wait "$daemon"
}

daemon_held_kb() {
  awk '/^VmRSS/ { print $2 }' "/proc/$(pgrep -P "$daemon" -x pl-supervisor)/status"
}

bench_daemon() {
  cmake --build build --target test_worker stream_bench >&2 || return
  daemon_begin || return
  local at_once count=${JOBS:-1000} before
  for at_once in 1 8 64; do
    echo "/bin/true, $at_once at once:"
    "$daemon_worker" "unix:$work/runner" load "$work/actions" "$at_once" "$count" -- /bin/true | sed 's/^/  /'
  done
  before=$(daemon_held_kb)
  "$daemon_worker" "unix:$work/runner" load "$work/actions" 8 $((count * 10)) -- /bin/true | sed 's/^/  /'
  echo "  the daemon held $before kB before, $(daemon_held_kb) kB after them"
  "$daemon_worker" "unix:$work/runner" cancel "$work/actions" $((count / 5))
  build/bench/stream_bench "$work/socket" 2>/dev/null || build/stream_bench "$work/socket"
  daemon_end
}

# burst_under NAME AT_ONCE [OPTION...]: what becomes of 64 actions of 150 MiB.
burst_under() {
  local name=$1 at_once=$2 kills
  shift 2
  daemon_begin "$@" || return
  kills=$(awk '$1 == "oom_kill" { print $2 }' /proc/vmstat)
  echo "$name, $at_once at once:"
  "$daemon_worker" "unix:$work/runner" load "$work/actions" "$at_once" 64 -- \
    "$PWD/build/tests/programs/hog" 150 200 exit | sed 's/^/  /'
  echo "  $(($(awk '$1 == "oom_kill" { print $2 }' /proc/vmstat) - kills)) killed by the kernel"
  daemon_end
}

# A burst of actions that together want ten times the memory of a machine of 1 GiB, in which this is
# to be run: ./dev vm --memory 1024 --timeout 1200 -- bench/run burst.
bench_burst() {
  burst_under 'governed' 64
  burst_under 'by hand' 4
  burst_under 'by hand' 2
}

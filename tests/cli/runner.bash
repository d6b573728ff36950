# A runner of plimsolld for cases, and the worker of tests/worker that calls it.
# shellcheck shell=bash

daemon_program=$(dirname "$plimsoll")/plimsolld
worker_program=$(dirname "$plimsoll")/tests/test_worker
programs=$(dirname "$plimsoll")/tests/programs

# serve [JSON-FIELDS [OPTION...]]: a runner for ./build, with its log in ./log; ends with the case.
# It listens where $listen says, or at ./runner.
serve() {
  local more=${1:-} where=${listen:-\"listenPaths\": [\"$PWD/runner\"]}
  (($# == 0)) || shift
  mkdir -p build
  cat >runner.json <<END
{"buildDirectoryPath": "$PWD/build", "sampleCgroupResourceUsage": true,
 "grpcServers": [{$where, "authenticationPolicy": {"allow": {}}}]${more:+, $more}}
END
  "$daemon_program" --runner-config runner.json "$@" >>log 2>&1 &
  daemon=$!
  trap stop EXIT
  becomes_true grep -q ' ready' log || { cat log; return 1; }
}

stop() {
  kill -INT "$daemon" 2>/dev/null
  wait "$daemon" 2>/dev/null
  becomes_true nothing_left || { wrong "left behind: $(groups_left)"; exit 1; }
}

lay_out() { mkdir -p "build/$1/root" "build/$1/tmp" "build/$1/server_logs"; }

call() { "$worker_program" "unix:$PWD/runner" "$@"; }

# act ID [FIELD=VALUE...] -- ARGUMENT...: an action in a directory of its own; its answer is in ID.json.
act() {
  lay_out "$1"
  call run "id=$1" "${@:2}" >"$1.json"
}

# sh ID TEXT [FIELD=VALUE...]
sh_act() { act "$1" env.PATH=/usr/bin:/bin "${@:3}" -- /bin/sh -c "$2"; }

#!/bin/bash
# The daemon before a client that is not gRPC's C core: grpcurl, of gRPC for Go, which knows our
# services by reflection alone. Where Go is at hand. Last line: `N passed, N failed`.
set -uo pipefail
source "$(dirname "$(realpath "$0")")/cases.bash"

peers=$(dirname "$(realpath "$0")")/../peers
grpcurl=$(dirname "$plimsoll")/tests/clients/grpcurl

type -P go >/dev/null || skip_all 'no Go for grpcurl'
# What can't be had is its modules; its source is not ours.
[[ -x $grpcurl ]] ||
  go build -C "$peers" -buildvcs=false -o "$grpcurl" github.com/fullstorydev/grpcurl/cmd/grpcurl >"$grpcurl.log" 2>&1 ||
  skip_all "grpcurl can't be built: $(tail -n 1 "$grpcurl.log")"

# serve [TOML]: a daemon at ./s that is ready.
serve() {
  printf 'metrics.listen = "off"\n%s\n' "${1:-}" >p.toml
  "$plimsoll" serve --config p.toml --socket "$PWD/s" "${@:2}" >daemon.log 2>&1 &
  daemon=$!
  becomes_true grep -q ready daemon.log || cat daemon.log
}

over() {
  kill -TERM "$daemon"
  wait "$daemon"
  same 0 $? 'the daemon'
  becomes_true nothing_left
}

# call OPTION... SOCKET WORD...
call() {
  local words=() word
  for word; do
    [[ ! -S $word ]] || word=unix:$PWD/$word
    words+=("$word")
  done
  timeout 60 "$grpcurl" -plaintext "${words[@]}"
}

case_services_are_found_by_reflection() {
  serve
  gives 0 call s list
  for service in plimsoll.v1.Governor plimsoll.v1.Jobs grpc.health.v1.Health; do has out "$service"; done
  gives 0 call s describe plimsoll.v1.Jobs.Run
  has out 'returns ( stream .plimsoll.v1.JobEvent )'
  over
}

case_health_is_told() {
  serve
  gives 0 call -d '{}' s grpc.health.v1.Health/Check
  has out '"status": "SERVING"'
  gives 0 call -d '{"service": "plimsoll.v1.Governor"}' s grpc.health.v1.Health/Check
  has out '"status": "SERVING"'
  # While what runs comes to its end, nothing more is taken.
  call -d '{"job": {"argv": ["/bin/sh", "-c", "until [ -e '"$PWD"'/go ]; do sleep 0.05; done"]}}' \
    s plimsoll.v1.Jobs/Run >job 2>&1 &
  local job=$!
  becomes_true grep -q JOB_STATE_RUNNING job
  call -d '{}' s grpc.health.v1.Health/Watch >health 2>&1 &
  local watcher=$!
  becomes_true grep -q '"SERVING"' health
  kill -TERM "$daemon"
  becomes_true grep -q NOT_SERVING health
  touch go
  wait "$job"
  same 0 $? 'what runs'
  wait "$daemon" "$watcher"
  becomes_true nothing_left
}

case_a_job_runs() {
  serve
  gives 0 call -d '{"job": {"argv": ["/bin/echo", "hello"]}}' s plimsoll.v1.Jobs/Run
  has out "\"data\": \"$(echo hello | base64)\""
  has out '"outcome": "exited"'
  # NotFound is 5.
  gives 69 call -d '{"job": 77}' s plimsoll.v1.Jobs/Explain
  has err 'NotFound'
  over
}

case_the_governors_stream() {
  serve
  gives 0 call -d '{"enter": {"id": "a", "class": "cc"}} {"leave": {"id": "a", "end": "END_WITHDRAWN"}}' \
    s plimsoll.v1.Governor/Govern
  has out '"id": "a"'
  over
}

case_the_runner() {
  mkdir -p build/1/{root,tmp,server_logs}
  cat >runner.json <<END
{"buildDirectoryPath": "$PWD/build",
 "grpcServers": [{"listenPaths": ["$PWD/runner"], "authenticationPolicy": {"allow": {}}}]}
END
  serve '' --runner-config "$PWD/runner.json"
  becomes_true test -S runner
  local proto=$peers/../../src/daemon/proto
  # By the files, as a client has it that does not ask for reflection.
  runner() { call -import-path "$proto" -proto buildbarn/runner/runner.proto \
    -proto buildbarn/resourceusage/resourceusage.proto "$@"; }
  gives 0 runner -d '{}' runner buildbarn.runner.Runner/CheckReadiness
  gives 0 runner -d '{"arguments": ["/bin/sh", "-c", "echo out; exit 3"], "stdout_path": "1/stdout",
    "stderr_path": "1/stderr", "input_root_directory": "1/root", "temporary_directory": "1/tmp",
    "server_logs_directory": "1/server_logs"}' runner buildbarn.runner.Runner/Run
  has out '"exitCode": "3"'
  has out 'type.googleapis.com/buildbarn.resourceusage.POSIXResourceUsage'
  same out "$(cat build/1/stdout)"
  over
}

# certificate NAME [ISSUER]: NAME.pem and NAME.key for localhost, signed by the issuer or by itself.
certificate() {
  openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 -subj "/CN=$1" \
    -addext 'subjectAltName=DNS:localhost,IP:127.0.0.1' ${2:+-CA "$2.pem" -CAkey "$2.key"} \
    -keyout "$1.key" -out "$1.pem" 2>openssl.log || wrong "no certificate: $(cat openssl.log)"
}

case_another_machine_needs_a_certificate() {
  local port
  port=$(free_port)
  certificate ca
  certificate server ca
  certificate client ca
  certificate stranger
  serve "[listen]
tcp = \"127.0.0.1:$port\"
tls_certificate = \"$PWD/server.pem\"
tls_key = \"$PWD/server.key\"
tls_client_ca = \"$PWD/ca.pem\""
  remote() { timeout 60 "$grpcurl" -cacert ca.pem "$@"; }
  gives 0 remote -cert client.pem -key client.key "localhost:$port" list
  has out plimsoll.v1.Governor
  gives 0 remote -cert client.pem -key client.key -d '{"enter": {"id": "a"}} {"leave": {"id": "a", "end": "END_WITHDRAWN"}}' \
    "localhost:$port" plimsoll.v1.Governor/Govern
  # It is nobody here: no places, no jobs.
  gives 0 remote -cert client.pem -key client.key -d '{"enter": {"id": "a", "place": {"pid": '$$'}}}' \
    "localhost:$port" plimsoll.v1.Governor/Govern
  has out '"code": 7'
  gives 71 remote -cert client.pem -key client.key -d '{"job": {"argv": ["/bin/true"]}}' \
    "localhost:$port" plimsoll.v1.Jobs/Run
  has err PermissionDenied
  # It tries again until it gives up.
  gives 1 remote -connect-timeout 2 "localhost:$port" list
  gives 1 remote -connect-timeout 2 -cert stranger.pem -key stranger.key "localhost:$port" list
  gives 1 timeout 60 "$grpcurl" -connect-timeout 2 -plaintext "localhost:$port" list
  over
}

run_cases "${1:-}"

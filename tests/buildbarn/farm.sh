#!/bin/bash
# Actions of a Remote Execution farm of one machine: Buildbarn's own worker and scheduler, with plimsolld
# in place of bb_runner. The store and the client are ours. Where Go and the modules can be had.
# Usage: tests/buildbarn/farm.sh [CASE]   Last line: `N passed, N failed`.
set -uo pipefail
here=$(dirname "$(realpath "$0")")
source "$here/../cli/cases.bash"

farm=$(dirname "$plimsoll")/tests/buildbarn
programs=$(dirname "$plimsoll")/tests/programs

type -P go >/dev/null || skip_all 'no Go for bb_worker and bb_scheduler'
# What can't be had is their modules; one that does not compile is a failure.
mkdir -p "$farm"
(cd "$here" && go list -deps tool ./store ./client) >/dev/null 2>"$farm/log" ||
  skip_all "Buildbarn's modules can't be had: $(tail -n 1 "$farm/log")"
"$here/build" "$farm" || { echo 'FAILED: the farm does not build' && echo '0 passed, 1 failed' && exit 1; }

# start NAME COMMAND...: one process of the farm; its log is NAME.log.
declare -A pid=()
start() {
  "${@:2}" >"$1.log" 2>&1 &
  pid[$1]=$!
}

# stand [OPTION...]: a farm in this directory, with these options for plimsolld; ends with the case.
stand() {
  mkdir -p build cache
  trap fall EXIT
  jsonnet_files
  start store "$farm/store" store.sock
  start scheduler "$farm/bb_scheduler" scheduler.jsonnet
  start runner "$(dirname "$plimsoll")/plimsolld" --runner-config runner.jsonnet --metrics off \
    --socket "$PWD/own.sock" "$@"
  becomes_true test -S store.sock -a -S clients.sock -a -S workers.sock -a -S runner.sock ||
    { tail -n 5 ./*.log; return 1; }
  start worker "$farm/bb_worker" worker.jsonnet
  # The scheduler refuses what it knows no worker for.
  act ready -no-cache -retries 60 -- true
  told ready.json 'r["code"] == "OK"'
}

fall() {
  local name
  for name in worker runner scheduler store; do
    kill -TERM "${pid[$name]}" 2>/dev/null
    [[ $name != runner ]] || kill -INT "${pid[$name]}" 2>/dev/null
    wait "${pid[$name]}" 2>/dev/null
  done
  nothing_left || { wrong "left behind: $(groups_left)"; exit 1; }
}

# The configurations of docs/buildbarn.md, with as many actions at once as eight.
jsonnet_files() {
  cat >common.libsonnet <<END
{
  yes: { allow: {} },
  at(name): { address: 'unix:$PWD/' + name + '.sock' },
  on(name): [{ listenPaths: ['$PWD/' + name + '.sock'], authenticationPolicy: { allow: {} } }],
}
END
  cat >scheduler.jsonnet <<'END'
local c = import 'common.libsonnet';
{
  clientGrpcServers: c.on('clients'),
  workerGrpcServers: c.on('workers'),
  contentAddressableStorage: { grpc: { client: c.at('store') } },
  maximumMessageSizeBytes: 2097152,
  platformQueueWithNoWorkersTimeout: '900s',
  executeAuthorizer: c.yes,
  modifyDrainsAuthorizer: c.yes,
  killOperationsAuthorizer: c.yes,
  synchronizeAuthorizer: c.yes,
  actionRouter: { simple: {
    platformKeyExtractor: { action: {} },
    invocationKeyExtractors: [{ toolInvocationId: {} }],
    initialSizeClassAnalyzer: { defaultExecutionTimeout: '600s', maximumExecutionTimeout: '600s' },
  } },
}
END
  cat >worker.jsonnet <<END
local c = import 'common.libsonnet';
local store = { grpc: { client: c.at('store') } };
{
  blobstore: { contentAddressableStorage: store, actionCache: store },
  maximumMessageSizeBytes: 2097152,
  scheduler: c.at('workers'),
  inputDownloadConcurrency: 10,
  outputUploadConcurrency: 10,
  buildDirectories: [{
    native: {
      buildDirectoryPath: '$PWD/build',
      cacheDirectoryPath: '$PWD/cache',
      maximumCacheFileCount: 1000,
      maximumCacheSizeBytes: 100000000,
      cacheReplacementPolicy: 'LEAST_RECENTLY_USED',
    },
    runners: [{ endpoint: c.at('runner'), concurrency: 8, platform: {}, workerId: { host: 'test' } }],
  }],
}
END
  cat >runner.jsonnet <<END
{
  buildDirectoryPath: '$PWD/build',
  grpcServers: [{ listenPaths: ['$PWD/runner.sock'], authenticationPolicy: { allow: {} } }],
  sampleCgroupResourceUsage: true,
}
END
}

# act NAME OPTION... -- ARGUMENT...: what became of the action is in NAME.json.
act() { "$farm/client" store.sock clients.sock -env PATH=/usr/bin:/bin "${@:2}" >"$1.json" 2>"$1.err" || wrong "$(<"$1.err")"; }

sources() {
  cat >greet.h <<'END'
#include <string>
std::string greeting(const std::string& who);
END
  printf '#include "greet.h"\nstd::string greeting(const std::string& who) { return "hello, " + who; }\n' >greet.cc
  printf '#include <iostream>\n#include "greet.h"\nint main() { std::cout << greeting("farm") << "\\n"; }\n' >main.cc
}

case_compiles_and_links_far_away() {
  stand || return
  sources
  mkdir far
  act greet -input greet.h -input greet.cc -output greet.o -download far -- g++ -O1 -c greet.cc -o greet.o
  act main -input greet.h -input main.cc -output main.o -download far -- g++ -O1 -c main.cc -o main.o
  for name in greet main; do
    told $name.json 'r["code"] == "OK"' 'r["exit_code"] == 0' 'not r["cached"]' 'r["stderr"] == ""' \
      'r["usage"][0] == "buildbarn.resourceusage.POSIXResourceUsage"' \
      'r["usage"][1] == "buildbarn.resourceusage.CgroupResourceUsage"' \
      'r["server_logs"] == ["plimsoll.json", "plimsoll.txt"]'
    g++ -O1 -c $name.cc -o $name.o
    cmp $name.o far/$name.o || wrong "$name.o is not what is compiled here"
  done
  act link -input far/greet.o -input far/main.o -output hello -download far -- g++ greet.o main.o -o hello
  told link.json 'r["exit_code"] == 0'
  same 'hello, farm' "$(far/hello)"
  act again -input greet.h -input greet.cc -output greet.o -download far -- g++ -O1 -c greet.cc -o greet.o
  told again.json 'r["cached"]'
}

case_tells_failures_as_they_are() {
  stand || return
  echo 'int main() { return nothing; }' >bad.cc
  act bad -input bad.cc -- g++ -c bad.cc
  told bad.json 'r["code"] == "OK"' 'r["exit_code"] == 1' '"nothing" in r["stderr"]'
  act status -- sh -c 'echo out; exit 42'
  told status.json 'r["exit_code"] == 42' 'r["stdout"] == "out\n"'
  act signal -- sh -c 'kill -SEGV $$'
  told signal.json 'r["code"] == "OK"' 'r["exit_code"] == -1'
  act absent -- no-such-program
  told absent.json 'r["code"] == "InvalidArgument"' '"no-such-program" in r["message"]'
}

# The worker answers without waiting for the runner; soon after, nothing of the action is left to write.
case_a_time_out_leaves_nothing() {
  stand || return
  act late -timeout 1s -- sh -c 'setsid sh -c "while sleep 0.05; do echo x >>$0; done" "$0" & sleep 1000' "$PWD/written"
  told late.json 'r["code"] == "DeadlineExceeded"'
  [[ -s written ]] || wrong 'it never wrote'
  becomes_true eval '[[ $(groups_left) != *job-* ]]'
  local size
  size=$(stat -c %s written)
  sleep 0.5
  same "$size" "$(stat -c %s written)" 'written after its end'
}

case_many_at_once() {
  stand || return
  sources
  local i clients=()
  for i in {1..32}; do
    act "many$i" -salt "$i" -input greet.h -input greet.cc -output greet.o -download . -- g++ -c greet.cc -o greet.o &
    clients+=($!)
  done
  wait "${clients[@]}"
  for i in {1..32}; do told "many$i.json" 'r["code"] == "OK"' 'r["exit_code"] == 0'; done
}

# Eight at once by the worker's configuration, of which two fit: none fails for want of memory.
case_more_than_fits() {
  stand --line 320M || return
  local i clients=()
  for i in {1..8}; do
    act "hog$i" -no-cache -salt "$i" -retries 20 -- "$programs/hog" 110 200 exit &
    clients+=($!)
  done
  wait "${clients[@]}"
  for i in {1..8}; do told "hog$i.json" 'r["code"] == "OK"' 'r["exit_code"] == 0'; done
  lacks runner.log 'OOM-killed'
}

case_past_the_line_names_the_bytes() {
  stand --line 96M || return
  act huge -no-cache -- "$programs/hog" 300 400
  told huge.json 'r["code"] == "Unavailable"' '"MiB" in r["message"]' 'r["server_logs"]'
}

case_a_worker_killed_in_mid_action() {
  stand || return
  "$farm/client" store.sock clients.sock -no-cache -env PATH=/usr/bin:/bin -- sleep 1000 >lost.json 2>&1 &
  local client=$!
  becomes_true eval '[[ $(groups_left) == *job-* ]]'
  kill -KILL "${pid[worker]}"
  becomes_true eval '[[ $(groups_left) != *job-* ]]'
  kill "$client"
  wait "$client" "${pid[worker]}" 2>/dev/null
  # The next worker finds the runner as it should be.
  start worker "$farm/bb_worker" worker.jsonnet
  act next -no-cache -- echo again
  told next.json 'r["stdout"] == "again\n"'
}

run_cases "$@"

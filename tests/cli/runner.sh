#!/bin/bash
# The runner of plimsolld as a worker of Buildbarn's sees it: tests/worker is that worker.
# long: files that do not answer are waited for for half a minute
# Usage: tests/cli/runner.sh [CASE]
source "$(dirname "$0")/cases.bash"
source "$(dirname "$0")/runner.bash"

case_runs_an_action() {
  serve
  sh_act 1 'echo out; echo err >&2; pwd; echo "[$A]"; exit 3' env.A=x
  told 1.json 'r["code"] == 0' 'r["exit_code"] == 3' 'len(r["usage"]) == 2' \
    'r["usage"][0]["@type"].endswith("/buildbarn.resourceusage.POSIXResourceUsage")' \
    'r["usage"][1]["@type"].endswith("/buildbarn.resourceusage.CgroupResourceUsage")' \
    'r["usage"][0]["termination_signal"] == ""'
  same "out $PWD/build/1/root [x]" "$(echo $(cat build/1/stdout))"
  same err "$(cat build/1/stderr)"
  told build/1/server_logs/plimsoll.json 'r["outcome"] == "exited"' 'r["exit_code"] == 3'
  has build/1/server_logs/plimsoll.txt 'started'
  has log 'action 1/root: exit code 3'
  nothing_left || [[ $(groups_left | grep -c job-) == 0 ]] || wrong "$(groups_left)"
}

case_the_environment_is_exactly_what_was_sent() {
  serve
  act 1 env.B=2 env.A=1 -- /usr/bin/env
  same 'A=1 B=2' "$(echo $(sort build/1/stdout))"
  act 2 -- /usr/bin/env
  empty build/2/stdout
}

case_signals_are_minus_one() {
  serve
  sh_act 1 'kill -SEGV $$'
  told 1.json 'r["exit_code"] == -1' 'r["usage"][0]["termination_signal"] == "SEGV"'
  sh_act 2 'sh -c "kill -KILL \$\$"; exit $?'
  told 2.json 'r["exit_code"] == 137' 'r["usage"][0]["termination_signal"] == ""'
  sh_act 3 'kill -KILL 0' # its own session's
  told 3.json 'r["exit_code"] == -1'
  sh_act 4 'exit 255'
  told 4.json 'r["exit_code"] == 255'
}

# Rows of the table of errors, as a real exec has them.
case_errors_have_their_codes() {
  serve
  local start='r["message"].startswith("Failed to start process: ")'
  mkdir -p build/1/root
  printf 'no interpreter\n' >text && chmod 755 text
  printf '#!/no/such/interpreter\n' >script && chmod 755 script
  printf 'x' >plain && chmod 644 plain
  local long
  long=$(printf '%*s' 300 '' | tr ' ' x)
  while read -r id code program; do
    act "$id" -- "$program"
    told "$id.json" "r['code'] == $code" "$start"
    [[ -e build/$id/stdout ]] || wrong "no log for $program"
  done <<END
a1 3 /no/such/program
a2 3 $PWD/build
a3 3 $PWD/text
a4 3 $PWD/script
a5 3 $PWD/plain
a6 13 $PWD/plain/x
a7 13 $PWD/$long
a8 3 ./not-there
END
  act b1 working_directory=gone -- /bin/true
  told b1.json 'r["code"] == 3' "$start"
  act b2 -- /bin/true 'a%00b'
  told b2.json 'r["code"] == 13' "$start"
  act b3 -- no-such-tool
  told b3.json 'r["code"] == 3' \
    "r['message'] == 'Cannot find executable \"no-such-tool\" in search paths \"\"'"
  act b4
  told b4.json 'r["code"] == 3'
  act b5 'input_root_directory=b5/%00' -- /bin/true
  told b5.json 'r["code"] == 3'
  act b6 stdout_path=../x -- /bin/true
  told b6.json 'r["code"] == 3' \
    "r['message'] == 'Failed to open stdout path \"../x\": Path resolves to a location outside the build directory'"
  act b7 -- /bin/true && act b7 -- /bin/true
  told b7.json 'r["code"] == 2' "r['message'].startswith('Failed to open stdout path \"b7/stdout\"')"
  act b8 fill=200000 -- /bin/true # more than an exec takes in one word
  told b8.json 'r["code"] == 13' "$start"
  act b9 fill=20000000 -- /bin/true # more than a message may have
  told b9.json 'r["code"] == 8'
}

case_programs_are_found_in_the_actions_path() {
  serve
  lay_out 1
  mkdir build/1/root/bin
  printf '#!/bin/sh\necho "$0"\n' >build/1/root/bin/tool
  chmod 755 build/1/root/bin/tool
  call run id=1 env.PATH=nowhere:bin:/bin -- tool >1.json
  told 1.json 'r["exit_code"] == 0'
  same bin/tool "$(cat build/1/stdout)"
}

case_readiness() {
  serve "\"readinessCheckingPathnames\": [\"$PWD/needed\"]"
  lay_out 1
  call check 1 >1.json
  told 1.json 'r["code"] == 14' "r['message'].startswith('Path \"$PWD/needed\": ')"
  touch needed
  call check 1 >2.json
  told 2.json 'r["code"] == 0'
  call check 1/gone >3.json
  told 3.json 'r["code"] == 13' \
    "r['message'].startswith('Failed to check existence of path \"1/gone\" in build directory: ')"
  sh_act 4 "rm $PWD/needed; exit 1"
  told 4.json 'r["code"] == 14' \
    "r['message'].startswith('One or more required files disappeared during execution: Path \"')"
  [[ -s build/4/server_logs/plimsoll.json ]] || wrong 'no report'
  sh_act 5 'exit 0'
  told 5.json 'r["code"] == 0'
}

case_nothing_of_an_action_outlives_its_answer() {
  serve
  sh_act 1 "setsid sleep 1000 >/dev/null 2>&1 & echo \$! >$PWD/pid; exit 0"
  told 1.json 'r["exit_code"] == 0'
  gone "$(cat pid)" || wrong 'a process has outlived its action'
  told build/1/server_logs/plimsoll.json 'len(r["left_behind"]) == 1'
  act 2 -- "$programs/double_fork"
  same '' "$(groups_left | grep job-)"
}

# The worker is gone at its deadline; a new call for the same directory waits until all is over.
case_a_cancel_kills_all_before_the_next() {
  serve
  local begun=$SECONDS
  sh_act 1 "trap '' TERM; setsid sh -c 'echo \$\$ >$PWD/pid; while :; do echo x >>late; done'" timeout=1
  told 1.json 'r["code"] == 4'
  rm -rf build/1
  sh_act 1 'echo new; ls'
  told 1.json 'r["exit_code"] == 0'
  gone "$(cat pid)" || wrong 'the old action lives'
  same new "$(cat build/1/stdout)"
  ((SECONDS - begun < patience)) || wrong 'it took for ever'
}

case_a_killed_worker_takes_its_action_along() {
  serve
  lay_out 1
  "$worker_program" "unix:$PWD/runner" run id=1 -- /bin/sh -c "echo \$\$ >$PWD/pid; exec /bin/sleep 1000" >/dev/null &
  local worker=$!
  becomes_true test -s pid
  kill -KILL "$worker"
  becomes_true gone "$(cat pid)"
  becomes_true eval '[[ -z $(groups_left | grep job-) ]]'
}

case_tmpdir_umask_limits_and_user() {
  local user=''
  ! is_root || user=', "runCommandsAs": {"userId": 65534, "groupId": 65534, "additionalGroupIds": [7]}'
  serve "\"setTmpdirEnvironmentVariable\": true, \"global\": {\"setUmask\": {\"umask\": 0},
    \"setResourceLimits\": {\"CORE\": {\"softLimit\": 0, \"hardLimit\": 0},
    \"NOFILE\": {\"softLimit\": 99, \"hardLimit\": 100}}}$user"
  lay_out 1
  chmod 777 build/1/root
  sh_act 1 'echo $TMPDIR; umask; ulimit -n; id -u; id -G; : >made'
  told 1.json 'r["exit_code"] == 0'
  local ids="65534 65534 7"
  is_root || ids="$(id -u) $(id -G)"
  same "$PWD/build/1/tmp 0000 99 $ids" "$(echo $(cat build/1/stdout))"
  same 666 "$(stat -c %a build/1/root/made)"
  same 666 "$(stat -c %a build/1/stdout)"
  sh_act 2 'echo $TMPDIR' env.TMPDIR=/own
  same /own "$(cat build/2/stdout)"
}

case_the_input_root_as_root_directory() {
  is_root || skip 'chroot takes root'
  serve '"chrootIntoInputRoot": true'
  lay_out 1
  mkdir -p build/1/root/usr/bin build/1/root/src
  local file
  for file in /usr/bin/env /bin/pwd $(ldd /usr/bin/env | grep -o '/[^ ]*'); do
    mkdir -p "build/1/root$(dirname "$file")" && cp "$file" "build/1/root$file"
  done
  call run id=1 env.PATH=/bin working_directory=src -- pwd >1.json
  told 1.json 'r["exit_code"] == 0'
  same /src "$(cat build/1/stdout)"
  rm build/1/stdout build/1/stderr
  call run id=1 -- no-such-program >2.json
  told 2.json 'r["code"] == 0' 'r["exit_code"] == 127'
  act 3 -- /bin/true # a root without /usr/bin/env
  told 3.json 'r["code"] == 3'
}

case_cleaners() {
  mkdir -p scratch
  serve "\"cleanTemporaryDirectories\": [\"$PWD/scratch\"], \"runCommandCleaner\": [\"/bin/sh\", \"-c\",
    \"echo x >>$PWD/cleaned; test ! -e $PWD/fatal || kill -KILL \$\$; test ! -e $PWD/broken\"]"
  touch scratch/before
  sh_act 1 "ls $PWD/scratch; touch $PWD/scratch/after"
  told 1.json 'r["exit_code"] == 0'
  empty build/1/stdout
  same '' "$(ls scratch)"
  same 2 "$(wc -l <cleaned)"
  touch broken
  sh_act 2 'exit 0'
  told 2.json 'r["code"] == 13' 'r["message"] == "Failed to run cleaning command: exit status 1"'
  [[ ! -e build/2/stdout ]] || wrong 'it ran'
  rm broken
  sh_act 3 "touch $PWD/broken"
  told 3.json 'r["code"] == 13'
  rm broken
  touch fatal
  sh_act 4 true
  told 4.json 'r["message"] == "Failed to run cleaning command: signal: killed"'
  rm fatal
}

# Whatever an action leaves in a directory that is cleaned: the next one finds none of it, and no error.
case_an_actions_dirt_is_no_others_error() {
  local depth='while [ $i -lt 600 ]; do mkdir d && cd d || exit 9; i=$((i + 1)); done'
  mkdir -p scratch
  serve "\"cleanTemporaryDirectories\": [\"$PWD/scratch\"]"
  sh_act 1 "cd $PWD/scratch; i=0; $depth"
  told 1.json 'r["code"] == 0' 'r["exit_code"] == 0'
  same '' "$(ls scratch)" 'after a deep tree'
  sh_act 2 "cd $PWD/scratch; mkdir closed; touch closed/x \"\$(printf '\\377\\n')\"; chmod 0 closed ."
  told 2.json 'r["code"] == 0' 'r["exit_code"] == 0'
  same '' "$(ls scratch)" 'after odd names and closed directories'
  sh_act 3 "rm -r $PWD/scratch && ln -s $PWD/build $PWD/scratch"
  told 3.json 'r["code"] == 0' 'r["exit_code"] == 0'
  [[ -d scratch && ! -L scratch && -d build/1 ]] || wrong 'a link was not set aside'
  has log 'it was renamed to "'
  if command -v chattr >/dev/null && touch flag && chattr +i flag 2>/dev/null; then
    chattr -i flag
    sh_act 4 "touch $PWD/scratch/kept && chattr +i $PWD/scratch/kept" env.PATH=/usr/bin:/bin:/usr/sbin:/sbin
    told 4.json 'r["code"] == 0' 'r["exit_code"] == 0'
    has log 'operation not permitted; it was renamed to "'
    sh_act 5 "ls $PWD/scratch"
    told 5.json 'r["code"] == 0' 'r["exit_code"] == 0'
    empty build/5/stdout
    chattr -R -f -i scratch scratch.unclean-*
  fi
  call check '' >6.json
  told 6.json 'r["code"] == 0'
}

# A file system that answers nothing holds up the actions of that directory alone, and those not for ever.
case_an_input_root_that_hangs() {
  can_mount && [[ -c /dev/fuse ]] || skip 'no FUSE, or mounts can not be changed here'
  lay_out 8 && lay_out 9
  cat >in_a_namespace <<'END_OF_SCRIPT'
"$programs/hang_fuse" build/9/root >ready & disk=$!
trap 'kill -KILL $disk; kill -INT $daemon; wait' EXIT
trap exit TERM
until [ -s ready ]; do sleep 0.01; done
"$daemon_program" --metrics off --runner-config runner.json >>log 2>&1 & daemon=$!
until grep -q ' ready' log; do sleep 0.1; done
run() { "$worker_program" "unix:$PWD/runner" "$@"; }
run run id=9 env.PATH=bin -- tool >9.json & hung=$!
run check 9/root/file >check.json & check=$!
run run id=8 env.PATH=/usr/bin:/bin -- /bin/true >8.json
[ -s 9.json ] && echo 'it did not hang' >wrong
wait $hung $check
run run id=9 env.PATH=bin -- tool >again.json
END_OF_SCRIPT
  cat >runner.json <<END
{"buildDirectoryPath": "$PWD/build", "grpcServers": [{"listenPaths": ["$PWD/runner"], "authenticationPolicy": {"allow": {}}}]}
END
  timeout $((patience + 60)) env daemon_program="$daemon_program" worker_program="$worker_program" \
    programs="$programs" unshare -m bash in_a_namespace 2>err || wrong "timed out: $(<err) $(<log)"
  [[ ! -e wrong ]] || wrong "$(<wrong)"
  told 8.json 'r["exit_code"] == 0'
  local hung="r['message'] == 'The files at \"$PWD/build/9/root/\" have not answered for 30.0 s'"
  told 9.json 'r["code"] == 14' "$hung"
  told again.json 'r["code"] == 14' "$hung"
  told check.json 'r["code"] == 14' 'r["message"].startswith("The files at ")'
  nothing_left || wrong "left behind: $(groups_left)"
}

case_temporary_directories_by_links() {
  serve "\"symlinkTemporaryDirectories\": [\"$PWD/link\"]"
  sh_act 1 "readlink $PWD/link"
  same "$PWD/build/1/tmp" "$(cat build/1/stdout)"
  call check '' >2.json
  told 2.json 'r["code"] == 0'
  same /nonexistent "$(readlink link)"
  rm link && mkdir -p link/full
  sh_act 3 true
  told 3.json 'r["code"] == 13' \
    "r['message'].startswith('Failed to remove symbolic link \"$PWD/link\": ')"
}

# Readiness is looked at outside the cleaners: after them.
case_what_the_cleaners_take_is_missing() {
  mkdir scratch
  serve "\"cleanTemporaryDirectories\": [\"$PWD/scratch\"], \"readinessCheckingPathnames\": [\"$PWD/scratch/needed\"]"
  sh_act 1 "touch $PWD/scratch/needed"
  told 1.json 'r["code"] == 0' 'r["exit_code"] == 0'
  sh_act 2 "touch $PWD/scratch/needed; exit 1"
  told 2.json 'r["code"] == 14' \
    'r["message"].startswith("One or more required files disappeared during execution: Path \"")'
}

# As Go takes it, whose configuration this is.
case_an_address_without_a_host() {
  local port
  port=$(free_port)
  listen="\"listenAddresses\": [\":$port\"]" serve
  lay_out 1
  "$worker_program" "127.0.0.1:$port" run id=1 env.PATH=/usr/bin:/bin -- true >1.json
  told 1.json 'r["code"] == 0' 'r["exit_code"] == 0'
}

run_cases "$@"

#!/bin/bash
# plimsoll batch, as its users meet it. Last line: `N passed, N failed`.
set -uo pipefail
source "$(dirname "$(realpath "$0")")/cases.bash"

batch() { gives "$1" "$plimsoll" batch "${@:2}"; }

case_text_file() {
  printf '# comment\necho one\n\necho two >&2\nexit 3\n' >jobs
  batch 1 -j1 -q jobs
  same 'one' "$(cat out)"
  has err two
}

case_standard_input_and_template() {
  printf 'a b\nc\n' | "$plimsoll" batch -q -k -- 'echo "<"{}">"' >out
  same $'<a b>\n<c>' "$(cat out)"
}

case_combinations_and_links() {
  batch 0 -q -k -- echo {1}-{2} ::: a b ::: 1 2
  same $'a-1\na-2\nb-1\nb-2' "$(cat out)"
  batch 0 -q -k -- echo {1}-{2} ::: a b :::+ 1 2
  same $'a-1\nb-2' "$(cat out)"
}

case_replacement_strings() {
  batch 0 -q -k -- echo {} {.} {/} {//} {/.} '{#}' ::: d/x.tar.gz
  same 'd/x.tar.gz d/x.tar x.tar.gz d x.tar 1' "$(cat out)"
  batch 0 -q -j1 -- echo {%} {} ::: a
  same '1 a' "$(cat out)"
}

case_null_and_colsep() {
  printf 'a\nb\0c\0' | "$plimsoll" batch -0 -q -k -- 'printf %s\\n {}' >out
  same $'a\nb\nc' "$(cat out)"
  printf 'x,y\n' | "$plimsoll" batch --colsep , -q -- echo {2} {1} >out
  same 'y x' "$(cat out)"
}

case_json_lines_with_needs() {
  cat >jobs <<'END'
{"id": "c", "shell": "echo c", "needs": ["b"]}
{"id": "b", "argv": ["echo", "b"], "needs": ["a"], "env": {"X": "1"}}
{"id": "a", "shell": "echo a; exit 0", "class": "first"}
END
  batch 0 -q -j4 jobs
  same $'a\nb\nc' "$(cat out)"
}

case_failed_need_skips() {
  cat >jobs <<'END'
{"id": "a", "shell": "exit 1"}
{"id": "b", "shell": "echo b", "needs": ["a"]}
END
  batch 2 -q jobs --report rep
  empty out
  has rep '"outcome":"skipped"'
}

case_bad_input_starts_nothing() {
  printf '{"id":"a","shell":"touch started"}\n{"id":"b","shel":"x"}\n' >jobs
  batch 125 jobs
  has err jobs:2
  has err shel
  [[ ! -e started ]] || wrong 'a job was started'
  batch 125 no-such-file
  has err no-such-file
  batch 125 --halt sometimes -- true ::: 1
  has err --halt
  has err sometimes
  batch 125 --uid no-such-user -- 'touch ran' ::: a
  has err '--uid: there is no user "no-such-user"'
  batch 125 --cpuset 0,99999 -- 'touch ran' ::: a
  has err '--cpuset: found "0,99999", expected a list of CPUs such as 0-3,7; this machine has '
  [[ ! -e ran ]] || wrong 'a job ran'
}

case_output_orders() {
  batch 0 -q -j2 --output ordered -- 'echo {}; sleep 0.{}; echo {}' ::: 2 1
  same $'2\n2\n1\n1' "$(cat out)"
  # The one that began first ends when the other's output is there.
  batch 0 -q -j2 --cores 8 --output group -- 'echo {}; [ {} = b ] || until grep -q b out; do sleep 0.05; done; echo {}' ::: a b
  same $'b\nb\na\na' "$(cat out)"
  batch 0 -q -j1 --output line --tag -- 'echo {}; echo {}' ::: a
  same $'a\ta\na\ta' "$(cat out)"
}

case_results() {
  batch 0 -q --results res --report report -- 'echo {}; echo e >&2' ::: x
  grep -qF "\"output\":{\"stdout\":\"$PWD/res/1/stdout\",\"stderr\":\"$PWD/res/1/stderr\"}" report ||
    wrong "the report does not say where the output is: $(<report)"
  same x "$(cat res/1/stdout)"
  same e "$(cat res/1/stderr)"
}

case_sync_needs_something_to_force() {
  batch 125 --sync -- true ::: a
  has err '--sync needs --joblog, --results or --report'
  batch 0 -q --sync --joblog log --results res --report report -- 'echo {}' ::: a b
  same 3 "$(wc -l <log)"
  same a "$(<res/1/stdout)"
  same 3 "$(wc -l <report)"
  batch 0 -q --sync --joblog /dev/null -- true ::: a
  gives 0 "$plimsoll" run -q --sync --report one -- true
  told one 'r["outcome"] == "exited"'
}

case_notices_do_not_control_the_terminal() {
  printf '%s\n' '{"id":"\u001b]0;pwned\u0007","shell":"exit 1","retries":1}' >jobs
  batch 1 --progress plain jobs
  has err 'plimsoll: job ?]0;pwned?: attempt 1'
  lacks err $'\e'
}

case_retries_make_attempts() {
  batch 0 -q --retries 3 --report rep -- 'test $PLIMSOLL_ATTEMPT = 2 # {}' ::: x
  head -1 rep >job
  told job 'len(r["attempts"]) == 2' 'r["exit_code"] == 0'
}

case_halt_soon_and_now() {
  batch 5 -q -j1 --halt soon,fail=1 -- 'exit {}' ::: 5 0 0
  batch 1 -q -j2 --halt now,fail=1 --report rep -- 'sleep {} && false' ::: 0 100 100
  has rep '"outcome":"cancelled"'
}

case_output_of_the_last_attempt_is_kept_whatever_made_it_the_last() {
  local order
  printf '%s\n' '{"id":"a","shell":"echo words of a; echo $$ >said; exit 3","retries":5}' \
    '{"id":"b","shell":"until [ -s said ] && ! kill -0 $(cat said) 2>kill; do sleep 0.02; done; exit 1"}' >jobs
  for order in group line ordered; do
    rm -f said
    batch 1 -q -j2 --halt now,fail=1 --output $order jobs
    same 'words of a' "$(<out)"
  done
  batch 0 -q --retries 3 -- 'echo $PLIMSOLL_ATTEMPT {}; test $PLIMSOLL_ATTEMPT = 3' ::: x
  same '3 x' "$(<out)"
}

case_time_outs() {
  batch 1 -q --timeout 200ms --report rep -- sleep ::: 100
  has rep '"outcome":"timed_out"'
  batch 1 -q -j1 --timeout 1000% --report rep -- sleep ::: 0.2 0.2 0.2 100
  has rep '"outcome":"timed_out"'
}

case_exit_status_counts() {
  batch 0 -q -- true ::: 1
  batch 7 -q -- false ::: 1 2 3 4 5 6 7
  seq 120 >numbers
  gives 101 "$plimsoll" batch -q -j8 -a numbers -- false
}

case_limits_of_each_job() {
  is_root || skip 'not root'
  batch 1 -q --memory-max 30M --report rep -- "$python" -c 'a = bytearray(200 << 20)' ::: x
  has rep '"outcome":"over_limit"'
}

case_dry_run() {
  batch 0 --dry-run -- 'echo {}' ::: a b
  same $'echo a\necho b' "$(cat out)"
}

case_report() {
  batch 0 -q --report - -- true ::: 1 2
  same 3 "$(grep -c . out)"
  tail -n 1 out >run
  told run 'r["schema"] == "plimsoll.run/1"' 'r["jobs"] == 2' 'r["outcomes"]["exited"] == 2'
  batch 0 -q --report - -- 'echo said' ::: 1
  same 2 "$(wc -l <out)"
  same 'said 1' "$(cat err)"
  # Who reads slowly holds up no job.
  seq 200 >numbers
  timeout "$patience" "$plimsoll" batch -q --report - -a numbers -- 'touch began.{}' |
    { becomes_true eval '[[ $(compgen -G "began.*" | wc -l) == 200 ]]'; cat; } >out
  same 201 "$(wc -l <out)"
  batch 125 --progress none --report /dev/full -- true ::: 1
  has err 'the report has no summary, and 1 job is missing from the report'
  batch 125 -q --halt now,success=1 --report /dev/full -- true ::: 1
  batch 1 -q --report /dev/full -- false ::: 1
}

case_first_interrupt_lets_end_second_kills() {
  "$plimsoll" batch -q -j1 --joblog log -- 'echo $$ >>pids; until [ -e go ]; do sleep 0.05; done; : {}' ::: 1 2 2>err &
  local pid=$!
  becomes_true test -s pids
  kill -INT "$pid"
  becomes_true grep -q interrupted err
  touch go
  wait "$pid"
  same 130 $? 'after one interrupt'
  same 2 "$(wc -l <log)"

  rm -f pids log
  "$plimsoll" batch -q -j1 --joblog log -- 'echo $$ >>pids; sleep {}' ::: 100 100 2>err &
  pid=$!
  becomes_true test -s pids
  kill -INT "$pid"
  becomes_true grep -q interrupted err
  kill -INT "$pid"
  wait "$pid"
  same 130 $? 'after two interrupts'
  gone "$(head -n 1 pids)" || wrong 'the job lives'
}

# Nothing has begun yet: as any program that reads.
case_a_signal_ends_it_while_it_reads() {
  local signal pid seen
  for signal in INT TERM HUP QUIT; do
    mkfifo "in.$signal"
    (trap - INT QUIT; exec "$plimsoll" batch --progress none <"in.$signal" 2>err) &
    pid=$!
    exec 9>"in.$signal"
    echo 'touch began' >&9
    becomes_true eval '(($(cat "/proc/$pid/task/$pid/children" | wc -w) == 1))'
    kill -TSTP "$pid"
    becomes_true grep -q '^State:.T' "/proc/$pid/status"
    kill -CONT "$pid"
    kill "-$signal" "$pid"
    seen=0
    wait "$pid" 2>/dev/null || seen=$?
    same $((128 + $(kill -l "$signal"))) "$seen" "status after SIG$signal"
    same '' "$(cat err)" 'what it says'
    exec 9>&-
  done
  [[ ! -e began ]] || wrong 'a job ran'
}

case_reader_that_leaves() {
  seq 2000 | timeout "$patience" "$plimsoll" batch -q -j2 -- 'echo {}; sleep 0.01' 2>err | head -n 1 >out
  same 1 "$(wc -l <out)"
  has err 'cannot be written'
}

case_left_behind_is_killed() {
  batch 0 -q --report rep -- 'sleep 1000 & echo $! >pid-{}; until grep -q sleep /proc/$!/comm; do :; done' ::: x
  becomes_true gone "$(cat pid-x)"
  head -n 1 rep >job
  told job 'r["left_behind"][0]["comm"] == "sleep"'
}

# What is executed without a shell gets the arguments and the environment that it would have of one,
# and fails as there.
case_plain_text_is_what_the_shell_makes_of_it() {
  mkdir bin
  printf '#!/bin/sh\nprintf "<%%s>" "$0" "$@"; env | grep -v "^PLIMSOLL\|^PARALLEL\|^_=\|^SHLVL=" | sort\n' >bin/show
  printf 'printf "text <%%s>" "$0" "$@"\n' >bin/text
  printf '#!/no/such/interpreter\n' >bin/lost
  chmod +x bin/*
  touch bin/denied
  local line commands=('show a -b c=d ./e,f:g@h%i+j' ' show  a	b ' 'bin/show x' './bin/show x' text 'text a b'
    bin/text lost no-such-program bin/denied denied bin 'show ~ b*' 'X=1 show' 'show "a b"' 'show a; show b' '-x' '+x'
    'echo a\\tb' 'test 1 = 2' 'exit 3' "show $(head -c 5000 /dev/zero | tr '\0' a)")
  for line in "${commands[@]}"; do
    PATH=$PWD/bin:$PATH /bin/sh -c "$line" >expected 2>&1
    echo "status $?" >>expected
    printf '%s\n' "$line" | PATH=$PWD/bin:$PATH "$plimsoll" batch -q -j1 --report report >out 2>err
    { cat out err; "$python" -c 'import json; print("status", json.loads(open("report").readline())["exit_code"])'; } >seen
    same "$(<expected)" "$(<seen)" "$line"
  done
}

# dash does not execute it in its own place, and so would end by itself.
case_plain_text_ends_as_its_program_does() {
  printf '#!/bin/sh\nkill -SEGV $$\n' >dies
  chmod +x dies
  printf '%s\n' ./dies './dies; exit $?' >jobs
  batch 2 -q -j1 --report report jobs
  head -n 1 report >job
  told job 'r["outcome"] == "signalled" and r["signal"] == "SEGV"'
  sed -n 2p report >job
  told job 'r["outcome"] == "exited" and r["exit_code"] == 139'
}

# A shell would correct PWD, and run an exported function.
case_plain_text_goes_to_the_shell_where_that_knows_more() {
  mkdir there
  PWD=/proc "$plimsoll" batch -q -- printenv ::: PWD >out
  same "$PWD" "$(<out)"
  printf '{"shell": "printenv PWD", "cwd": "there"}' >jobs.jsonl
  batch 0 -q jobs.jsonl
  same "$PWD/there" "$(<out)"
  env -u PWD "$plimsoll" batch -q -- printenv ::: PWD >out
  same "$PWD" "$(<out)"
}

case_many_jobs() {
  seq 500 >numbers
  gives 0 "$plimsoll" batch -q -j4 --output ordered -a numbers -- echo
  same "$(seq 500)" "$(cat out)"
}

# More places, then the end of one job, by the program itself.
case_orders_to_a_run_that_goes_on() {
  local pid
  printf '%s\n' 'touch a; sleep 1000' 'touch b; until [ -e go ]; do sleep 0.05; done; echo fine' >jobs.txt
  "$plimsoll" batch --progress none -j 1 --cores 8 --report report jobs.txt >out 2>err &
  pid=$!
  becomes_true test -e a -o -e b
  sleep 0.3
  [[ ! -e a || ! -e b ]] || wrong 'both run with one place'
  "$plimsoll" ctl jobs 2 >told || wrong 'ctl jobs'
  becomes_true test -e a -a -e b
  "$plimsoll" ctl status >told || wrong 'ctl status'
  has told 'sleep 1000'
  "$plimsoll" ctl kill 1 >told || wrong 'ctl kill'
  ! "$plimsoll" ctl kill 7 >told 2>&1 || wrong 'a job that is not there is killed'
  touch go
  wait $pid
  same 1 $? "$(<err)"
  has out fine
  tail -n 1 report >summary
  told summary 'r["outcomes"] == {"cancelled": 1, "exited": 1}'
  becomes_true nothing_left || wrong 'something is left'
}

# Four of a class by twos, as one that saw a third beside it would fail; those of another class start.
case_a_class_has_a_cap() {
  local job='mkdir here/{}; until [ -e other ]; do sleep 0.02; done; test $(ls here | wc -l) -le 2 && rmdir here/{}'
  mkdir here
  for i in 1 2 3 4; do printf '{"id": "db%s", "class": "db", "shell": "%s"}\n' $i "${job//\{\}/$i}"; done >jobs.jsonl
  echo '{"id": "other", "class": "other", "argv": ["touch", "other"]}' >>jobs.jsonl
  gives 0 timeout "$patience" "$plimsoll" batch --progress none --cores 8 --order input --cap db=2 --cap other=1 jobs.jsonl
  gives 0 "$plimsoll" explain last db4
  has out 'waits for others of its class: of "db" at most 2 run at once'
  # Of two that are told the lower holds.
  rm other
  sed 's/"class": "db"/&, "cap": 1/; s/-le 2/-le 1/' jobs.jsonl >lower.jsonl
  gives 0 timeout "$patience" "$plimsoll" batch --progress none --cores 8 --order input --cap db=2 lower.jsonl
  gives 125 "$plimsoll" batch --cap db jobs.jsonl
  has err '--cap: found "db", expected CLASS=N with N from 1 to 1000000'
  gives 125 "$plimsoll" batch --cap db=0 jobs.jsonl
  sed 's/"class": "db"/&, "cap": 0/' jobs.jsonl >none.jsonl
  gives 125 "$plimsoll" batch none.jsonl
  has err 'none.jsonl'
  has err '"cap"'
}

run_cases "${1:-}"

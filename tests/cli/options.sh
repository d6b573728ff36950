#!/bin/bash
# Command lines as people type them: mistakes and what is said of them, help, and what the users of
# GNU parallel are used to. Last line: `N passed, N failed`.
# shellcheck disable=SC2016 # dollars and backquotes are for jobs, or are expected
set -uo pipefail
source "$(dirname "$(realpath "$0")")/cases.bash"

batch() { gives "$1" "$plimsoll" batch "${@:2}"; }

# refuses TEXT WORD...: status 125, and this line alone on standard error.
refuses() {
  gives 125 "$plimsoll" "${@:2}"
  same "plimsoll: $1" "$(cat err)" "${*:2}"
  empty out
}

case_a_command_without_dashes_is_told() {
  refuses 'batch: put `--` before the command: plimsoll batch -- echo ::: 1 2' batch echo ::: 1 2
  refuses 'batch: put `--` before the command: plimsoll batch -j2 -- echo -n :::: f' \
    batch -j2 echo -n :::: f
  refuses 'batch: put `--` before the command: plimsoll batch -- ::: true false' batch ::: true false
  refuses 'batch: found "b" after "a", expected one job file; to run a command, put `--` before the command: plimsoll batch -- a b' \
    batch a b
}

case_what_was_meant_is_told() {
  refuses 'there is no command "rnu"; did you mean run?' rnu -- true
  refuses 'there is no command "--verison"; did you mean --version?' --verison
  refuses 'there is no command "frobnicate"; `plimsoll --help` lists them' frobnicate
  refuses 'run: there is no option "--memmax"; did you mean --memory-max?' run --memmax 1G -- true
  refuses 'batch: there is no option "--dry-rnu"; did you mean --dry-run?' batch --dry-rnu f
  refuses 'ctl: found "statsu", expected one of status, pause, resume, kill, line, jobs; did you mean status?' \
    ctl statsu
  refuses 'submit: there is no option "--detahc"; did you mean --detach?' submit --detahc -- true
  refuses 'run: there is no option "-x"; `plimsoll run --help` lists them' run -x true
}

case_what_is_missing_is_named() {
  refuses 'explain: RUN is missing; see `plimsoll explain --help`' explain
  refuses 'ctl: SIZE is missing; see `plimsoll ctl --help`' ctl line
}

case_each_mistake_names_option_found_and_expected() {
  refuses 'batch: --retries: found "-1", expected a whole number, 0 or more' batch --retries -1 -- true ::: 1
  refuses 'batch: --max-args: found "x", expected a number of at least 1' batch -n x -- true ::: 1
  refuses 'batch: --order: found "none", expected longest or input' batch --order none -- true ::: 1
  refuses 'batch: --joblog needs a file' batch --joblog
  refuses "batch: --progress needs a style, such as plain: without a value it is an option of GNU parallel; here a terminal shows progress by itself; --progress plain is for a log" \
    batch --progress -- true ::: 1
  refuses "batch: --progress needs a style, such as plain: without a value it is an option of GNU parallel; here a terminal shows progress by itself; --progress plain is for a log" \
    batch --progress -j2 -- true ::: 1
  refuses 'batch: --progress: found "jobs.txt", expected auto, plain, failures, json or none' batch --progress jobs.txt
  refuses 'run: --memory-max needs a size, such as 512M' run --memory-max
  refuses 'simulate: --seed: found "x", expected a whole number, 0 or more' \
    simulate t --cores 1 --line 1G --seed x
  refuses 'runs: found "x", expected nothing more' runs x
  refuses 'batch: --header: found "x", expected ":"' batch --header x -- true ::: 1
}

case_of_two_the_last_one_counts() {
  batch 0 --dry-run -n 1 -n 2 -- echo ::: 1 2
  same 'echo 1 2' "$(cat out)"
  run 0 -q --env A=1 --env B=2 --memory-max 1G --memory-max 2G -- sh -c 'echo $A$B'
  same 12 "$(cat out)"
}

case_options_of_gnu_parallel_that_are_not_here_are_explained() {
  local option
  for option in -N2 -X --pipe --memfree --shuf --link --rpl -S --tagstring; do
    gives 125 "$plimsoll" batch $option -- true ::: 1
    has err "it is an option of GNU parallel; here "
    same 1 "$(wc -l <err)" "$option"
  done
}

case_options_of_gnu_parallel_are_taken() {
  printf 'a,b\n' | "$plimsoll" batch -q -P2 -C , -r --lb --bar --eta --will-cite -i -- echo {2} >out
  same b "$(cat out)"
  batch 0 -q -j0 --group --wd / -- 'pwd # {}' ::: 1
  same / "$(cat out)"
  batch 0 -q -j 200% -u -- echo ::: 1
  batch 0 -q -j +1 --halt never -- echo ::: 1
  batch 0 -q -I @ -- echo @ {} ::: 1
  same '1 {}' "$(cat out)"
  batch 0 -q --header : -- echo {b} {a} ::: a 1 ::: b 2
  same '2 1' "$(cat out)"
  batch 0 -q -- 'echo $PARALLEL_SEQ $PARALLEL_JOBSLOT' ::: 1
  same '1 1 1' "$(cat out)"
}

# GNU parallel would leave the first as text, and take what is there of the others.
case_tables_are_held_to_their_header() {
  printf 'name\trate\na\t1\nb\n' >rows.tsv
  refuses 'batch: rows.tsv:3: found 1 column, expected 2, as in the header' \
    batch -a rows.tsv --header : --colsep '\t' -- echo {rate}
  printf 'name,name\na,1\n' >names.csv
  refuses 'batch: names.csv:1: --header: found two columns named "name", expected a different name for each column' \
    batch -a names.csv --header : --colsep , -- echo {name}
  printf 'name,rate\na,1\n' >good.csv
  refuses 'batch: the command: found "{nam}", expected a column of --header, {name} {rate} (text in braces needs a blank: "{ nam}")' \
    batch -a good.csv --header : --colsep , -- echo {nam}
  batch 0 -q -a good.csv --header : --colsep , -- 'echo {rate} | awk "{ print }"'
  same 1 "$(cat out)"
}

case_nice_is_that_of_the_jobs() {
  batch 0 -q --nice 7 -- 'nice # {}' ::: 1
  same 7 "$(cat out)"
  run 0 -q --nice 7 -- nice
  same 7 "$(cat out)"
  refuses 'run: --nice: found "20", expected a number from -20 to 19' run --nice 20 -- true
}

case_commands_are_printed_as_they_start() {
  batch 0 -q -j1 -t -- echo ::: a b
  same $'echo a\necho b' "$(cat err)"
  batch 0 -q -j1 -v --progress none -- echo ::: a
  has err 'echo a'
}

case_one_at_a_time_is_in_order_of_input() {
  batch 0 -q -j1 -- ::: 'echo one' 'gzip -c /bin/bash >z; echo two' 'sleep 0.3; echo three' \
    'echo four' 'sleep 0.1; echo five'
  same 'one two three four five' "$(xargs <out)"
}

case_jobs_may_start_in_order_of_input() {
  local words=('echo 1 >>ran; sleep 1' 'test 1; echo 2 >>ran; sleep 0.5' 'true; echo 3 >>ran')
  batch 0 -q -j2 --order input -- ::: "${words[@]}"
  same 3 "$(tail -1 ran)"
  batch 0 -q -j1 --order longest -- ::: "${words[@]}"
}

# What parallel (20221122) exits with.
case_exit_status_with_halt_is_that_of_gnu_parallel() {
  batch 3 -q -j1 --halt now,fail=1 -- 'exit {}' ::: 0 3 0
  batch 0 -q -j1 --halt now,success=1 -- 'exit {}' ::: 1 0 0
  batch 1 -q -j1 --halt now,done=2 -- 'exit {}' ::: 1 0 2
  batch 2 -q -j1 --halt now,fail=2 -- 'exit {}' ::: 1 0 2 0
  batch 40 -q -j1 --halt soon,fail=30% -- 'exit {}' ::: 1 1 0 0 0
  batch 9 -q -j1 --halt 2 -- 'exit {}' ::: 0 9 4 0
  batch 2 -q -j1 --halt never -- 'exit {}' ::: 0 9 4 0
  batch 137 -q -j1 --halt now,fail=1 -- 'kill -9 $$ #{}' ::: 1 2
}

case_more_cores_than_there_are_are_told() {
  batch 0 --cores 10000 -- true ::: 1
  has err '--cores is more than the '
  batch 0 --cores 0.5 -- true ::: 1
  lacks err '--cores is more'
}

case_help_fits_a_terminal_and_names_types() {
  local command
  for command in run batch govern submit list reap runs explain history report simulate doctor ctl \
    compare advise whatif top; do
    gives 0 "$plimsoll" help "$command"
    has out "Usage: plimsoll"
    lacks out TEXT...
    ! grep -E '.{81}' out || wrong "a line of more than 80 columns: $command"
    ! grep -E -- '^  -.*(TEXT|UINT|INT|FLOAT)( |$)' out | grep -v -- '^  -I TEXT' ||
      wrong "a value without a name: $command"
    cp out by_help
    gives 0 "$plimsoll" "$command" --help
    cmp -s out by_help || wrong "help $command is not $command --help"
  done
  gives 0 "$plimsoll" help batch
  has out 'plimsoll batch [OPTIONS] -- COMMAND [ARG...] [::: VALUE...]'
  gives 0 "$plimsoll" --help
  ! grep -E '.{81}' out || wrong 'a line of more than 80 columns'
  gives 0 "$plimsoll" -V
  has out 'plimsoll 0.'
}

case_help_of_a_subcommand_is_its_own() {
  gives 0 "$plimsoll" ctl pause --help
  has out 'Usage: plimsoll ctl pause [OPTIONS] JOB'
  has out 'Name or number of the job'
  lacks out 'Set how many jobs may run at once'
  lacks out '--run RUN'
  ! grep -E '.{81}' out || wrong 'a line of more than 80 columns'
  cp out own
  gives 0 "$plimsoll" help ctl pause
  same "$(cat own)" "$(cat out)"
}

case_what_follows_help_is_a_mistake() {
  refuses 'batch: found "--x" after --help, expected nothing more' help batch --x
  refuses 'batch: found "extra" after --help, expected nothing more' batch --help extra
  refuses 'run: found "--" after --help, expected nothing more' run --help -- ls
  refuses 'submit: found "--" after -qh, expected nothing more' submit -qh -- ls
  refuses 'batch: found "--" after --help, expected nothing more' batch --help -- echo ::: 1
  refuses 'run: found "--" after --help, expected nothing more' help run -- ls
  refuses 'there is no command "btach"; did you mean batch?' help btach
}

run_cases "${1:-}"

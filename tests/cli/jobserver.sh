#!/bin/bash
# The jobserver that `plimsoll govern` offers, and `plimsoll doctor --build`; its last line counts.
# program: released
# shellcheck disable=SC2016,SC2317 # dollars are for the shells that are run; called by name
set -uo pipefail
source "$(dirname "$0")/cases.bash"
is_root || skip_all 'groups for steps are made by root here'
export PLIMSOLL_STATE_DIR=$PWD/state
unset MAKEFLAGS MAKELEVEL CARGO_MAKEFLAGS

# govern STATUS OPTION... -- COMMAND...: with four cores, whatever the machine has.
govern() { gives "$1" timeout "$patience" "$plimsoll" govern --standalone --cores 4 "${@:2}"; }

nothing_left() {
  becomes_true eval '[[ ! $(groups_left) ]]'
  becomes_true eval '[[ ! $(processes_left) ]]'
}

# meet N: a Makefile with N targets, each of which ends once all have begun.
meet() {
  local each targets
  targets=$(seq -s ' ' "$1")
  printf 'all: %s\n%s:\n\t@touch began.$@; until [ `ls began.* | wc -l` -ge %s ]; do sleep 0.05; done; echo $@\n' \
    "$targets" "$targets" "$1" >"${2:-Makefile}"
}

# tool NAME LINE...: a program in the directory `bin` that prints this as its version.
tool() {
  mkdir -p bin
  printf '#!/bin/sh\ncat <<"END"\n%s\nEND\n' "${@:2}" >"bin/$1"
  chmod +x "bin/$1"
}

case_make_takes_its_jobs_from_the_governor() {
  state
  meet 3
  govern 0 --jobserver=pipe -- make -s
  same $'1\n2\n3' "$(sort out)"
  lacks err warning
  rm began.*
  govern 0 -v -- make -s
  same $'1\n2\n3' "$(sort out)"
  has err 'a jobserver with 4 slots is offered by'
  nothing_left
}

case_make_alone_runs_one_job_at_a_time() {
  state
  printf 'all: a b\na b: ; @echo $@ begins; sleep 0.1; echo $@ ends\n' >Makefile
  govern 0 -v --jobserver=off -- make -s
  same $'a begins\na ends\nb begins\nb ends' "$(<out)"
  has err 'no jobserver is offered: as --jobserver=off says'
}

case_submakes_share_the_slots() {
  state
  mkdir one two
  meet 2 one/Makefile
  meet 2 two/Makefile
  printf 'all: one two\none two: ; @$(MAKE) -s -C $@\n.PHONY: one two\n' >Makefile
  govern 0 --jobserver=pipe -- make -s
  same $'1\n1\n2\n2' "$(sort out)"
  lacks err warning
  nothing_left
}

case_a_command_with_a_number_of_jobs_keeps_it() {
  state
  meet 6
  govern 0 -v -- make -s -j6
  same 6 "$(wc -l <out)"
  has err 'no jobserver is offered: the command names its own number of jobs'
  lacks err warning
  rm began.*
  MAKEFLAGS=-j6 govern 0 -v -- make -s
  same 6 "$(wc -l <out)"
  has err 'no jobserver is offered: MAKEFLAGS names a number of jobs'
  rm began.*
  # One that a script names is make's own as well.
  echo 'make -s -j6' >build
  govern 0 --jobserver=pipe -- sh ./build
  same 6 "$(wc -l <out)"
  nothing_left
}

case_the_jobserver_of_a_make_above_is_kept() {
  state
  local theirs=' -j3 --jobserver-auth=fifo:/no/such'
  MAKEFLAGS=$theirs govern 0 -v -- sh -c 'echo "$MAKEFLAGS"'
  same "$theirs" "$(<out)"
  has err 'no jobserver is offered: MAKEFLAGS names one already'
  printf 'all: ; +@echo "$$MAKEFLAGS"; "%s" govern -q --standalone -- sh -c '\''echo "$$MAKEFLAGS"'\''\n' "$plimsoll" >Makefile
  gives 0 make -s -j3
  same 2 "$(grep -c -- --jobserver-auth out)"
  same 1 "$(sort -u out | wc -l)" 'different MAKEFLAGS'
  nothing_left
}

case_govern_in_govern_has_one_jobserver() {
  state
  govern 0 -q --jobserver=pipe -- sh -c 'echo "$MAKEFLAGS"; "$0" govern -q -- sh -c '\''echo "$MAKEFLAGS"'\' "$plimsoll"
  same 2 "$(grep -c -- '-j4 --jobserver-auth=' out)"
  same 1 "$(sort -u out | wc -l)" 'different MAKEFLAGS'
  nothing_left
}

case_other_makeflags_stay() {
  state
  MAKEFLAGS='k -- A=1' govern 0 -q --jobserver=pipe -- sh -c 'echo "$MAKEFLAGS"'
  grep -qx 'k -j4 --jobserver-auth=[0-9]*,[0-9]* -- A=1' out || wrong "$(<out)"
}

case_makeflags_without_room_stay() {
  state
  local long
  long=$(printf '%0131000d' 0)
  MAKEFLAGS=$long govern 0 -v -- sh -c 'echo ${#MAKEFLAGS}'
  same 131000 "$(<out)"
  has err 'no jobserver is offered: MAKEFLAGS has no room for it'
}

case_lto_parts_are_jobs_of_the_same_jobserver() {
  type -P gcc >/dev/null || skip 'gcc is not installed'
  state
  echo 'int f(int); int main(void) { return f(0); }' >a.c
  echo 'int f(int a) { return a; }' >b.c
  mkdir bin
  printf '#!/bin/sh\necho "make $*" >>"%s/makes"\nexec %s "$@"\n' "$PWD" "$(type -P make)" >bin/make
  chmod +x bin/make
  gcc -O2 -flto -c a.c && gcc -O2 -flto -c b.c || skip 'gcc has no LTO'
  printf 'all: ; +@gcc -O2 -flto=auto a.o b.o -o ab\n' >Makefile
  PATH=$PWD/bin:$PATH govern 0 -q --jobserver=pipe -- make -s
  ./ab || wrong 'the program does not run'
  # The make of the link is given no number of jobs.
  grep -q '^make -f .* all' makes || wrong "no make of a link: $(<makes)"
  ! grep -q '^make .*-j' makes || wrong "a number of jobs of its own: $(<makes)"
  nothing_left
}

case_ninja_that_knows_no_jobserver_builds() {
  type -P ninja >/dev/null || skip 'ninja is not installed'
  state
  printf 'rule r\n  command = touch $out\nbuild a: r\nbuild b: r\n' >build.ninja
  govern 0 -q -- ninja
  [[ -e a && -e b ]] || wrong "not built: $(<out)"
  lacks out warning
  nothing_left
}

case_cargo_builds_with_the_jobserver() {
  { type -P cargo && cargo --version; } >/dev/null 2>&1 || skip 'cargo is not installed'
  state
  mkdir src
  printf '[package]\nname = "tried"\nversion = "0.1.0"\nedition = "2018"\n' >Cargo.toml
  echo 'fn main() { println!("built"); }' >src/main.rs
  govern 0 --jobserver=pipe -- cargo build --offline
  lacks err warning
  same built "$(target/debug/tried)"
  # It would ignore -j beside a jobserver, so that none is offered.
  touch src/main.rs
  govern 0 -v -- cargo build --offline -j2
  lacks err 'ignoring the `-j` parameter'
  has err 'no jobserver is offered'
  nothing_left
}

# Each takes a token and is killed; who then takes all there are gets as many as there were.
case_tokens_of_killed_clients_come_back() {
  state
  cat >clients <<'END'
auth=${MAKEFLAGS##*--jobserver-auth=}
for round in 1 2; do
  for client in 1 2 3; do
    bash -c 'read -rN1 -u "$0" && echo taken && kill -KILL $$' "${auth%,*}" &
  done
  wait
  for token in 1 2 3; do read -rN1 -u "${auth%,*}" && echo back; done
  printf +++ >&"${auth#*,}"
done
END
  govern 0 --jobserver=pipe -- bash clients
  same 6 "$(grep -c taken out)"
  same 6 "$(grep -c back out)"
  has err '6 tokens of killed clients were replaced'
  nothing_left
}

# One core, so that the second begins in the slot that the first has lent.
case_a_paused_step_lends_its_slot() {
  state
  meet 2
  "$plimsoll" govern -q --standalone --cores 1 --jobserver=pipe -- make -s >out 2>err &
  local guardian=$!
  becomes_true eval '[[ -e began.1 || -e began.2 ]]'
  becomes_true eval '"$plimsoll" ctl pause 1'
  becomes_true eval '[[ -e began.1 && -e began.2 ]]'
  gives 0 "$plimsoll" ctl resume 1
  wait $guardian
  same 0 $? 'status of make'
  nothing_left
}

case_ctrl_c_ends_make_and_leaves_nothing() {
  state
  mkfifo never
  printf 'SHELL = bash\nall: a b\na b: ; @: >began.$@; read <never\n' >Makefile
  env --default-signal=INT setsid "$plimsoll" govern -q --standalone --cores 4 --jobserver=pipe -- make -s >out 2>err &
  local guardian=$!
  becomes_true eval '[[ -e began.a && -e began.b ]]'
  kill -INT -- -$guardian # as a terminal does: all of the group
  wait $guardian
  local status=$?
  # Make 4.3 fails now and then, by itself too: its handler waits for children that it has waited for.
  [[ $status == 2 ]] && grep -q 'wait: No child processes' err && status=130
  same 130 "$status" 'status of INT'
  nothing_left
}

case_a_fifo_is_there_while_the_command_runs() {
  state
  govern 0 --jobserver=fifo -- sh -c 'auth=${MAKEFLAGS##*--jobserver-auth=}; [ -p "${auth#fifo:}" ] && echo "$auth"'
  local path=$(<out)
  [[ $path == fifo:$PLIMSOLL_RUNTIME_DIR/jobserver-* ]] || wrong "no fifo: $path"
  [[ ! -e ${path#fifo:} ]] || wrong 'the fifo is left'
  # One that a killed run has left is removed by the next.
  mkfifo "$PLIMSOLL_RUNTIME_DIR/jobserver-1"
  govern 0 --jobserver=fifo -- true
  [[ ! -e $PLIMSOLL_RUNTIME_DIR/jobserver-1 ]] || wrong 'a fifo of a killed run is left'
  PLIMSOLL_RUNTIME_DIR="$PWD/a b" govern 125 --jobserver=fifo -- true
  has err 'the path of a jobserver cannot have blanks'
}

case_the_style_is_what_the_tools_on_path_read() {
  state
  tool make 'GNU Make 4.4.1'
  tool gcc 'gcc (Debian 14.2.0-19) 14.2.0'
  tool ninja 1.13.1
  PATH=$PWD/bin:$PATH govern 0 -v -- sh -c :
  has err 'is offered by the fifo /'
  tool gcc 'gcc (Debian 12.2.0-14) 12.2.0'
  PATH=$PWD/bin:$PATH govern 0 -v -- sh -c :
  grep -q 'with 4 slots is offered by the descriptors [0-9]* and [0-9]*: gcc 12.2 reads no fifo' err ||
    wrong "$(<err)"
  PATH=$PWD/bin:$PATH govern 0 -v -- ninja
  has err 'no jobserver is offered: gcc 12.2 reads no fifo, and ninja 1.13 reads nothing else'
}

case_fewer_jobs_than_cores_are_fewer_slots() {
  state
  govern 0 -v --jobserver=pipe --jobs 1 -- sh -c 'echo "$MAKEFLAGS"'
  has out ' -j1 --jobserver-auth='
  has err 'a jobserver with 1 slot is offered by'
  has err 'at most 1 at once: as --jobs says'
  govern 0 -q --jobserver=pipe --jobs 3 -- sh -c 'echo "$MAKEFLAGS"'
  has out ' -j3 --jobserver-auth='
}

case_a_directory_that_others_can_enter_has_no_fifo() {
  state
  mkdir -m 755 open
  PLIMSOLL_RUNTIME_DIR=$PWD/open govern 125 --jobserver=fifo -- touch started
  has err "--jobserver=fifo: $PWD/open: found mode 755, expected mode 700; "
  has err "chmod 700 $PWD/open"
  [[ ! -e started ]] || wrong 'it was started'
}

case_without_execs_to_hear_of_none_is_offered() {
  state
  govern 0 --no-hold -- sh -c 'echo "<$MAKEFLAGS>"'
  same '<>' "$(<out)"
  govern 0 --no-hold --jobserver=pipe -- sh -c 'echo "<$MAKEFLAGS>"'
  has out --jobserver-auth=
}

case_doctor_tells_of_build_tools() {
  tool make 'GNU Make 4.3'
  tool gcc 'gcc (Debian 12.2.0-14) 12.2.0'
  tool ninja 1.13.1
  tool go 'go version go1.26.8 linux/amd64'
  printf '#!/bin/sh\nexit 1\n' >bin/cargo
  chmod +x bin/cargo
  PATH=$PWD/bin:/usr/bin:/bin gives 0 "$plimsoll" doctor --build
  tr '\n' ' ' <out >filled
  has filled 'no jobserver to ninja: make 4.3 reads no fifo, and ninja 1.13 reads nothing else'
  grep -qE '^ *make +4\.3 +pipe +Leave -j out' out || wrong "make: $(<out)"
  grep -qE '^ *go +1\.26 +no +go build -p N' out || wrong "go: $(<out)"
  same 0 "$(grep -cE '.{81}' out)" 'lines of more than 80 columns'
  PATH=$PWD/bin:/usr/bin:/bin gives 0 "$plimsoll" doctor --build --json
  told out 'r["schema"] == "plimsoll.doctor.build/1"' 'r["jobserver"]["style"] == "none"' \
    '{t["name"]: t["jobserver"] for t in r["tools"]}["ninja"] == ["fifo"]' \
    '{t["name"]: t["jobserver"] for t in r["tools"]}["gcc"] == ["pipe"]' \
    '{t["name"]: t.get("version") for t in r["tools"]}["cargo"] is None' \
    'all(t["how"].endswith(".") and t["path"].startswith("/") for t in r["tools"])'
}

case_doctor_looks_at_no_cgroup_for_build_tools() {
  gives 125 "$plimsoll" doctor --build --cgroup /none
  has err '--cgroup has no meaning with --build'
  PLIMSOLL_CGROUP=/none gives 0 "$plimsoll" doctor --build
}

case_doctor_tells_that_there_are_no_build_tools() {
  mkdir none
  PATH=$PWD/none gives 0 "$plimsoll" doctor --build
  has out 'No build tool that Plimsoll knows is on PATH.'
  lacks out 'how it is governed'
}

case_a_wrong_style_is_told() {
  govern 125 --jobserver=socket -- touch started
  has err 'expected auto, pipe, fifo or off'
  [[ ! -e started ]] || wrong 'it was started'
  gives 125 "$plimsoll" govern --jobserver -- touch started
  has err '--jobserver needs auto|pipe|fifo|off'
}

run_cases "${1:-}"

#!/bin/bash
# plimsoll top, as someone sees it and types: in tmux, and without a terminal. Last line: `N passed,
# N failed`.
# Usage: tests/cli/top.sh [CASE]
# program: released
set -uo pipefail
source "$(dirname "$(realpath "$0")")/cases.bash"
export LC_ALL=C.UTF-8

type -P tmux >/dev/null || skip_all 'there is no tmux'

# A server of this case's own, in which nothing of the user's is configured.
tm() { command tmux -u -f /dev/null -S "$PWD/tmux" "$@"; }

# terminal [COLUMNS ROWS]: one with a shell in it, which knows the program as $plimsoll.
terminal() {
  export plimsoll HISTFILE=
  tm new-session -d -x "${1:-80}" -y "${2:-24}" "exec env PS1='ready> ' bash --norc --noprofile -i"
  trap over EXIT
  becomes_true shows 'ready>' || true
  enter 'stty -a >modes'
  becomes_true test -s modes || true
}

over() {
  tm kill-server 2>/dev/null
  touch go
  wait
}

type_text() { tm send-keys -l -- "$1"; }
key() { tm send-keys -- "$@"; }
enter() { type_text "$1" && key Enter; }
seen() { tm capture-pane -p; }
shows() { seen | grep -qF -- "$1"; }
lacks_on_screen() { ! shows "$1"; }
is() { [[ $(tm display-message -p "$1") == "$2" ]]; }

# will_show TEXT... / will_not_show TEXT...: waits until it does.
will_show() {
  local text
  for text; do becomes_true shows "$text" || { seen && return 1; }; done
}
will_not_show() { becomes_true lacks_on_screen "$1" || seen; }

# Opens top in the terminal, and waits for its first picture.
open() {
  local shown=${shown:-job}
  enter "\"\$plimsoll\" top $*; echo status=\$?"
  will_show 'plimsoll top' "$shown"
}

# is_restored STATUS: top has left the terminal as it was.
is_restored() {
  becomes_true shows "status=$1" || { seen && return 1; }
  becomes_true is '#{alternate_on} #{cursor_flag}' '0 1' || tm display-message -p '#{alternate_on} #{cursor_flag}'
  rm -f after
  enter 'stty -a >after'
  becomes_true test -s after || return 1
  same "$(cat modes)" "$(cat after)" 'modes of the terminal'
  lacks_on_screen 'q leave' || wrong "the picture is still there: $(seen)"
}

# The process of top in the terminal.
top_pid() { pgrep -P "$(tm display-message -p '#{pane_pid}')" -x plimsoll; }

# begin OPTION... -- NAME...: a batch of jobs that run until the file `go` is there.
waits='until [ -e go ]; do sleep 0.1; done; :'
begin() {
  local options=()
  while [[ $1 != -- ]]; do options+=("$1") && shift; done
  shift
  "$plimsoll" batch --progress none --cores 64 "${options[@]}" -- "$waits {}" ::: "$@" >batch.out 2>batch.err &
  batch=$!
  becomes_true started "$#" || cat batch.err
  # A disk that is busy makes the record late, and a job's page is told once.
  becomes_true eval 'compgen -G "$PLIMSOLL_STATE_DIR/runs/*/meta.json" >/dev/null' || cat batch.err
}
started() { [[ $("$plimsoll" ctl status --json 2>/dev/null | grep -o '"state":"running"' | wc -l) == "$1" ]]; }

case_a_picture_and_back() {
  begin -- alpha beta gamma
  terminal
  enter 'echo before'
  open
  will_show 'running' 'alpha' 'beta' 'gamma' '0/3 done, 3 running' 'memory' 'cores' 'stalls' 'q leave'
  key q
  is_restored 0
  will_show before
}

case_pause_resume_kill() {
  begin -- alpha beta gamma
  terminal
  open
  will_show gamma
  key Down
  key p
  will_show 'Job 2 is paused.' '(user)' '2 running, 1 paused'
  key r
  will_show 'Job 2 may run again.' '3 running'
  key k
  will_show 'Kill job 2: ' '? y or n'
  key n
  will_not_show 'Kill job'
  shows '3 running' || wrong "killed without yes: $(seen)"
  key k
  will_show 'Kill job 2: '
  key y
  will_show '1/3 done, 1 failed, 2 running'
  will_not_show beta
  key q
  is_restored 0
  touch go
  wait "$batch"
  has batch.err 'cancelled 1'
}

case_sort_filter_help_and_a_job() {
  begin -- alpha beta gamma
  terminal 100 24
  open --sort job
  key S
  becomes_true eval 'seen | grep -E "alpha|gamma" | head -n 1 | grep -q gamma' || seen
  key /
  type_text 'BET'
  will_show 'Show jobs with: BET_'
  will_not_show alpha
  key Enter
  will_show 'filter: BET'
  key Enter
  will_show 'Job 2 of' 'state      running' "command    $waits beta" 'Esc back' 'attempt 1 in slot'
  key Escape
  will_show 'q leave'
  key Escape
  will_show alpha
  key '?'
  will_show 'Page Up'
  key q
  will_show 'q leave'
  key q
  is_restored 0
}

case_every_way_out() {
  local signal status
  begin -- alpha
  terminal
  for signal in TERM:143 HUP:129 QUIT:131; do
    open
    kill -"${signal%:*}" "$(top_pid)"
    is_restored "${signal#*:}"
    enter 'clear'
    will_not_show status=
  done
  open
  key C-c # of a command that has died of it the shell runs no further part of the line
  becomes_true is '#{alternate_on}' 0
  enter 'echo status=$?'
  is_restored 130
}

case_ctrl_z_and_fg() {
  begin -- alpha
  terminal
  open
  key C-z
  will_show 'Stopped' 'ready>'
  becomes_true is '#{alternate_on} #{cursor_flag}' '0 1' || wrong 'not the shell that is shown'
  rm -f after
  enter 'stty -a >after'
  becomes_true test -s after
  same "$(cat modes)" "$(cat after)" 'modes of the terminal while stopped'
  tm resize-window -x 120 -y 30
  enter 'fg'
  will_show 'q leave' 'alpha'
  becomes_true is '#{alternate_on}' 1
  becomes_true eval 'seen | sed -n 30p | grep -q "^q leave"' || seen # the bottom line of the new size
  key q
  rm modes && mv after modes # its size is another
  becomes_true is '#{alternate_on}' 0
}

case_other_sizes() {
  begin -- alpha beta
  terminal
  open
  tm resize-window -x 150 -y 40
  becomes_true eval 'seen | sed -n 40p | grep -q "q leave"' || seen
  will_show "$waits alpha"
  tm resize-window -x 40 -y 10
  becomes_true eval 'seen | sed -n 10p | grep -q "q leave"' || seen
  will_show 'state        age   used  job'
  tm resize-window -x 10 -y 2
  becomes_true eval 'seen | sed -n 2p | grep -q "q leave"' || seen
  tm resize-window -x 80 -y 24
  becomes_true eval 'seen | sed -n 24p | grep -q "q leave"' || seen
  key q
  becomes_true shows 'status=0' || seen
}

case_the_end_of_the_run() {
  begin -- alpha
  terminal
  open
  touch go
  will_show 'has ended' 'q leaves' 'alpha'
  key p
  will_show 'The run has ended.'
  key Enter
  will_show 'Job 1 of' 'Esc back'
  key Escape
  key q
  is_restored 0
}

case_several_runs() {
  local first
  begin -- alpha
  first=$batch
  "$plimsoll" batch --progress none --cores 64 -- "$waits {}" ::: delta epsilon >/dev/null 2>&1 &
  becomes_true eval '"$plimsoll" top --once 2>/dev/null | grep -q epsilon'
  terminal 120 24
  shown='Which run?' open
  will_show 'all of them' 'running'
  key Down Enter
  will_show epsilon 'stalls'
  lacks_on_screen alpha || wrong "another run's job: $(seen)"
  key a
  will_show 'Which run?'
  key End Enter
  will_show alpha epsilon '2 runs'
  touch go
  becomes_true eval '[[ $(seen | grep -c "has ended") -ge 2 ]]' || seen
  key q
  is_restored 0
  wait "$first"
}

case_without_a_terminal() {
  gives 125 "$plimsoll" top
  has err 'no run goes on'
  gives 125 "$plimsoll" top nothing
  has err 'run "nothing" is not running, and no other is'
  has err 'lists recorded runs'
  gives 125 "$plimsoll" top --sort size
  has err 'found "size", expected one of age, used'
  gives 125 "$plimsoll" top --interval 1h
  has err '100 ms to 10.0 s'
  begin -- alpha beta
  gives 0 "$plimsoll" top
  has out '0/2 done, 2 running'
  has out "1: $waits alpha"
  gives 0 "$plimsoll" top last --filter beta
  lacks out alpha
  gives 0 "$plimsoll" top --json --once
  told out 'r["schema"] == "plimsoll.progress/1"' 'r["kind"] == "status"' \
    'r["status"]["jobs"]["running"] == 2' 'r["status"]["estimate_bytes"] >= 0' \
    'r["status"]["cores_wanted"] > 0' 'len(r["status"]["running"]) == 2' \
    'r["status"]["running"][0]["growth_bytes_per_second"] >= 0'
  "$plimsoll" ctl pause 1
  becomes_true eval '"$plimsoll" top --json --once | grep -q "\"paused_for\":\"user\",\"reason\":"'
  "$plimsoll" top --json --interval 100ms >stream 2>stream.err &
  local stream=$!
  becomes_true eval '(($(wc -l <stream) >= 3))'
  touch go
  "$plimsoll" ctl resume 1
  wait "$stream" || wrong "status $? of the stream"
  empty stream.err
  tail -n 1 stream >last
  told last 'r["kind"] == "notice"' '"has ended" in r["text"]'
  "$plimsoll" top --json </dev/null >/dev/full 2>full.err && wrong 'a full disk is no success'
  wait "$batch"
}

case_terminals_with_less() {
  begin -- alpha
  terminal
  open
  key q
  becomes_true shows 'status=0'
  local setting
  for setting in 'TERM=vt100' 'NO_COLOR=1' 'LC_ALL=C' 'LC_ALL=xx_XX.UTF-8'; do
    enter 'clear'
    will_not_show status=
    enter "env $setting \"\$plimsoll\" top; echo status=\$?"
    will_show 'q leave' alpha
    key q
    is_restored 0
  done
  enter 'TERM=dumb "$plimsoll" top; echo dumb=$?'
  will_show 'dumb=0' alpha
  enter 'clear'
  enter 'TERM=no-such-terminal "$plimsoll" top; echo none=$?'
  will_show 'none=125' 'no-such-terminal'
}

case_what_jobs_are_called_harms_no_terminal() {
  printf '\e[2J\e]0;owned\a\xff\u202e' >evil
  "$python" - >jobs.jsonl <<'END'
import json
for name in ("evil\x1b[2J\x1b]0;owned\x07name", "plain"):
    print(json.dumps({"id": name, "shell": "until [ -e go ]; do sleep 0.1; done; : \x1b[31m \x1b[?1049l \x9b2J \u202e"}))
END
  "$plimsoll" batch --progress none --cores 64 jobs.jsonl >/dev/null 2>batch.err &
  batch=$!
  becomes_true started 2 || cat batch.err
  terminal
  open --filter '"$(cat evil)"' 
  will_show 'No job matches the filter' 'filter: ?[2J?]0;owned?'
  key Escape
  will_show 'evil?[2J?]0;owned?name' plain
  key k
  will_show 'Kill job evil?[2J'
  key n
  key Enter
  will_show 'Esc back' '[31m'
  is '#{pane_title}' owned && wrong 'the title of the terminal was set'
  is '#{alternate_on}' 1 || wrong 'the other screen was left'
  key q q
  is_restored 0
}

case_nobody_waits_for_top() {
  begin -- alpha
  terminal
  open
  kill -STOP "$(top_pid)"
  touch go
  wait "$batch" || wrong "status $? of the batch"
  enter fg # for the shell it was stopped as by Ctrl-Z
  will_show 'has ended'
  key q
  becomes_true is '#{alternate_on}' 0
}

case_a_run_that_does_not_answer() {
  begin -- alpha
  terminal
  open
  local supervisor
  supervisor=$(supervisor_of "$batch")
  kill -STOP "$supervisor"
  will_show 'has not answered for'
  key '?'
  will_show 'Page Up'
  key q
  kill -CONT "$supervisor"
  will_not_show 'has not answered'
  key q
  is_restored 0
}

case_the_daemon() {
  export PLIMSOLL_SOCKET=$PWD/s
  "$plimsoll" serve --metrics off >daemon.log 2>&1 &
  local daemon=$!
  becomes_true grep -q ready daemon.log || cat daemon.log
  gives 0 "$plimsoll" submit --detach --name nightly -- sh -c "$waits x"
  becomes_true eval '"$plimsoll" top daemon --once | grep -q nightly'
  terminal
  open daemon
  will_show nightly running
  key p
  will_show 'Job nightly is paused.' '(user)'
  key r
  will_show 'may run again'
  kill -INT "$daemon"
  touch go
  will_show 'has ended'
  key q
  is_restored 0
  wait "$daemon"
}

run_cases "$@"

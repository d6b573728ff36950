#!/bin/bash
# plimsoll serve, as those who set it up meet it. Last line: `N passed, N failed`.
set -uo pipefail
source "$(dirname "$(realpath "$0")")/cases.bash"

serve() { gives "$1" "$plimsoll" serve "${@:2}"; }

case_show_config_tells_where_from() {
  printf '[governor]\njobs = 12\n' >p.toml
  serve 0 --config p.toml --line 80% --show-config
  has out 'jobs = 12                                   # p.toml:2'
  has out 'line = "80%"                                # --line'
  has out "cgroup = \"$PLIMSOLL_CGROUP\""
  has out "socket = \"$PLIMSOLL_RUNTIME_DIR/daemon.socket\""
  has out '# reserve is not set                        # default'
  empty err
}

# What nobody has set follows from the machine, so it is told beside the file.
case_show_config_tells_what_follows() {
  serve 0 --line 2G -j 3 --show-config
  has out '#   line      2.00 GiB: as --line says'
  grep -qE '^#   reserve   .*: left free for everything else on the machine$' out || wrong "$(<out)"
  grep -qE '^#   cores     [0-9.]+: ' out || wrong "$(<out)"
  has out '#   jobs      at most 3 at once: as --jobs says'
  serve 125 --line 900T --show-config
  has out 'line = "900T"'
  has err 'plimsoll: serve: --line: a line of 900 TiB is more than the '
  serve 125 --line 900T
  has err 'plimsoll: serve: --line: a line of 900 TiB is more than the '
  becomes_true nothing_left || wrong 'something is left'
}

case_what_is_shown_says_the_same() {
  serve 0 --line 2G -j 3 --show-config
  mv out p.toml
  serve 0 --config p.toml --show-config
  same "$(sed 's/ *#.*//' p.toml)" "$(sed 's/ *#.*//' out)"
}

case_environment_goes_before_the_file() {
  printf 'listen.socket = "/file.sock"\n' >p.toml
  PLIMSOLL_SOCKET=/env.sock serve 0 --config p.toml --show-config
  has out 'socket = "/env.sock"                        # PLIMSOLL_SOCKET'
  PLIMSOLL_SOCKET=/env.sock serve 0 --config p.toml --socket /opt.sock --show-config
  has out 'socket = "/opt.sock"                        # --socket'
}

case_paths_of_the_command_line_are_the_callers() {
  serve 0 --socket s --runner-config ./r.jsonnet --show-config
  has out "socket = \"$PWD/s\""
  has out "config = \"$PWD/r.jsonnet\""
}

case_mistakes_name_file_and_line() {
  printf '\n[governor]\nlin = "80%%"\n' >p.toml
  serve 125 --config p.toml --show-config
  same 'plimsoll: serve: p.toml:3: found the unknown key "governor.lin", expected perhaps "governor.line"' "$(cat err)"
  empty out
  serve 125 --config none.toml
  has err 'none.toml'
  serve 125 --line much
  has err '--line'
  serve 125 --lin 3
  has err '--lin'
}

case_options_are_read_as_those_of_other_commands() {
  serve 125 --foo
  same 'plimsoll: serve: there is no option "--foo"; `plimsoll serve --help` lists them' "$(cat err)"
  serve 125 --sokcet s
  same 'plimsoll: serve: there is no option "--sokcet"; did you mean --socket?' "$(cat err)"
  gives 125 "$(dirname "$plimsoll")/plimsolld" --foo
  same 'plimsoll: serve: there is no option "--foo"; `plimsolld --help` lists them' "$(cat err)"
  serve 125 --line
  same 'plimsoll: serve: --line needs a size, such as 512M' "$(cat err)"
  serve 125 --cores none
  same 'plimsoll: serve: --cores: found "none", expected a number of cores such as 6 or 7.5' "$(cat err)"
  serve 0 --line 1G --line 2G --show-config
  has out 'line = "2G"'
  serve 0 --help
  has out 'Usage: plimsoll serve'
  has out '--metrics ADDRESS'
  ! grep -E '.{81}' out || wrong 'a line of more than 80 columns'
  ! grep -E -- '(TEXT|UINT|INT|FLOAT)( |$)' out || wrong 'a value without a name'
  gives 0 "${plimsoll}d" -V
  has out 'plimsolld '
}

# configured LINE JOBS [TOML]: p.toml.
configured() {
  printf 'metrics.listen = "127.0.0.1:%s"\n[governor]\nline = "%s"\njobs = %s\n%s\n' \
    "$port" "$1" "$2" "${3:-}" >p.toml
}

# reloaded TEXT: the daemon reads p.toml again, and says so.
reloaded() {
  : >daemon.log
  kill -HUP "$daemon"
  becomes_true grep -qF "$1" daemon.log || cat daemon.log
}

# An answer is good for a second.
line_is() { sleep 1.1 && metrics_of "$port" | grep -qx "plimsoll_line_bytes $1"; }
running() { "$client" "$PWD/s" list | grep -c running; }

case_reload_changes_line_and_jobs() {
  local client port job before
  port=$(free_port)
  # Of programs that nobody knows two have to fit.
  (($(awk '/^MemAvailable:/ { print $2 }' /proc/meminfo) > 8 << 20)) || skip 'less than 8 GiB to be had'
  client=$(dirname "$plimsoll")/tests/clients/job_client
  configured 2G 1
  "$plimsoll" serve --config p.toml --socket "$PWD/s" >>daemon.log 2>&1 &
  daemon=$!
  becomes_true grep -q ready daemon.log || cat daemon.log
  becomes_true line_is 2147483648
  for job in 1 2 3; do "$client" "$PWD/s" submit sleep 1000 >"job$job"; done
  becomes_true eval '[[ $(running) == 1 ]]'

  configured 6G 2
  reloaded 'the configuration was reloaded; the line is now 6.00 GiB'
  becomes_true line_is 6442450944
  becomes_true eval '[[ $(running) == 2 ]]'

  # A mistake changes nothing, not even what stands before it.
  configured 7G 3 'lin = 1'
  reloaded 'the configuration was not reloaded: p.toml:5: found the unknown key "governor.lin"'
  line_is 6442450944 || wrong "$(metrics_of "$port" | grep plimsoll_line)"
  same 2 "$(running)" 'jobs that run'
  printf 'line = \n' >p.toml
  reloaded 'the configuration was not reloaded: p.toml:1'
  rm p.toml
  reloaded 'the configuration was not reloaded: '
  line_is 6442450944 || wrong "$(metrics_of "$port" | grep plimsoll_line)"

  # What takes a restart is told; the rest is followed. Who runs already may go on.
  configured 4G 1 'cores = 1'
  reloaded 'p.toml:5: governor.cores takes effect after a restart'
  becomes_true line_is 4294967296
  same 2 "$(running)" 'jobs that run'
  # So is a reserve, of which the line is made where none is named.
  printf '[governor]\njobs = 1\n' >p.toml
  reloaded 'the configuration was reloaded; the line is now '
  before=$(grep -o 'the line is now .*' daemon.log)
  printf '[governor]\njobs = 1\nreserve = "6G"\n' >p.toml
  reloaded "$before"
  has daemon.log 'p.toml:3: governor.reserve takes effect after a restart; until then it is not set'
  kill -INT "$daemon"
  wait "$daemon"
  same 0 $? 'the daemon'
  becomes_true nothing_left
}

case_help_names_what_was_called() {
  serve 0 --help
  has out 127.0.0.1:9756 # where the dashboard is by default
  has out 'Usage: plimsoll serve [OPTIONS]'
  has out '  plimsoll serve --config plimsoll.toml'
  gives 0 "$(dirname "$plimsoll")/plimsolld" --help
  has out 'Usage: plimsolld [OPTIONS]'
  has out '  plimsolld --config plimsoll.toml'
  lacks out 'plimsoll serve'
}

case_the_daemon_is_found_in_path_too() {
  mkdir bin apart
  cp "$plimsoll" bin/plimsoll
  gives 125 env PATH=/usr/bin:/bin bin/plimsoll serve --help
  has err 'plimsolld, beside plimsoll or in PATH'
  ln -s "$(dirname "$plimsoll")/plimsolld" apart/plimsolld
  gives 0 env PATH="$PWD/apart:/usr/bin:/bin" bin/plimsoll serve --help
  has out 'plimsoll serve --config'
}

run_cases "$@"

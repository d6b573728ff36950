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
  same 'plimsoll serve: p.toml:3: found the unknown key "governor.lin", expected perhaps "governor.line"' "$(cat err)"
  empty out
  serve 125 --config none.toml
  has err 'none.toml'
  serve 125 --line much
  has err '--line'
  serve 125 --lin 3
  has err '--lin'
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

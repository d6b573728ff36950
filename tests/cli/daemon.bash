# For scripts with a daemon of their own and commands for people at a shell: sourced after cases.bash.
# shellcheck shell=bash disable=SC2154 # plimsoll is of cases.bash

# serve OPTION...: a daemon that is ready; it ends with the case.
serve() {
  export PLIMSOLL_SOCKET=$PWD/s
  "$plimsoll" serve --metrics off "$@" >daemon.log 2>&1 &
  daemon=$!
  trap over EXIT
  becomes_true grep -q ready daemon.log || cat daemon.log
}

over() {
  kill -INT "$daemon" 2>/dev/null
  wait "$daemon" 2>/dev/null
  becomes_true nothing_left || { wrong "left behind: $(groups_left)"; exit 1; }
}

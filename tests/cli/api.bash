# The daemon and its clients, for scripts of tests; sourced after cases.bash.
# shellcheck shell=bash

clients=$(dirname "$plimsoll")/tests/clients
socket=$PWD/none

# serve OPTION...: a daemon that is ready; its pid is in `daemon`.
serve() {
  socket=$PWD/s
  export PLIMSOLL_SOCKET=$socket
  printf '[metrics]\nlisten = "off"\n' >p.toml
  rm -f daemon.log
  "$plimsoll" serve --config p.toml "$@" >daemon.log 2>&1 &
  daemon=$!
  # Not by the socket: a dead one may have left it.
  becomes_true grep -q ready daemon.log || cat daemon.log
}

# over STATUS [SIGNAL]: the daemon ends, and leaves nothing.
over() {
  local seen=0
  kill "-${2:-TERM}" "$daemon"
  becomes_true eval '! kill -0 "$daemon"' || kill -KILL "$daemon"
  wait "$daemon" || seen=$?
  ((seen == $1)) || wrong "expected the daemon's exit status $1, saw $seen: $(cat daemon.log)"
  becomes_true nothing_left
}

jobs() { "$clients/job_client" "$socket" "$@"; }

# serve_group OPTION...: as `serve`, for the group nogroup (65534); `governor` has more of that section.
serve_group() {
  socket=$PWD/s
  printf 'listen.group = "nogroup"\n[governor]\n%s\n' "${governor:-}" >g.toml
  rm -f daemon.log
  "$plimsoll" serve --config g.toml --metrics off --socket "$socket" "$@" >daemon.log 2>&1 &
  daemon=$!
  becomes_true grep -q ready daemon.log || cat daemon.log
}

rss_of() { awk '/^VmRSS/ { print $2 }' "/proc/$1/status"; }

# as UID GID GROUPS COMMAND...: GROUPS with commas, or `none`.
as() {
  local groups=(--groups "$3")
  [[ $3 != none ]] || groups=(--clear-groups)
  setpriv --reuid "$1" --regid "$2" "${groups[@]}" "${@:4}"
}

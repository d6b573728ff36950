# What one user of the daemon can do to another; sourced by bench/run. As root.
# shellcheck shell=bash disable=SC2154 # variables of bench/run

users_client=$PWD/build/users_bench
# So long somebody may be in the way before it is measured what it does: after what is believed of a
# job that uses nothing (kPromiseHeld).
users_before=20

# users_begin: a daemon for the group 65534, with no past.
users_begin() {
  printf 'listen.group = "nogroup"\n' >"$work/users.toml"
  PLIMSOLL_RUNTIME_DIR=$work/runtime PLIMSOLL_STATE_DIR=$work/users-state "$plimsoll" serve \
    --config "$work/users.toml" --metrics off --socket "$work/socket" 2>"$work/users.log" &
  daemon=$!
  local i
  for ((i = 0; i < 300; i++)); do
    ! grep -q ready "$work/users.log" || return 0
    sleep 0.1
  done
  cat "$work/users.log" >&2
  return 1
}

# users_as UID WORD...
users_as() { setpriv --reuid "$1" --regid 65534 --clear-groups "$users_client" "$work/socket" "${@:2}"; }

# users_lag: how late the daemon's loop came to a timer in 99 of 100 cases since it began, and at most, in ms.
users_lag() {
  PLIMSOLL_SOCKET=$work/socket "$plimsoll" ctl --run daemon --json status |
    grep -oE '"lag_(p99|max)_ns": *[0-9]+' | sort -r | awk -F'[: ]+' '{ printf "%.1f ", $2 / 1e6 }'
}

# users_beside SECONDS WORD...: the honest one's figures and the loop's while the other is as the words say.
users_beside() {
  local other
  users_begin || return
  setpriv --reuid 65534 --regid 65534 --clear-groups "$users_client" "$work/socket" "${@:2}" \
    >/dev/null 2>&1 &
  other=$!
  sleep "$users_before"
  echo "$(users_as 65533 honest "$1" 4 2>>"$work/users-refused") $(users_lag)"
  kill -KILL "$other"
  wait "$other" 2>/dev/null
  kill -INT "$daemon"
  wait "$daemon"
  rm -rf "$work/users-state"
}

bench_users() {
  if ((EUID)); then
    echo "bench: users needs root" >&2
    return 2
  fi
  cmake --build build --target users_bench >&2 || return
  chmod 711 "$work"
  local seconds=${SECONDS_EACH:-30} way alone beside
  alone=$(users_beside "$seconds" honest $((seconds + 2 * users_before)) 4) || return
  echo "from Run to the start p50 and p99 in ms, jobs a second, loop lag p99 and max in ms, 4 at once, beside one who
does the same: $alone"
  for way in places cores hint told streams calls output; do
    beside=$(users_beside "$seconds" "$way") || return
    awk -v way="$way" -v alone="$alone" -v beside="$beside" 'BEGIN {
      split(alone, a); split(beside, b)
      printf "  %-8s p50 %7.1f ms, p99 %7.1f ms: %.2f x as long; %6.1f jobs/s, each %.2f x as long",
             way, b[1], b[2], b[2] / a[2], b[3], a[3] / (b[3] > 0 ? b[3] : 0.001)
      printf "; loop lag p99 %.1f ms, max %.1f ms\n", b[4], b[5] }'
  done
}

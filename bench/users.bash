# What one user of the daemon can do to another; sourced by bench/run. As root.
# shellcheck shell=bash disable=SC2154 # variables of bench/run

users_client=$PWD/build/users_bench
# users_before WAY: so many seconds somebody is in the way before it is measured what it does. What is only said
# of a job is believed for a while (kPromiseHeld); the others are as they will be at once. BEFORE says otherwise.
users_before() {
  case $1 in hint | told) echo "${BEFORE:-20}" ;; *) echo "${BEFORE:-5}" ;; esac
}
# What the daemon promises: so many times as long from Run to the start (p99), and for each job, as beside
# an honest user.
users_promise=1.5
users_port=$((20000 + $$ % 12000))
users_ways=(places cores hint told streams calls output followed deaf large pids identities connections
  scrapes ledger)

# users_begin: a daemon for the group 65534, with no past.
users_begin() {
  printf 'listen.group = "nogroup"\n' >"$work/users.toml"
  PLIMSOLL_RUNTIME_DIR=$users_place/runtime PLIMSOLL_STATE_DIR=$work/users-state "$plimsoll" serve \
    --config "$work/users.toml" --metrics "127.0.0.1:$users_port" --socket "$users_place/socket" 2>"$work/users.log" &
  daemon=$!
  local i
  for ((i = 0; i < 300; i++)); do
    ! grep -q ready "$work/users.log" || return 0
    sleep 0.1
  done
  cat "$work/users.log" >&2
  return 1
}

# users_slices: a group with a share of the CPUs for the clients of each user, as systemd gives to each who
# logs in: what a client computes by itself is nothing that the daemon could bound.
users_slices() {
  users_cpu=$(awk '$3 == "cgroup" && ("," $4 ",") ~ /,cpu,/ { print $2; found = 1; exit }
    $3 == "cgroup2" && !v2 { v2 = $2 } END { if (!found) print v2 }' /proc/mounts)
  [[ ! -e $users_cpu/cgroup.subtree_control ]] || echo +cpu >"$users_cpu/cgroup.subtree_control"
  mkdir -p "$users_cpu/plimsoll-bench-$$-"{65533,65534}
}

users_no_slices() { rmdir "$users_cpu/plimsoll-bench-$$-"{65533,65534}; }

# users_as UID GROUPS WORD...: becomes the program, in the group of its user.
users_as() {
  echo $BASHPID >"$users_cpu/plimsoll-bench-$$-$1/cgroup.procs"
  exec setpriv --reuid "$1" --regid 65534 --groups "$2" "$users_client" "$users_place/socket" "${@:3}"
}

# users_refusals: what the honest one was told when a job of his was refused, and how often.
users_refusals() {
  sort "$work/users-refused" | uniq -c | sort -rn | head -3 | sed 's/^/    refused: /'
  : >"$work/users-refused"
}

# users_lag: how late the daemon's loop came to a timer in 99 of 100 cases since it began, and at most, in ms.
users_lag() {
  PLIMSOLL_SOCKET=$users_place/socket "$plimsoll" ctl --run daemon --json status |
    grep -oE '"lag_(p99|max)_ns": *[0-9]+' | sort -r | awk -F'[: ]+' '{ printf "%.1f ", $2 / 1e6 }'
}

# users_honest SECONDS: how late his starts are while he begins 60 jobs a second, about half of what his part
# of two cores bears, and then how many he gets done when he wants as many as he can get. The middle one of
# three each: one moment in which the machine does something else decides about 1 of 100 starts.
users_honest() {
  local i
  for i in 1 2 3; do
    (users_as 65533 65534 honest "$(($1 / 6))" 4 15) 2>>"$work/users-refused" >"$work/late.$i"
    (users_as 65533 65534 honest "$(($1 / 6))" 4) 2>>"$work/users-refused" >"$work/rate.$i"
  done
  echo "$(users_middle 1 late) $(users_middle 2 late) $(users_middle 3 rate)"
}

users_middle() { awk -v n="$1" '{ print $n }' "$work/$2".? | median; }

# users_beside SECONDS BEFORE WORD...: the honest one's figures and the loop's while the other is as the words
# say, for so many seconds before that already.
users_beside() {
  local seconds=$1 before=$2 others=() groups=(65534) group
  shift 2
  users_begin || return
  # Whoever changes his groups is another one to gRPC.
  [[ $1 != identities ]] || for group in {1..40}; do groups+=("65534,$group"); done
  for group in "${groups[@]}"; do
    (users_as 65534 "$group" "$@") >/dev/null 2>&1 &
    others+=($!)
  done
  sleep "$before"
  echo "$(users_honest "$seconds") $(users_lag)"
  kill -KILL "${others[@]}"
  wait "${others[@]}" 2>/dev/null
  kill -INT "$daemon"
  wait "$daemon"
  rm -rf "$work/users-state" "$users_place/socket.ledger"
}

# users_line WAY ALONE BESIDE: the figures of a way, and whether the promise was kept.
users_line() {
  awk -v way="$1" -v alone="$2" -v beside="$3" -v promise="$users_promise" 'BEGIN {
    split(alone, a); split(beside, b)
    late = b[2] / (a[2] > 0 ? a[2] : 0.001); each = a[3] / (b[3] > 0 ? b[3] : 0.001)
    printf "  %-12s p50 %7.1f ms, p99 %7.1f ms for %7.1f: %.2f x as long", way, b[1], b[2], a[2], late
    printf "; %6.1f jobs/s for %6.1f, each %.2f x as long; loop lag p99 %.1f ms for %.1f, max %.1f ms: %s\n",
           b[3], a[3], each, b[4], a[4], b[5], late <= promise && each <= promise ? "PASS" : "MISSED" }'
}

# bench_users: of the ways that WAYS names, or of all; SECONDS_EACH is how long each is measured, each in
# turn with somebody honest in the place of who means no good.
bench_users() {
  if ((EUID)); then
    echo "bench: users needs root" >&2
    return 2
  fi
  cmake --build build --target users_bench >&2 || return
  chmod 711 "$work"
  # The directories of a daemon at its usual place are in memory. On a disk, whoever makes files in one of them keeps
  # a CPU in the kernel meanwhile.
  users_place=$(mktemp -d /dev/shm/plimsoll-bench.XXXXXX) || return
  trap 'rm -rf "$work" "$users_place"' EXIT
  chmod 711 "$users_place"
  users_slices
  local seconds=${SECONDS_EACH:-30} way before alone line ways=("${users_ways[@]}") missed=()
  [[ ! ${WAYS:-} ]] || read -ra ways <<<"$WAYS"
  echo "from Run to the start and jobs a second, 4 at once, for what it is beside one who does the same:"
  for way in "${ways[@]}"; do
    before=$(users_before "$way")
    alone=$(users_beside "$seconds" "$before" honest $((2 * (seconds + before))) 4) || return
    line=$(users_line "$way" "$alone" "$(users_beside "$seconds" "$before" "$way" "$users_port")")
    echo "$line"
    users_refusals
    [[ $line == *PASS ]] || missed+=("$way")
  done
  users_no_slices
  if ((${#missed[@]})); then
    echo "MISSED: more than $users_promise x beside ${missed[*]}"
  else
    echo "PASS: at most $users_promise x beside each of ${#ways[@]} ways"
  fi
}

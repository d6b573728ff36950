#!/bin/bash
# plimsoll.v1, as programs meet them: the daemon on this machine's groups, the example
# executor, a client of Jobs. Last line: `N passed, N failed`.
# program: released
set -uo pipefail
source "$(dirname "$(realpath "$0")")/cases.bash"
source "$(dirname "$(realpath "$0")")/api.bash"

# as_listing UID GID GROUPS: asks for that user's jobs.
as_listing() { as "$@" "$clients/job_client" "$socket" list; }

case_executor_runs_what_is_admitted() {
  serve
  printf 'echo one >one\nsleep 0.3; echo two >two\nexit 3\n' >commands
  gives 1 "$clients/executor" <commands
  has one one
  has two two
  over 0
}

# More than the daemon takes of one client.
case_executor_runs_twelve_hundred() {
  serve
  yes 'echo >>ran' | head -n 1200 >commands
  gives 0 timeout $((4 * patience)) "$clients/executor" <commands
  lacks err 'jobs of this client'
  same 1200 "$(wc -l <ran)"
  over 0
}

# What is not read yet is not the first command's input.
case_executor_keeps_its_lines_to_itself() {
  serve
  { echo 'wc -c >eaten' && yes 'echo >>ran' | head -n 600; } >commands
  gives 0 timeout $((4 * patience)) "$clients/executor" <commands
  same 600 "$(wc -l <ran)"
  same 0 "$(cat eaten)"
  over 0
}

case_executor_counts_what_is_refused() {
  serve
  printf '%0300d\necho one >one\n' 0 >commands
  gives 1 timeout "$patience" "$clients/executor" <commands
  has err 'line-1: found a class of 300 bytes'
  has one one
  over 0
}

case_executor_without_a_daemon_says_so() {
  export PLIMSOLL_SOCKET=$PWD/nobody
  gives 101 "$clients/executor" <<<true
  has err 'no governor'
}

case_a_killed_client_has_no_jobs() {
  serve -j 1
  echo 'echo $$ >pid; exec sleep 60' | "$clients/executor" >first 2>&1 &
  local first=$!
  becomes_true test -s pid
  kill -KILL "$first"
  # The one place is free again.
  gives 0 "$clients/executor" <<<'echo after >after'
  has after after
  kill -KILL "$(cat pid)" # the client's own, and nobody else's
  over 0
}

# next_is_admitted ACTION...: of two jobs for the one place, the second is admitted soon after the
# action; the first is a stream's, which tells the file `first`.
next_is_admitted() {
  becomes_true grep -q 'admit a' first
  jobs submit touch "$PWD/after" >out
  [[ $(jobs list) == *waiting* ]] || wrong "there were two places: $(jobs list)"
  local begun=$SECONDS
  "$@"
  becomes_true test -e after
  ((SECONDS - begun < patience / 3)) || wrong "it took $((SECONDS - begun)) s"
  becomes_true eval '[[ -z $(jobs list) ]]'
}

case_a_half_open_stream_has_no_jobs() {
  serve -j 1
  mkfifo go && exec 3<>go
  # Having closed its side it does not even read.
  "$clients/stream_client" "$socket" enter a await hear close hear end stay <go >first &
  local first=$!
  next_is_admitted eval 'echo >&3'
  lacks first end
  echo >&3
  becomes_true grep -q 'end 0' first
  kill -KILL "$first"
  over 0
}

case_a_client_that_vanishes_has_no_jobs() {
  serve -j 1
  "$clients/stream_client" "$socket" enter a await stay >first &
  next_is_admitted kill -KILL $!
  over 0
}

# It is stopped where it stands, costs little, and has nothing once it knows.
case_a_client_that_floods_is_alone_with_it() {
  serve
  local supervisor before after
  supervisor=$(supervisor_of "$daemon")
  gives 0 jobs run 60 true # what the first call takes for good
  before=$(rss_of "$supervisor")
  mkfifo go && exec 3<>go
  "$clients/stream_client" "$socket" flood 100000 hear end stay <go >first &
  local first=$!
  becomes_true grep -q sent first
  # It has not read yet.
  lacks first end
  gives 0 timeout "$patience" "$clients/job_client" "$socket" list
  after=$(rss_of "$supervisor")
  # 10000 answers and 1000 jobs are some 6 MB, and what sanitizers keep beside them.
  ((after < before + 16384 * $(if is_sanitized; then echo 3; else echo 1; fi))) || wrong "the supervisor has grown from $before to $after kB"
  # When there are too many answers its jobs leave with the stream, whether or not it is there. Were it to
  # read before that, there would never be too many.
  gives 0 jobs run $((patience / 3)) echo served
  has out served
  echo >&3
  becomes_true grep -q '^end' first
  has first 'end 8'
  kill -KILL "$first"
  over 0 INT
}

case_clients_learn_of_a_killed_daemon() {
  serve
  echo 'echo $$ >pid; exec sleep 60' | "$clients/executor" >out 2>err &
  local client=$! status=0
  becomes_true test -s pid
  kill -KILL "$daemon"
  wait "$daemon"
  wait "$client" || status=$?
  same 101 "$status"
  has err 'no governor'
  becomes_true nothing_left
  serve # the socket of the dead one is in nobody's way
  over 0
}

case_jobs_run_and_tell() {
  serve
  gives 0 jobs run 60 sh -c 'echo out; echo err >&2; exit 5'
  same out "$(cat out)"
  has err err
  has err 'state running attempt 1'
  has err 'outcome exited 5'
  gives 0 jobs run 60 /nonexistent/program
  has err 'outcome failed_to_start'
  over 0
}

case_large_output_comes_whole() {
  serve
  gives 0 jobs run 120 sh -c 'head -c 30000000 /dev/zero'
  same 30000000 "$(stat -c %s out)"
  over 0
}

case_a_call_that_is_given_up_kills_its_job() {
  serve
  local seconds
  # The job must have begun by then.
  for seconds in 1 5 20; do
    gives 104 jobs run $seconds sh -c 'echo $$; setsid sleep 1000 & echo $!; sleep 1000'
    (($(wc -l <out) < 2)) || break
  done
  same 2 "$(wc -l <out)" 'lines of the job'
  becomes_true eval '[[ -z $(jobs list) ]]'
  gone "$(sed -n 1p out)" || wrong 'the main process lives'
  gone "$(sed -n 2p out)" || wrong 'what it has started lives'
  over 0
}

case_submitted_jobs_are_listed_signalled_and_explained() {
  serve
  local job
  job=$(jobs submit sleep 1000)
  becomes_true eval 'jobs list | grep -q running'
  same "$job running $EUID $job" "$(jobs list)"
  gives 0 jobs explain "$job"
  has out 'admitted '
  jobs watch "$job" 2>watched &
  local watcher=$!
  becomes_true grep -q running watched
  gives 0 jobs signal "$job" 15
  wait $watcher
  same 0 $? 'the watcher'
  has watched 'outcome signalled'
  becomes_true eval '[[ -z $(jobs list) ]]'
  gives 0 jobs explain "$job"
  has out 'ended '
  gives 105 jobs signal "$job" 15
  has err "found no job $job of this user"
  gives 103 jobs submit
  has err 'job.argv: found no command, expected one'
  over 0
}

case_drain_lets_what_runs_end() {
  serve
  jobs run 60 sh -c 'sleep 1; echo done' >out 2>err &
  local client=$!
  becomes_true grep -q running err
  over 0
  wait "$client"
  has out 'done'
  has err 'outcome exited 0'
}

# Its users see and end what still runs; nothing new is taken.
case_a_daemon_that_drains_answers() {
  serve
  gives 0 jobs submit sh -c 'exec sleep 1000'
  local job
  job=$(<out)
  becomes_true eval '"$clients/job_client" "$socket" list | grep -q running'
  kill -TERM "$daemon"
  becomes_true grep -q 'shutting down when 1 running job has ended$' daemon.log
  gives 0 jobs list
  has out running
  gives 114 jobs submit true
  has err 'accepts no jobs'
  gives 0 jobs explain "$job"
  gives 0 jobs signal "$job" 15
  wait "$daemon"
  same 0 $? 'exit status of the daemon'
  becomes_true nothing_left
}

case_jobs_are_their_users() {
  is_root || skip 'not root'
  serve
  chmod 666 "$socket"
  chmod 711 .
  # The mode of the socket is not what decides.
  gives 114 as_listing 65534 65534 none
  over 0
  serve_group
  gives 0 as 65534 65534 none "$clients/job_client" "$socket" run 60 id -u
  same 65534 "$(cat out)"
  local job
  job=$(jobs submit sleep 1000)
  gives 105 as 65534 65534 none "$clients/job_client" "$socket" signal "$job" 9
  gives 0 jobs signal "$job" 9
  over 0
}

# Exactly the peer's, and no way back to the daemon's.
case_jobs_have_their_users_groups() {
  is_root || skip 'not root'
  serve_group
  chmod 711 .
  gives 0 as 1234 2345 7,8,65534 "$clients/job_client" "$socket" run 60 \
    sh -c 'id -u; id -g; id -G; grep -E "^(Uid|Gid|Groups):" /proc/self/status'
  same '1234 2345 2345 7 8 65534 Uid: 1234 1234 1234 1234 Gid: 2345 2345 2345 2345 Groups: 7 8 65534' \
    "$(echo $(cat out))"
  # The same user with other groups is not given those of before.
  gives 0 as 1234 65534 none "$clients/job_client" "$socket" run 60 id -G
  same 65534 "$(cat out)"
  over 0
}

# serving_with_more FILE: a Plimsoll whose daemon has what jobs must not get at: a terminal to type into,
# and a key in the keyring of its session. Writes what was typed to `typed`, and the number of the key to
# `key`, where the kernel knows keys.
serving_with_more() {
  cat >more.py <<END
import ctypes, fcntl, os, sys, termios
libc = ctypes.CDLL(None, use_errno=True)
KEYCTL, ADD_KEY = {"x86_64": (250, 248), "aarch64": (219, 217)}[os.uname().machine]
libc.syscall(KEYCTL, 1, None)
key = libc.syscall(ADD_KEY, b"user", b"plimsoll-test", b"secret", 6, -3)
with open("key", "w") as file:
    file.write(str(key) if key >= 0 else "")
master, slave = os.openpty()
if os.fork() == 0:
    os.close(slave)
    os.dup2(master, 0)
    try:
        while seen := os.read(master, 1000):
            with open("typed", "ab") as file:
                file.write(seen)
    except OSError:  # the terminal is gone with the daemon
        pass
    os._exit(0)
os.close(master)
os.setsid()
fcntl.ioctl(slave, termios.TIOCSCTTY, 0)
os.dup2(slave, 0)
os.execv("$plimsoll", ["$plimsoll", *sys.argv[1:]])
END
  : >typed
  printf '#!/bin/sh\nexec %s %s/more.py "$@"\n' "$python" "$PWD" >"$1"
  chmod 755 "$1"
}

# What a job could take from the daemon, and so from root, by calls of its own.
# As of sudo(8): what a job has become is signalled for its user no further than he could himself.
case_who_has_become_root_is_not_its_users_to_signal() {
  is_root || skip 'not root'
  serve_group
  chmod 711 .
  cp "$python" root-python
  chmod 4755 root-python
  local job program='import os, signal, sys, time
def tell(word):
    with open(sys.argv[1], "a") as told: print(word, file=told)
signal.signal(signal.SIGUSR1, lambda *_: tell("heard"))
os.setresuid(0, 0, 0)
tell("root")
time.sleep(1000)'
  job=$(as 65534 65534 none "$clients/job_client" "$socket" submit "$PWD/root-python" -c "$program" "$PWD/told")
  becomes_true grep -q root told
  as 65534 65534 none "$clients/job_client" "$socket" signal "$job" 10 >signalled 2>&1 &&
    wrong "it was signalled: $(cat signalled)"
  has signalled 'runs as another user'
  gives 0 jobs signal "$job" 10
  becomes_true grep -q heard told
  # To end the job is its user's right all the same.
  gives 0 as 65534 65534 none "$clients/job_client" "$socket" signal "$job" 9
  becomes_true eval '[[ ! $(jobs list) ]]'
  over 0
}

# A pipe is its user's: /dev/stdout and /dev/stderr are opened again by name.
case_a_job_opens_its_output_by_name() {
  is_root || skip 'not root'
  serve_group
  chmod 711 .
  gives 0 as 65534 65534 none "$clients/job_client" "$socket" run "$patience" \
    sh -c 'echo one >/dev/stdout; echo two >/dev/stderr; echo three >>/proc/self/fd/1'
  has out one
  has out three
  over 0
}

case_a_job_cannot_reach_past_its_user() {
  is_root || skip 'not root'
  serving_with_more more
  cat >reach.py <<'END'
import ctypes, fcntl, os, resource, sys, termios
libc = ctypes.CDLL(None, use_errno=True)
KEYCTL = {"x86_64": 250, "aarch64": 219}[os.uname().machine]
SEARCH, READ, UPDATE, SESSION = 10, 11, 2, -3

def tried(what, act, *words):
    try:
        print(what, "done", act(*words))
    except (OSError, ValueError):
        print(what, "refused")

def keyctl(*words):
    answer = libc.syscall(KEYCTL, *words)
    if answer < 0:
        raise OSError(ctypes.get_errno(), "keyctl")
    return answer

def more(kind):
    soft, hard = resource.getrlimit(kind)
    if hard == resource.RLIM_INFINITY:  # there is no more of it: take it from the daemon
        return resource.prlimit(os.getppid(), kind, (soft, soft))
    return resource.setrlimit(kind, (soft, hard + 1))

def write(path, text):
    with open(path, "w") as file:
        file.write(text)

for fd in (0, 1, 2):
    tried(f"type {fd}", fcntl.ioctl, fd, termios.TIOCSTI, b"x")
tried("terminal", os.open, "/dev/tty", os.O_RDWR)
print("session", os.getsid(0) == os.getpid())
if sys.argv[1]:
    buffer = ctypes.create_string_buffer(100)
    tried("find key", keyctl, SEARCH, SESSION, b"user", b"plimsoll-test", 0)
    tried("read key", keyctl, READ, int(sys.argv[1]), buffer, 100)
    tried("change key", keyctl, UPDATE, int(sys.argv[1]), b"mine", 4)
for kind in ("NOFILE", "NPROC", "MEMLOCK", "NICE", "RTPRIO", "SIGPENDING", "MSGQUEUE"):
    tried(f"limit {kind}", more, getattr(resource, f"RLIMIT_{kind}"))
tried("limit of the daemon", resource.prlimit, os.getppid(), resource.RLIMIT_NOFILE, (10, 10))
tried("nicer", os.nice, -1)
tried("nicer daemon", os.setpriority, os.PRIO_PROCESS, os.getppid(), 19)
tried("real time", os.sched_setscheduler, 0, os.SCHED_FIFO, os.sched_param(1))
tried("oom score", write, "/proc/self/oom_score_adj", "-1")
tried("oom score of the daemon", write, f"/proc/{os.getppid()}/oom_score_adj", "1000")
tried("signal", os.kill, os.getppid(), 0)
tried("memory of the daemon", os.open, f"/proc/{os.getppid()}/mem", os.O_RDONLY)
tried("root", os.setuid, 0)
tried("groups", os.setgroups, [0])
END
  plimsoll=$PWD/more serve_group
  chmod 711 .
  chmod 644 reach.py
  gives 0 as 65534 65534 none "$clients/job_client" "$socket" run "$patience" \
    "$python" "$PWD/reach.py" "$(<key)"
  has out 'session True'
  lacks out done
  same "$(if [[ -s key ]]; then echo 24; else echo 21; fi)" "$(grep -c refused out)" 'what was refused'
  has err 'outcome exited 0'
  over 0
  empty typed
}

case_the_socket_is_its_groups() {
  is_root || skip 'not root'
  serve
  same '600 0 0' "$(stat -c '%a %u %g' "$socket")"
  chmod 711 .
  gives 114 as_listing 1234 65534 none
  over 0
  serve_group
  same '660 0 65534' "$(stat -c '%a %u %g' "$socket")"
  gives 0 as_listing 1234 65534 none
  gives 0 as_listing 1234 2345 7,65534
  gives 114 as_listing 1234 2345 7,8
  # Nor by its mode alone.
  chmod 666 "$socket"
  gives 114 as_listing 1234 2345 7,8
  gives 0 as_listing 1234 2345 7,65534
  over 0
}

# certificate NAME [ISSUER]: NAME.pem and NAME.key, signed by the issuer or by itself.
certificate() {
  openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 -subj "/CN=$1" \
    -addext 'subjectAltName=DNS:localhost,IP:127.0.0.1' ${2:+-CA "$2.pem" -CAkey "$2.key"} \
    -keyout "$1.key" -out "$1.pem" 2>openssl.log || wrong "no certificate: $(cat openssl.log)"
}

# serve_tls NAME...: as `serve`, over TCP as well, for clients with these certificates.
serve_tls() {
  type -P openssl >/dev/null || skip 'no openssl'
  local name
  port=$(free_port)
  certificate ca
  for name in server "$@"; do certificate "$name" ca; done
  cat >tls.toml <<END
listen.tcp = "127.0.0.1:$port"
listen.tls_certificate = "$PWD/server.pem"
listen.tls_key = "$PWD/server.key"
listen.tls_client_ca = "$PWD/ca.pem"
metrics.listen = "off"
END
  serve --config tls.toml
}

# Who has no certificate gets few descriptors, for a while, and not those of others.
case_strangers_over_tcp_leave_descriptors() {
  local port strangers supervisor count
  ulimit -n 400
  serve_tls client
  "$python" - "$port" >idle <<'END' &
import socket, sys, time
held = []
def more():
    try:
        held.append(socket.create_connection(("127.0.0.1", int(sys.argv[1])), timeout=30))
    except OSError:
        pass
for _ in range(350):
    more()
print("held", flush=True)
while True:
    held.pop(0)
    more()
    time.sleep(0.01)
END
  strangers=$!
  becomes_true test -s idle
  supervisor=$(supervisor_of "$daemon")
  count=$(ls "/proc/$supervisor/fd" | wc -l)
  ((count < 250)) || wrong "the daemon has $count descriptors open"
  gives 0 jobs run "$patience" echo served
  has out served
  # A connection that has not shown its certificate yet can be the one that makes room: it comes again.
  is_admitted() {
    timeout "$patience" "$clients/stream_client" "tls:127.0.0.1:$port:client" enter a await >out &&
      grep -q 'admit a' out
  }
  becomes_true is_admitted
  kill "$strangers"
  over 0
}

case_a_certificate_has_its_share() {
  local port first
  serve_tls one other
  "$clients/stream_client" "tls:127.0.0.1:$port:one" streams 250 stay >first &
  first=$!
  becomes_true grep -q streams first
  same 'streams 199 51' "$(grep streams first)"
  gives 0 timeout "$patience" "$clients/stream_client" "tls:127.0.0.1:$port:other" enter a await
  has out 'admit a'
  kill -KILL "$first"
  over 0
}

# Of one certificate 4096 are open at once, over however many connections: its stream and these.
case_a_certificate_has_so_many_calls() {
  local port first
  serve_tls one other
  "$clients/stream_client" "tls:127.0.0.1:$port:one" enter a await calls 4100 stay >first &
  first=$!
  becomes_true grep -q calls first
  same 'calls 4095 5' "$(grep calls first)"
  gives 0 timeout "$patience" "$clients/stream_client" "tls:127.0.0.1:$port:other" enter a await calls 3
  has out 'admit a'
  has out 'calls 3 0'
  kill -KILL "$first"
  over 0
}

run_cases "$@"

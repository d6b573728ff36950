#!/bin/bash
# Metrics as scrapers and strangers meet them: over TCP and at a Unix socket of the daemon's. Last line:
# `N passed, N failed`.
# program: released
set -uo pipefail
source "$(dirname "$(realpath "$0")")/cases.bash"

# serve CONFIG OPTION...: a daemon that is ready; its pid is in `daemon`.
serve() {
  printf '%s\n' "$1" >p.toml
  "$plimsoll" serve --config p.toml --socket "$PWD/s" "${@:2}" >daemon.log 2>&1 &
  daemon=$!
  becomes_true grep -q ready daemon.log || cat daemon.log
}

# The daemon ends, and leaves nothing.
over() {
  local seen=0
  kill "$daemon"
  becomes_true eval '! kill -0 "$daemon"' || kill -KILL "$daemon"
  wait "$daemon" || seen=$?
  ((seen == 0)) || wrong "expected the daemon's exit status 0, saw $seen: $(cat daemon.log)"
  becomes_true nothing_left
}

jobs() { "$(dirname "$plimsoll")/tests/clients/job_client" "$PWD/s" "$@"; }

case_metrics_are_served() {
  local port
  port=$(free_port)
  serve '' --metrics "127.0.0.1:$port"
  gives 0 jobs run 60 true
  metrics_of "$port" >metrics
  has metrics 'plimsoll_jobs_ended_total{outcome="exited"} 1'
  has metrics 'plimsoll_decisions_total{kind="admitted"} 1'
  has metrics 'plimsoll_job_wall_seconds_count{class="'
  same '# EOF' "$(tail -n 1 metrics)"
  over
}

# Who holds connections and says nothing has a bounded number of them, and is in nobody's way.
case_strangers_at_the_metrics_port() {
  local port
  port=$(free_port)
  serve '' --metrics "127.0.0.1:$port"
  "$python" - "$port" >idle <<'END' &
import resource, socket, sys, time
resource.setrlimit(resource.RLIMIT_NOFILE, (3000, resource.getrlimit(resource.RLIMIT_NOFILE)[1]))
held = []
for i in range(2000):
    held.append(socket.create_connection(("127.0.0.1", int(sys.argv[1])), timeout=30))
    if i % 2 == 0:
        held[-1].send(b"GET ")
print("held", flush=True)
time.sleep(600)
END
  local strangers=$!
  becomes_true test -s idle
  local supervisor count
  supervisor=$(supervisor_of "$daemon")
  count=$(ls "/proc/$supervisor/fd" | wc -l)
  ((count < 250)) || wrong "the daemon has $count descriptors open"
  gives 0 jobs run 60 true
  metrics_of "$port" >metrics
  same '# EOF' "$(tail -n 1 metrics)"
  kill "$strangers"
  # A page of the web that has its own name lead here.
  same 421 "$("$python" -c '
import http.client, sys
c = http.client.HTTPConnection("127.0.0.1", int(sys.argv[1]), timeout=30)
c.request("GET", "/metrics", headers={"Host": "evil.example.com"})
print(c.getresponse().status)' "$port")"
  over
}

# Who asks, again and again, and reads nothing has what one user may have, and nobody else's.
case_fifty_that_do_not_read_the_figures() {
  is_root || skip 'not root'
  local port clients supervisor count
  port=$(free_port)
  serve '' --metrics "127.0.0.1:$port"
  setpriv --reuid 65534 --regid 65534 --clear-groups "$python" - "$port" >silent <<'END' &
import socket, sys
held = []
def more():
    s = socket.socket()
    s.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1)
    s.setsockopt(socket.IPPROTO_TCP, socket.TCP_WINDOW_CLAMP, 1)
    s.connect(("127.0.0.1", int(sys.argv[1])))
    try:
        s.send(b"GET /metrics HTTP/1.0\r\n\r\n")
    except OSError:
        pass
    held.append(s)
for _ in range(50):
    more()
print("held", flush=True)
while True:
    more()
    held.pop(0)
END
  clients=$!
  becomes_true test -s silent
  supervisor=$(supervisor_of "$daemon")
  for ((count = 0; count < 30; count++)); do
    metrics_of "$port" >metrics
    same '# EOF' "$(tail -n 1 metrics)"
  done
  gives 0 jobs run 60 true
  count=$(ls "/proc/$supervisor/fd" | wc -l)
  ((count < 250)) || wrong "the daemon has $count descriptors open"
  kill "$clients"
  over
}

# Who never comes to the end of a request, or sends none, has what one user may have, for 10 s.
case_requests_without_an_end() {
  is_root || skip 'not root'
  local port clients supervisor count
  port=$(free_port)
  serve '' --metrics "127.0.0.1:$port"
  setpriv --reuid 65534 --regid 65534 --clear-groups "$python" - "$port" >slow <<'END' &
import os, socket, sys, time
held = []
def more():
    s = socket.socket()
    s.setblocking(False)
    s.connect_ex(("127.0.0.1", int(sys.argv[1])))
    held.append(s)
for _ in range(200):
    more()
print("held", flush=True)
while True:
    for i, s in enumerate(list(held)):
        try:
            s.send(b"G" if i % 2 else os.urandom(4096))
        except BlockingIOError:
            continue
        except OSError:
            s.close()
            held.remove(s)
            more()
    time.sleep(1)
END
  clients=$!
  becomes_true test -s slow
  supervisor=$(supervisor_of "$daemon")
  for ((count = 0; count < 10; count++)); do
    metrics_of "$port" >metrics
    same '# EOF' "$(tail -n 1 metrics)"
    gives 0 jobs run 60 true
    (($(ls "/proc/$supervisor/fd" | wc -l) < 250)) || wrong "$(ls "/proc/$supervisor/fd" | wc -l) descriptors"
  done
  kill -0 "$clients" || wrong 'the clients have gone'
  kill "$clients"
  over
}

case_metrics_at_a_unix_socket() {
  serve "$(printf 'metrics.listen = "unix:%s/m"\nmetrics.mode = "0640"' "$PWD")"
  has daemon.log "metrics are at $PWD/m"
  same 640 "$(stat -c %a m)"
  "$python" - "$PWD/m" >metrics <<'END'
import socket, sys
s = socket.socket(socket.AF_UNIX)
s.settimeout(30)
s.connect(sys.argv[1])
s.sendall(b"GET /metrics HTTP/1.1\r\nHost: localhost\r\nAccept: application/openmetrics-text\r\n\r\n")
print(s.makefile().read(), end="")
END
  has metrics 'HTTP/1.1 200 OK'
  same '# EOF' "$(tail -n 1 metrics)"
  over
  [[ ! -e m ]] || wrong 'the socket is left'
}

run_cases "$@"

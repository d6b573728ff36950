#!/bin/bash
# The daemon's dashboard: over HTTP, and in a real browser where this host has Chromium and npm, with a
# registry to install playwright-core from. Last line: `N passed, N failed`.
# long: a browser waits for a daemon that begins again
set -uo pipefail
root=$(dirname "$(realpath "$0")")/../..
source "$root/tests/cli/cases.bash"
source "$root/tests/cli/browser.bash"

# serve OPTION...: a daemon with a dashboard at `port` that is ready; it ends with the case.
serve() {
  state
  export PLIMSOLL_SOCKET=$PWD/s
  port=${port:-$(free_port)}
  rm -f daemon.log # an earlier one was ready, too
  "$plimsoll" serve --metrics off --dashboard "127.0.0.1:$port" "$@" >daemon.log 2>&1 &
  daemon=$!
  trap over EXIT
  becomes_true grep -q ready daemon.log || cat daemon.log
  address=$(cat state/dashboard)
}

over() {
  kill -INT "$daemon" 2>/dev/null
  wait "$daemon" 2>/dev/null
  becomes_true nothing_left || { wrong "left behind: $(groups_left)"; exit 1; }
}

# privileged_port: a free one that only root may listen at, and that browsers open.
privileged_port() {
  "$python" -c '
import random, socket
while True:
    port = random.randrange(700, 980)
    try:
        with socket.socket() as s: s.bind(("127.0.0.1", port))
        break
    except OSError:
        pass
print(port)'
}

# ask PATH [HOST]: the status of the answer; its head and body are in `answer`.
ask() {
  "$python" - "$port" "$1" "${2:-localhost}" <<'END'
import http.client, sys
c = http.client.HTTPConnection("127.0.0.1", int(sys.argv[1]), timeout=60)
c.request("GET", sys.argv[2], headers={"Host": sys.argv[3]})
r = c.getresponse()
with open("answer", "wb") as f:
    f.write(str(r.headers).encode() + r.read())
print(r.status)
END
}

# events PATH COUNT: waits for so many events and prints them, one a line.
events() {
  "$python" - "$port" "$1" "$2" <<'END'
import sys, urllib.request
answer = urllib.request.urlopen(f"http://127.0.0.1:{sys.argv[1]}{sys.argv[2]}", timeout=60)
left = int(sys.argv[3])
for line in answer:
    if line.startswith(b"data: "):
        print(line[6:].decode(), end="")
        left -= 1
        if left == 0:
            break
END
}

# path [REST]: of the dashboard, with its token.
path() { echo "/${address#http://*/}${1:-}"; }

case_only_who_knows_the_address_may_look() {
  serve
  same 600 "$(stat -c %a state/dashboard)"
  has daemon.log "the dashboard is at the address in $PWD/state/dashboard"
  lacks daemon.log "$(path)"
  same 403 "$(ask /)"
  same 403 "$(ask /events)"
  same 403 "$(ask /runs)"
  same 403 "$(ask "$(path | tr 0-9a-f 1-9a-f0)")"
  # A page of the web that has its own name lead here.
  same 421 "$(ask "$(path)" evil.example.com)"
  same 200 "$(ask "$(path)")"
  has answer "default-src 'none'"
  has answer "frame-ancestors 'none'"
  same 404 "$(ask "$(path other)")"
}

case_events_are_those_of_top() {
  serve
  gives 0 "$plimsoll" submit --detach --name '</script>' -- sh -c 'until [ -e over ]; do sleep 0.1; done'
  becomes_true eval 'events "$(path events)" 1 >event && grep -q "\"running\":\[{" event'
  "$plimsoll" top daemon --once --json >top
  "$python" - event top <<'END' || wrong "$(cat event top)"
import json, sys
event, top = (json.loads(open(name).readline()) for name in sys.argv[1:])
assert event["schema"] == top["schema"] == "plimsoll.progress/1"
assert event["status"]["line_bytes"] == top["status"]["line_bytes"]
assert event["status"]["running"][0]["job"] == top["status"]["running"][0]["job"] == "</script>"
END
  events "$(path events)" 3 >more
  same 3 "$(wc -l <more)"
  touch over
}

# Nobody else can have been there meanwhile.
case_the_address_stays_the_same() {
  is_root || skip 'not root'
  local port
  port=$(privileged_port)
  serve
  local before=$address
  over
  serve
  same "$before" "$address"
  events "$(path events)" 1 >event
  has event '"kind":"status"'
  over
  chmod 644 state/dashboard # somebody may have read it
  serve
  [[ $address != "$before" ]] || wrong 'the address is the old one'
  same 600 "$(stat -c %a state/dashboard)"
}

# A program that looks for the daemon again may tell whoever is at its port what it knows.
case_who_takes_the_port_meanwhile_has_learnt_nothing() {
  is_root || skip 'not root'
  serve
  local before
  before=$(path)
  over
  setpriv --reuid 65534 --regid 65534 --clear-groups "$python" - "$port" >heard <<'END' &
import socket, sys
s = socket.socket()
s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
s.bind(("127.0.0.1", int(sys.argv[1])))
s.listen()
print(s.accept()[0].recv(4096).decode(), flush=True)
END
  becomes_true eval 'ask "$before" >/dev/null 2>&1; grep -q "$before" heard'
  wait $!
  serve
  same 403 "$(ask "$before")"
  same 403 "$(ask "${before}events")"
  same 200 "$(ask "$(path)")"
  # The key is the same, and told to nobody who does not know the new address.
  same 403 "$(ask "${before}key")"
  same 200 "$(ask "$(path key)")"
  has answer "$(printf 'place 127.0.0.1:%s' "$port" | openssl dgst -sha256 -hmac "$(<state/dashboard.key)" | cut -d' ' -f2)"
}

# Who opens streams and reads nothing has a bounded number of them, and is in nobody's way.
case_streams_that_nobody_reads() {
  is_root || skip 'not root'
  serve
  setpriv --reuid 65534 --regid 65534 --clear-groups "$python" - "$port" "$(path events)" >held <<'END' &
import socket, sys, time
held, refused = [], 0
while refused < 20:
    s = socket.socket()
    s.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1)
    s.settimeout(60)
    s.connect(("127.0.0.1", int(sys.argv[1])))
    s.send(f"GET {sys.argv[2]} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode())
    if s.recv(12) == b"HTTP/1.1 200":
        held.append(s)
    else:
        refused += 1
print(len(held), flush=True)
time.sleep(600)
END
  local reader=$!
  becomes_true test -s held
  [[ $(cat held) != 32 ]] || skip 'the kernel does not tell whose a connection is'
  same 8 "$(cat held)"
  # Pages are for him who has all his streams, too; and streams for others.
  same 200 "$(ask "$(path)")"
  events "$(path events)" 3 >event
  same 3 "$(wc -l <event)"
  gives 0 "$plimsoll" submit -- true
  kill "$reader"
}

case_pages_of_recorded_runs() {
  state
  gives 0 "$plimsoll" batch --standalone -- echo ::: a b
  serve
  same 200 "$(ask "$(path runs)")"
  local run
  run=$(grep -o '"run":"[^"]*"' answer | cut -d'"' -f4)
  same 200 "$(ask "$(path "runs/$run")")"
  has answer '<title>Plimsoll run</title>'
  same 404 "$(ask "$(path runs/none)")"
  same 404 "$(ask "$(path "runs/../../dashboard")")"
  # A large record is left to `plimsoll report`.
  truncate -s 33M "state/runs/$run/events.jsonl"
  same 500 "$(ask "$(path "runs/$run")")"
  has answer 'plimsoll report'
}

case_it_is_off_or_elsewhere() {
  serve
  state
  local other=0
  # What was asked for must be had.
  "$plimsoll" serve --metrics off --dashboard "127.0.0.1:$port" --socket "$PWD/t" >other.log 2>&1 || other=$?
  same 125 "$other"
  has other.log 'listen for the dashboard at 127.0.0.1'
  over
  "$plimsoll" serve --metrics off --dashboard off >off.log 2>&1 &
  daemon=$!
  becomes_true grep -q ready off.log
  lacks off.log dashboard
}

case_in_a_browser() {
  local chromium playwright lacks='' line
  PLIMSOLL=$plimsoll
  (cd "$root" && find_browser && printf '%s\n%s\n' "$chromium" "$playwright" || { echo "$lacks" >&2 && false; }) >found 2>lacks ||
    skip "$(tail -n 1 lacks)"
  { read -r chromium && read -r playwright; } <found
  state
  gives 0 "$plimsoll" batch --standalone -- echo ::: a b
  serve
  gives 0 "$plimsoll" submit --detach --name before -- sh -c 'until [ -e over ]; do sleep 0.1; done' \
    '</script><img src=x onerror=document.title="harmed">'
  node "$root/tests/page/dashboard.mjs" "$playwright" "$chromium" "$address" >browser 2>&1 &
  local browser=$!
  becomes_true grep -q 'end it' browser
  touch over
  over
  local before key impostor
  before=$(path)
  key=$(<state/dashboard.key)
  "$python" "$root/tests/page/impostor.py" "$port" >heard &
  impostor=$!
  becomes_true grep -q 'begin again' browser
  kill "$impostor"
  wait "$impostor"
  has heard '/hello/'
  lacks heard "${before//\//}"
  lacks heard "$key"
  rm over
  serve
  gives 0 "$plimsoll" submit --detach --name after -- sh -c 'until [ -e over ]; do sleep 0.1; done'
  wait "$browser" || wrong "the browser ended with $?"
  touch over
  ! grep FAIL browser || wrong "$(cat browser)"
  same 11 "$(grep -c '^ok' browser)" "$(cat browser)"
}

run_cases "$@"

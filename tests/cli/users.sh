#!/bin/bash
# Several users of one daemon: what one of them does is no other's trouble. As root, with real users,
# on this machine's groups. Last line: `N passed, N failed`.
# long: what happens to nobody takes seconds to be seen
# program: released
set -uo pipefail
source "$(dirname "$(realpath "$0")")/cases.bash"
source "$(dirname "$(realpath "$0")")/api.bash"

# runs_at_once UID: that user's job and root's start, whatever others have or wait for.
runs_at_once() {
  gives 0 as "$1" 65534 none "$clients/job_client" "$socket" run "$patience" id -u
  same "$1" "$(cat out)"
  gives 0 jobs run "$patience" id -u
  same 0 "$(cat out)"
}

case_one_users_jobs_leave_places_to_others() {
  is_root || skip 'not root'
  serve_group -j 8
  chmod 711 .
  local i
  for ((i = 0; i < 40; i++)); do
    as 65534 65534 none "$clients/job_client" "$socket" submit sleep 1000 >/dev/null || wrong 'submit'
  done
  becomes_true eval '(($(jobs list | grep -c running) == 6))'
  runs_at_once 65533
  same 6 "$(jobs list | grep -c ' running 65534 ')"
  over 0 INT
}

# Nor what he says that he needs, and does not take: all of the line, and all of the cores.
case_one_users_hints_hold_up_no_other() {
  is_root || skip 'not root'
  serve_group --line 2G
  chmod 711 .
  as 65534 65534 none "$clients/stream_client" "$socket" hint 1T cores 1000 enter a await \
    enter b hint 50M cores 1 enter c enter d enter e enter f stay >first &
  local first=$!
  becomes_true grep -q 'admit a' first
  runs_at_once 65533
  pkill -KILL -P "$first" # the client, of the function that has started it
  over 0
}

# roots_jobs: two jobs of root's that grow to 60 MiB in some seconds; one must not be run again. Their
# numbers are in `of_root`.
roots_jobs() {
  local program='import os, sys, time
held = []
for step in range(60): time.sleep(0.07); held.append(bytearray(1 << 20))
open(f"{sys.argv[1]}/grown-{os.getpid()}", "w")
time.sleep(1000)'
  rm -f grown-*
  of_root=("$(jobs submit "$python" -c "$program" "$PWD")")
  of_root+=("$(PLIMSOLL_SOCKET=$socket "$plimsoll" submit --detach -- "$python" -c "$program" "$PWD")")
  becomes_true eval '(($(jobs list | grep -c " running 0 ") == 2))'
}

# roots_jobs_go_on: when they have grown, and in the seconds after, nothing has happened to them.
roots_jobs_go_on() {
  local job
  becomes_true eval '(($(compgen -G "grown-*" | wc -l) == 2))'
  sleep 3
  same 2 "$(jobs list | grep -c ' running 0 ')" "root's jobs that run"
  for job in "${of_root[@]}"; do
    jobs explain "$job" >explained || wrong "explain $job"
    has explained started
    ! grep -qE '^(frozen|evicted|killed|ended) ' explained || wrong "job $job: $(cat explained)"
  done
}

# What a client says of his job is believed against himself alone: as the oldest, more than there is,
# and as much as there can be.
case_one_users_words_end_nobody_elses_job() {
  is_root || skip 'not root'
  serve_group --line 1G
  chmod 711 .
  local first of_root
  as 65534 65534 none "$clients/stream_client" "$socket" hint 1M enter a await enter b await \
    hear observe a 8G hear observe a 1G observe b 18446744073709551615 stay >first < <(
      becomes_true test -e lie && echo && becomes_true test -e lie-more && echo && exec sleep 1000
    ) &
  first=$!
  becomes_true grep -q 'admit b' first
  roots_jobs
  touch lie
  roots_jobs_go_on
  touch lie-more
  roots_jobs_go_on
  pkill -KILL -P "$first"
  over 0 INT
}

# in_the_ledger OWNERS COUNT LINE: so many files of live runs for each of these users there, which say
# that; until it is killed. Prints its process id when they are there.
in_the_ledger() {
  "$python" - "$socket.ledger" "$@" <<'END'
import fcntl, os, resource, struct, sys, time
directory, owners, count, line = sys.argv[1:]
hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
held = []
def lease(path):
    while True:
        file = os.open(path, os.O_RDWR | os.O_CREAT, 0o640)
        fcntl.flock(file, fcntl.LOCK_EX)
        fcntl.fcntl(file, fcntl.F_OFD_SETLK, struct.pack("hhqqi", fcntl.F_WRLCK, 0, 0, 0, 0))
        try:
            if os.path.samestat(os.stat(path), os.fstat(file)): return file
        except FileNotFoundError:
            pass
        os.close(file)  # taken for a dead run's and removed, as it was not locked yet
for owner in map(int, owners.split(",")):
    for i in range(int(count)):
        held.append(lease(f"{directory}/zz-{owner}-{i}"))
        if owner != os.geteuid(): os.chown(held[-1], owner, 65534)
        os.write(held[-1], line.encode())  # as root's it would be believed
print(os.getpid(), flush=True)
time.sleep(1000)
END
}

# leased_runs: how many other runs the daemon hears of.
leased_runs() {
  PLIMSOLL_SOCKET=$socket "$plimsoll" ctl --json status | "$python" -c '
import json, sys
print(json.load(sys.stdin)["status"]["others"]["runs"])'
}

# Runs tell each other what they use by files; another user's word has nobody's jobs stopped.
case_one_users_lies_in_the_ledger_end_nobody_elses_job() {
  is_root || skip 'not root'
  serve_group --line 1G
  chmod 711 .
  local of_root lie='1099511627776 1099511627776 1 1 99000 99000 1 1099511627776'
  roots_jobs
  declare -fx in_the_ledger
  export python socket
  as 65534 65534 none bash -c "in_the_ledger 65534 1 '$lie'" >told &
  becomes_true test -s told
  becomes_true eval '(($(leased_runs) == 1))'
  roots_jobs_go_on
  gives 0 jobs run "$patience" true
  # Nor the word of many.
  in_the_ledger "$(seq -s, 61001 61020)" 3 "$lie" >told-more &
  becomes_true test -s told-more
  becomes_true eval '(($(leased_runs) == 61))'
  roots_jobs_go_on
  kill -KILL "$(cat told)" "$(cat told-more)"
  becomes_true eval '(($(leased_runs) == 0))'
  over 0 INT
  rm -rf s.ledger
}

# Whatever one user leaves there, and however much, others are heard.
case_one_user_does_not_crowd_the_ledger() {
  is_root || skip 'not root'
  serve_group --line 1G
  chmod 711 .
  declare -fx in_the_ledger
  export python socket
  as 65534 65534 none bash -c "in_the_ledger 65534 3000 '0 0 0 1 0 0 0 0'" >told &
  becomes_true test -s told
  as 65534 65534 none "$python" -c '
import os, sys
for i in range(20000): os.symlink("x", f"{sys.argv[1]}/{i}")' "$socket.ledger"
  in_the_ledger 61001 1 '0 0 0 1 0 0 0 0' >told-too &
  becomes_true test -s told-too
  becomes_true eval '(($(leased_runs) == 65))'
  becomes_true eval '[[ -z $(find s.ledger -type l -print -quit) ]]'
  becomes_true eval '(($(find s.ledger -type f -printf x | wc -c) <= 1002))'
  same 65 "$(leased_runs)" 'runs that are heard'
  gives 0 jobs run "$patience" true
  kill -KILL "$(cat told)" "$(cat told-too)"
  becomes_true eval '(($(leased_runs) == 0))'
  over 0 INT
  rm -rf s.ledger
}

# Fifty that follow a job and read nothing: it waits for them, and nobody else does.
case_fifty_followers_that_do_not_read() {
  is_root || skip 'not root'
  local job supervisor before after first
  serve_group
  chmod 711 .
  runs_at_once 65533 # what the first call takes for good
  supervisor=$(supervisor_of "$daemon")
  before=$(rss_of "$supervisor")
  job=$(as 65534 65534 none "$clients/job_client" "$socket" submit yes)
  becomes_true eval '[[ $(jobs list) == *running* ]]'
  as 65534 65534 none "$clients/stream_client" "$socket" watch "$job" 50 stay >first &
  first=$!
  becomes_true grep -q watching first
  sleep 3
  gives 0 timeout "$patience" "$clients/job_client" "$socket" list
  runs_at_once 65533
  after=$(rss_of "$supervisor")
  # A MiB for each, and what gRPC has taken of it.
  ((after < before + 100 * 1024 * $(if is_sanitized; then echo 3; else echo 1; fi))) ||
    wrong "the supervisor has grown from $before to $after kB"
  pkill -KILL -P "$first"
  gives 0 jobs signal "$job" 9
  over 0
}

# limits_of GROUP: what an administrator may have set there, in each hierarchy, a line each.
limits_of() {
  local root file
  for root in $(hierarchies_used); do
    for file in pids.max cpu.max cpu.weight cpu.shares cpu.cfs_quota_us memory.high memory.max memory.limit_in_bytes; do
      [[ ! -e $root$1/$file ]] || echo "$root/$file $(<"$root$1/$file")"
    done
  done
}

# A group of which only the directory is the user's, as systemd delegates: he asks for its jobs to be
# weighed and ended, which is done with his rights, so that root's limits there stay.
case_limits_at_a_users_place_stay_roots() {
  is_root || skip 'not root'
  local lent=$PLIMSOLL_CGROUP/lent root before first holder
  serve_group --line 100M
  chmod 711 .
  for root in $(hierarchies_used); do
    mkdir -p "$root$lent" && chown 65534:65534 "$root$lent"
    [[ ! -e $root$lent/cpu.cfs_quota_us ]] || echo 20000 >"$root$lent/cpu.cfs_quota_us"
    [[ ! -e $root$lent/pids.max ]] || echo 50 >"$root$lent/pids.max"
  done
  (
    # A cpuset of no processors takes nobody.
    for root in $(hierarchies_used); do echo $BASHPID >"$root$lent/cgroup.procs"; done 2>/dev/null
    exec setpriv --reuid 65534 --regid 65534 --clear-groups \
      "$python" -c 'import time; held = bytearray(200 << 20); time.sleep(1000)'
  ) &
  holder=$!
  before=$(limits_of "$lent")
  [[ $before ]] || wrong 'no limit can be seen'
  as 65534 65534 none "$clients/stream_client" "$socket" weight 50 place "$lent" enter a cancelled \
    enter b stay >first &
  first=$!
  becomes_true grep -q 'cancel a' first
  becomes_true eval "! kill -0 $holder"
  same "$before" "$(limits_of "$lent")"
  pkill -KILL -P "$first"
  for root in $(hierarchies_used); do
    becomes_true rmdir "$root$lent"
  done
  over 0
}

# of_group NAME FILE: what the file says in that group of the daemon's pool.
of_group() {
  local root
  for root in $(hierarchies_used); do
    find "$root${PLIMSOLL_CGROUP:?}" -path "*/pool/$1/$2" -exec cat {} + 2>/dev/null
  done
}

# However many jobs one has, together they weigh as much as another's, and fork no further.
case_users_have_groups_of_their_own() {
  is_root || skip 'not root'
  local governor=$'user_processes = 60\njob_processes = 40' job of_root supervisor
  serve_group
  chmod 711 .
  job=$(as 65534 65534 none "$clients/job_client" "$socket" submit sleep 1000)
  of_root=$(jobs submit sleep 1000)
  becomes_true eval '(($(jobs list | grep -c running) == 2))'
  gives 0 as 65534 65534 none "$clients/job_client" "$socket" run "$patience" cat /proc/self/cgroup
  has out "/pool/user-65534/job-"
  same 40 "$(of_group "user-65534/job-$job" pids.max)"
  same 60 "$(of_group user-65534 pids.max)"
  same max "$(of_group user-0 pids.max)"
  same max "$(of_group "user-0/job-$of_root" pids.max)"
  same "$(of_group user-0 cpu.shares)$(of_group user-0 cpu.weight)" \
    "$(of_group user-65534 cpu.shares)$(of_group user-65534 cpu.weight)"
  gives 0 as 65534 65534 none "$clients/job_client" "$socket" run "$patience" \
    sh -c 'for i in $(seq 50); do sleep 1000 & done; echo all'
  lacks out all
  # Whoever dies: they go with the jobs' own.
  supervisor=$(supervisor_of "$daemon")
  kill -STOP "$daemon" "$supervisor"
  kill -KILL "$daemon" "$supervisor"
  wait "$daemon"
  becomes_true gone "$supervisor"
  gives 0 reap_stale
  becomes_true nothing_left
}

# The supervisor does no more for it than a bounded number of reads, and the job gets to its end.
case_output_that_nobody_follows_is_read_slowly() {
  serve
  local supervisor i reads begun
  supervisor=$(supervisor_of "$daemon")
  for ((i = 0; i < 4; i++)); do jobs submit yes >/dev/null || wrong 'submit'; done
  becomes_true eval '(($(jobs list | grep -c running) == 4))'
  reads=$(awk '$1 == "syscr:" { print $2 }' "/proc/$supervisor/io")
  begun=$EPOCHREALTIME
  sleep 3
  reads=$(($(awk '$1 == "syscr:" { print $2 }' "/proc/$supervisor/io") - reads))
  # A thousand a second for them, and some hundreds for looking at what runs.
  awk -v reads="$reads" -v from="$begun" -v to="$EPOCHREALTIME" \
    'BEGIN { exit reads > 3000 * (to - from) }' || wrong "$reads reads in 3 s"
  gives 0 jobs submit sh -c "yes | head -c 5M; touch $PWD/written"
  becomes_true test -e written
  over 0 INT
}

# What is followed is bounded as well: the loop's own thread does little for it, whoever reads, and
# nobody else's output waits.
case_followed_output_leaves_the_loop_its_time() {
  is_root || skip 'not root'
  serve_group
  chmod 711 .
  local supervisor i ticks clients_of=()
  supervisor=$(supervisor_of "$daemon")
  for ((i = 0; i < 4; i++)); do
    as 65534 65534 none "$clients/job_client" "$socket" run 1000 yes >/dev/null 2>&1 &
    clients_of+=($!)
  done
  becomes_true eval '(($(jobs list | grep -c running) == 4))'
  sleep 1
  ticks=$(loop_ticks "$supervisor")
  sleep 4
  ticks=$(($(loop_ticks "$supervisor") - ticks))
  ((ticks < 100)) || wrong "$ticks hundredths of a second of 4 s"
  gives 0 timeout "$patience" "$clients/job_client" "$socket" run "$patience" head -c 8M /dev/zero
  same $((8 << 20)) "$(stat -c %s out)"
  for i in "${clients_of[@]}"; do pkill -KILL -P "$i"; done
  over 0 INT
}

# loop_ticks PID: CPU time of its main thread, in hundredths of a second.
loop_ticks() { awk '{ print $14 + $15 }' "/proc/$1/task/$1/stat"; }

# talk UID PROGRAM: Python that speaks to the daemon's socket for shells, with `connect()`, `line(CONNECTION)`
# and `submit(ARG...)`, the texts of a detached job.
talk() {
  cat >talk.py <<END
import json, socket, sys
def connect():
    made = socket.socket(socket.AF_UNIX)
    made.connect("$socket.jobs")
    return made
def line(connection):
    text = b""
    while not text.endswith(b"\n"): text += connection.recv(1)
    return json.loads(text)
def submit(*argv, more={}):
    files = ("/dev/null", "/dev/null") if more.get("detached") else ()
    texts = b"".join(word.encode() + b"\0" for word in (*argv, "/", *files))
    head = {"command": "submit", "umask": 18, "words": len(argv), "values": 0, "bytes": len(texts)}
    return json.dumps(head | more).encode() + b"\n" + texts
$2
END
  gives 0 as "$1" 65534 none "$python" "$PWD/talk.py"
}

# A line and three million empty words: refused before anything is made of them.
case_words_without_number_are_refused() {
  is_root || skip 'not root'
  serve_group
  chmod 755 .
  local supervisor before
  supervisor=$(supervisor_of "$daemon")
  before=$(peak_of "$supervisor")
  talk 65534 '
asked = connect()
try:
    asked.sendall(b"""{"command":"submit","umask":18,"words":3145727,"values":0,"bytes":3145728}\n""")
    asked.sendall(b"\0" * (3 << 20))
except (BrokenPipeError, ConnectionResetError):
    pass
print(line(asked)["error"])'
  has out '"words"'
  (($(peak_of "$supervisor") - before < 20000)) || wrong "$(peak_of "$supervisor") KiB after $before"
  over 0
}

# peak_of PID: KiB that it has had at once.
peak_of() { awk '/^VmHWM/ { print $2 }' "/proc/$1/status"; }

# Of the states of a job that its client does not read the last is kept.
case_states_that_nobody_reads_do_not_pile_up() {
  is_root || skip 'not root'
  serve_group
  chmod 755 .
  talk 65534 '
silent, busy = connect(), connect()
silent.sendall(submit("sleep", "1000"))
job = line(silent)["job"]
while line(silent).get("state") != "running": pass
for i in range(4000):
    for command in "pause", "resume":
        busy.sendall(json.dumps({"command": command, "job": str(job)}).encode() + b"\n")
        line(busy)
busy.sendall(json.dumps({"command": "kill", "job": str(job)}).encode() + b"\n")
told = b""
while part := silent.recv(1 << 20): told += part
states = told.count(b"paused"), told.count(b"ended")
print(len(told), told.endswith(b"}\n") and states[0] > 100 and states[1] > 0)'
  has out True
  (($(cut -d' ' -f1 out) < 400000)) || wrong "$(<out) bytes"
  over 0
}

# senseless: three hundred connections of the caller's to each socket of the daemon's that stay: a
# third say nothing, a third a byte a second, a third nonsense after the beginning of HTTP/2 and JSON. Who is
# turned away comes again. Says "held" when they have come.
senseless() {
  exec "$python" - "$socket" <<'END'
import os, selectors, socket, sys, time
preface = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
beginnings = {sys.argv[1]: preface, sys.argv[1] + ".jobs": b'{"command": "submit", "words": [[[['}
held = {}

def come(path, way):
    s = socket.socket(socket.AF_UNIX)
    s.setblocking(False)
    try:
        s.connect(path)
        if way == 2:
            s.send(beginnings[path] + os.urandom(1 << 16))
    except OSError:
        pass
    held[(path, way, len(held))] = s

for number in range(300):
    for path in beginnings:
        come(path, number % 3)
print("held", flush=True)
while True:
    for key, s in list(held.items()):
        path, way, _ = key
        try:
            if way == 1:
                s.send(preface[:1])
            while s.recv(1 << 16):
                pass
            raise ConnectionResetError
        except BlockingIOError:
            continue
        except OSError:
            s.close()
            del held[key]
            come(path, way)
    time.sleep(1)
END
}

descriptors_of() { ls "/proc/$1/fd" | wc -l; }

# Whoever connects and makes no sense has what one user may have, and gives it back.
case_who_makes_no_sense_is_in_nobodys_way() {
  is_root || skip 'not root'
  serve_group
  chmod 711 .
  local supervisor before strangers
  supervisor=$(supervisor_of "$daemon")
  runs_at_once 65533
  before=$(descriptors_of "$supervisor")
  declare -fx senseless
  export socket python
  as 65534 65534 none bash -c senseless >held &
  strangers=$!
  becomes_true test -s held
  local round
  for ((round = 0; round < 5; round++)); do
    runs_at_once 65533
    # Of one user, 256 connections to each of both.
    (($(descriptors_of "$supervisor") < before + 600)) || wrong "$(descriptors_of "$supervisor") descriptors"
  done
  kill -0 "$strangers" || wrong 'the strangers have gone'
  pkill -KILL -P "$strangers" # the clients, of the function that has started them
  becomes_true eval '(($(descriptors_of "$supervisor") < before + 50))'
  over 0
}

# For Python, with SOCKET KIND: sends descriptors whose last close waits for whoever does not read at
# their other end, connections over TCP that linger. In a frame, in one that is too long, in several.
sends_away='
import os, socket, struct, sys, time
path, kind = sys.argv[1], getattr(socket, "SOCK_" + sys.argv[2])
door = socket.create_server(("127.0.0.1", 0))
door.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
kept = []
def lingering():
    near = socket.create_connection(door.getsockname())
    kept.append(door.accept()[0])
    near.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 4096)
    near.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 3600))
    near.setblocking(False)
    try:
        while True:
            near.send(bytes(65536))
    except BlockingIOError:
        return near
for frames in ([b"x"], [bytes(9000)], [b"x"] * 9):
    link = socket.socket(socket.AF_UNIX, kind)
    link.connect(path)
    for frame in frames:
        near = lingering()
        try:
            socket.send_fds(link, [frame], [near.fileno(), near.fileno()])
        except OSError as error:
            print(error)
            near.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        near.close()
    link.close()
print("sent", flush=True)
time.sleep(3600)
'

# What a user sends can be slow to close, but for nobody else.
case_descriptors_of_a_user_hold_up_no_other() {
  is_root || skip 'not root'
  serve_group
  chmod 711 .
  local at stranger
  for at in "$socket.light SEQPACKET" "$socket.jobs STREAM" "$socket STREAM"; do
    rm -f sent
    # shellcheck disable=SC2086 # two words
    setpriv --reuid 65534 --regid 65534 --clear-groups "$python" -c "$sends_away" $at >sent &
    stranger=$!
    becomes_true grep -q sent sent
    runs_at_once 65533
    PLIMSOLL_SOCKET=$socket gives 0 "$plimsoll" list
    kill -KILL "$stranger"
    wait "$stranger" 2>/dev/null
  done
  over 0
}

# Short jobs of one user leave others what was decided about theirs.
case_ended_jobs_of_others_can_be_explained() {
  is_root || skip 'not root'
  serve_group
  chmod 755 .
  local job
  gives 0 as 65533 65534 none "$clients/job_client" "$socket" run "$patience" true
  job=$(as 65533 65534 none "$clients/job_client" "$socket" submit true)
  becomes_true eval '[[ ! $(jobs list) ]]'
  talk 65534 '
asked = connect()
for i in range(130):
    asked.sendall(submit("true", more={"detached": True}))
    line(asked)'
  becomes_true eval '[[ ! $(jobs list) ]]'
  gives 0 as 65533 65534 none "$clients/job_client" "$socket" explain "$job"
  has out started
  over 0
}

# Whoever has many sets of groups takes no other user's place.
case_sets_of_groups_take_no_other_users_place() {
  is_root || skip 'not root'
  serve_group
  chmod 711 .
  local uid group i followers=()
  for ((uid = 61001; uid <= 61008; uid++)); do
    for ((group = 1; group <= 8; group++)); do
      as "$uid" 65534 "6200$group" "$clients/stream_client" "$socket" hint 1M cores 0.001 enter a await stay >"$uid.$group" 2>&1 &
      followers+=($!)
    done
    becomes_true eval "((\$(cat $uid.* | grep -c 'admit a') == 8))"
  done
  runs_at_once 65533
  for i in "${followers[@]}"; do pkill -KILL -P "$i"; done
  over 0 INT
}

most_of() { awk '/^VmHWM:/ { print int($2 / 1024) }' "/proc/$1/status"; } # in MiB

# What a message is once it is unpacked and read, which can be a thousand times what has come, no client
# makes the daemon keep or try. Each of these took 100 MiB and more.
case_messages_are_no_larger_inside() {
  is_root || skip 'not root'
  serve_group
  chmod 711 .
  local supervisor before method
  supervisor=$(supervisor_of "$daemon")
  before=$(most_of "$supervisor")
  sends() { gives 0 as 65534 65534 none "$clients/message_client" "$socket" "$@"; }
  for method in plimsoll.v1.Jobs/{List,Signal,Explain,Watch} plimsoll.v1.Governor/Govern \
    grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo; do
    sends "$method" unknown 4
    has out 'end 8 found a message of '
  done
  for method in Submit Run; do
    sends "plimsoll.v1.Jobs/$method" job 4
    has out 'end 3 job.argv: found more than 64 KiB beside words and variables'
  done
  sends plimsoll.v1.Jobs/List packed 300
  has out 'end 12 '
  lacks daemon.log gzip
  (($(most_of "$supervisor") < before + 60)) || wrong "$before MiB became $(most_of "$supervisor")"
  runs_at_once 65533
  over 0
}

run_cases "$@"

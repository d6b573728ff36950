#!/bin/bash
# The free space of file systems: who waits for it, who is paused, what is told. On small file
# systems of this script's own, in files.
# shellcheck disable=SC2016,SC2317 # dollars for the shells that are run; called by name
set -u
source "$(dirname "$0")/cases.bash"

can_mount || skip_all 'mounts can not be changed here'
type -P mkfs.ext4 >/dev/null || skip_all 'there is no mkfs.ext4'
# Nobody else sees what is mounted, and the end of the script undoes it.
[[ ${DISK_NAMESPACE:-} ]] || DISK_NAMESPACE=yes exec unshare -m "$0" "$@"

# a_disk MIB: a new file system at ./disk.
a_disk() {
  mkdir -p disk
  truncate -s "$1M" image
  if ! mkfs.ext4 -q -m 0 image 2>err || ! mount -o loop image disk 2>err; then
    skip "no file system can be made here: $(<err)"
  fi
  # shellcheck disable=SC2064 # this directory
  trap "umount -l '$PWD/disk'" EXIT
}

free_mib() { stat -f -c '%a %S' disk | awk '{ print int($1 * $2 / 1048576) }'; }

# writers COUNT MIB [KEYS]: jobs that write so much each, wait for the file `go` and remove it.
writers() {
  local i
  for ((i = 1; i <= $1; i++)); do
    printf '{"id": "w%s", "class": "writer", %s"shell": "head -c %sM /dev/zero >disk/%s && touch wrote.%s && until [ -e go ]; do sleep 0.02; done; rm disk/%s; [ -e wrote.%s ]"}\n' \
      $i "${3:-}" "$2" $i $i $i $i
  done
}

# begin OPTION...: a batch in the background, which this case must `go`. $progress: its --progress.
begin() {
  timeout "$patience" "$plimsoll" batch --progress "${progress:-none}" --cores 16 "$@" >out 2>err &
  batch=$!
}
go() {
  touch go
  wait "$batch"
  same "${1:-0}" $? "$(<err)"
}
is_held() { "$plimsoll" ctl status --json | grep -q 'waits for disk space'; }
count() { find . -maxdepth 1 -name 'wrote.*' | wc -l; }
wrote() { (($(count) >= $1)); }

case_jobs_that_would_fill_the_disk_wait() {
  state
  a_disk 120
  writers 1 24 >first.jsonl
  writers 6 24 >jobs.jsonl
  # What one has written tells what the others will: with it all six would not fit.
  touch go
  gives 0 timeout "$patience" "$plimsoll" batch --progress none first.jsonl
  rm -f go wrote.*
  begin --disk disk=10M jobs.jsonl
  becomes_true is_held
  becomes_true wrote 2
  (($(free_mib) >= 10)) || wrong "$(free_mib) MiB are free"
  (($(count) < 6)) || wrong 'all have started'
  go
  lacks err 'No space left'
  "$plimsoll" explain last --json >events
  grep -q 'waits for disk space: it may write' events || wrong "no hold among $(wc -l <events) events"
}

# Nothing is known of these.
case_jobs_of_which_nothing_is_known_fill_no_disk() {
  state
  a_disk 120
  seq 12 >numbers
  gives 0 timeout "$patience" "$plimsoll" batch --progress none --cores 16 --disk disk=40M -a numbers -- \
    'for i in 1 2 3 4 5 6; do head -c 4M /dev/zero >>disk/{} || exit; sleep 0.3; done; rm disk/{}'
  lacks err 'No space left'
}

case_a_hint_counts_where_no_floor_was_given() {
  ! grep -qE ' / / .* - (virtiofs|9p|nfs4?|fuse[^ ]*) ' /proc/self/mountinfo ||
    skip 'the root is on a file system that may hang: what is below it is only watched if it is named'
  state
  a_disk 120
  # What they write does not matter, nor that nothing was learnt yet.
  writers 2 1 '"disk_hint": "70M", ' >jobs.jsonl
  export TMPDIR=$PWD/disk
  begin jobs.jsonl
  becomes_true is_held
  becomes_true wrote 1
  same 1 "$(count)"
  go
  unset TMPDIR
}

case_a_floor_that_is_passed_is_told() {
  state
  a_disk 120
  writers 1 60 >jobs.jsonl
  progress=plain begin --disk disk=60M jobs.jsonl
  becomes_true grep -q 'are free on the file system of' err
  go
  has err 'iB less than the floor of 60.0 MiB; of the running jobs, job 1 has written most: '
  same 1 "$(grep -c 'are free on the file system of' err)" 'lines of a log that say so'
  "$plimsoll" explain last --json >events
  grep -q '"kind":"alarm"' events || wrong 'no alarm among the events'
}

case_a_disk_that_is_full_stops_no_job_that_is_alone() {
  state
  a_disk 60
  begin --disk disk=90% -- 'touch wrote.{}; sleep 0.1' ::: 1 2 3
  go
  same 3 "$(count)"
}

case_what_makes_no_sense_is_told() {
  a_disk 60
  gives 125 "$plimsoll" batch --disk disk -- true ::: 1
  has err '--disk: found "disk", expected PATH=FLOOR, such as /tmp=2G or /tmp=5%'
  gives 125 "$plimsoll" batch --disk nowhere=1G -- true ::: 1
  has err '--disk: nowhere: No such file or directory'
  gives 125 "$plimsoll" batch --disk image=1G -- true ::: 1
  has err '--disk: image: Not a directory'
  gives 125 "$plimsoll" govern --disk disk=1G -- true
  has err '--disk: disk: a floor of 1.00 GiB leaves nothing of a file system that holds '
  mkdir disk/below
  gives 0 "$plimsoll" batch --progress none --disk disk=1M --disk disk/below=2M -- true ::: 1
}

run_cases "${1:-}"

#!/bin/bash
# The free space of file systems that the daemon watches: whose jobs wait for it, what is told. On
# small file systems of this script's own, in files. Last line: `N passed, N failed`.
# shellcheck disable=SC2317 # called by name
# program: released
set -u
source "$(dirname "$(realpath "$0")")/cases.bash"
source "$(dirname "$(realpath "$0")")/daemon.bash"

can_mount || skip_all 'mounts can not be changed here'
type -P mkfs.ext4 >/dev/null || skip_all 'there is no mkfs.ext4'
# Nobody else sees what is mounted, and the end of the script undoes it.
[[ ${DISK_NAMESPACE:-} ]] || DISK_NAMESPACE=yes exec unshare -m "$0" "$@"

# serve_on MIB FLOOR OPTION...: a daemon for everybody of the group nogroup, which keeps so much free
# of a new file system at ./disk. Both end with the case.
serve_on() {
  chmod 755 .
  mkdir disk
  truncate -s "$1M" image
  if ! mkfs.ext4 -q -m 0 image 2>err || ! mount -o loop image disk 2>err; then
    skip "no file system can be made here: $(<err)"
  fi
  chmod 1777 . disk
  printf '[listen]\ngroup = "nogroup"\n[governor]\ncores = 16\ndisks = "%s/disk=%s"\n' \
    "$PWD" "$2" >disks.toml
  serve --config disks.toml "${@:3}"
  trap 'over; umount -l disk' EXIT
}

nobody() { setpriv --reuid 65534 --regid 65534 --clear-groups "$@"; }

# writer NAME MIB OPTION...: submits a job that writes so much, waits for the file `go` and removes it;
# as the user that `as` names.
writer() {
  ${as:-} "$plimsoll" submit --detach --name "$1" --stdout "out.$1" "${@:3}" -- \
    sh -c "head -c $2M /dev/zero >disk/$1 && touch wrote.$1 && until [ -e go ]; do sleep 0.02; done
           rm disk/$1; touch ended.$1" >/dev/null || wrong "submit $1"
}

wrote() { (($(find . -maxdepth 1 -name 'wrote.*' | wc -l) >= $1)); }
ended() { (($(find . -maxdepth 1 -name 'ended.*' | wc -l) == $1)); }
is_held() { "$plimsoll" "${@:-list}" --json | grep -q 'waits for disk space[^"]*it may write'; }

# all_end COUNT: so many writers, none of which was without space.
all_end() {
  touch go
  becomes_true ended "$1"
  ! grep -l 'No space left' out.* || wrong 'a job was without space'
}

case_jobs_that_would_fill_the_disk_wait() {
  serve_on 120 10M
  local i
  for i in 1 2 3 4 5 6; do writer "w$i" 25 --disk-hint 30M; done
  becomes_true wrote 2
  becomes_true is_held
  # 3 or 4 of them fit, by what the file system itself takes.
  "$plimsoll" list --json | grep -o '"state":"[a-z]*"' | sort | uniq -c >states
  (($(awk '/running/ { print $1 }' states) < 5)) || wrong "too many run: $(<states)"
  becomes_true is_held ctl status
  all_end 6
}

# Nothing is known of them, and together they would write more than twice what there is.
case_writers_of_two_users_fill_no_disk() {
  serve_on 120 40M
  local i
  touch go
  for i in 1 2 3 4 5 6; do
    for as in '' nobody; do
      $as "$plimsoll" submit --detach --stdout "out.$as$i" -- sh -c "
        for i in 1 2 3 4 5 6; do head -c 4M /dev/zero >>disk/$as$i; sleep 0.3; done
        rm disk/$as$i; touch ended.$as$i" >/dev/null || wrong 'submit'
    done
  done
  as='' all_end 12
}

# One user waits for more than there is; before that, another's jobs that fit go on.
case_a_job_that_waits_for_all_space_holds_up_no_other_user() {
  serve_on 120 10M
  local i
  writer first 5 --disk-hint 5M
  becomes_true wrote 1
  as=nobody writer greedy 1 --disk-hint 1T
  becomes_true is_held
  for i in 1 2 3; do writer "w$i" 5 --disk-hint 5M; done
  becomes_true wrote 4
  [[ ! -e wrote.greedy ]] || wrong 'it has started beside others'
  # Alone it starts, as any job does.
  all_end 5
}

# Though it is the oldest of all, and the other has begun to write last.
case_who_has_written_most_is_paused_and_no_other_user() {
  serve_on 120 30M
  nobody "$plimsoll" submit --detach --name endless --stdout out.endless -- sh -c '
    touch begun; until [ -e begin ]; do sleep 0.02; done
    until [ -e go ]; do head -c 1M /dev/zero >>disk/a || exit; sleep 0.1; done
    rm -f disk/a; touch ended.a' >/dev/null || wrong 'submit'
  becomes_true test -e begun
  writer small 10
  becomes_true wrote 1
  touch begin
  becomes_true eval '"$plimsoll" list | grep -q "paused .* endless "'
  gives 0 "$plimsoll" list
  grep -q 'running .* small ' out || wrong "the other does not run: $(<out)"
  all_end 2
}

case_a_floor_that_is_passed_is_logged_with_whose_job_it_was() {
  local port
  port=$(free_port)
  serve_on 120 60M --metrics "127.0.0.1:$port"
  has daemon.log "; 60.0 MiB of the file system of $PWD/disk are kept free; "
  metrics_of "$port" >metrics
  has metrics "plimsoll_disk_floor_bytes{path=\"$PWD/disk\"} 62914560"
  has metrics "plimsoll_disk_free_bytes{path=\"$PWD/disk\"} "
  as=nobody writer w 70
  becomes_true grep -q 'less than the floor of 60.0 MiB; of the running jobs, job 1 has written most: .* (uid 65534)' daemon.log
  all_end 1
  same 1 "$(grep -c 'are free on the file system of' daemon.log)" 'lines of the log that say so'
}

# What the client of an external job starts is looked at where it is, once a second at least: it has
# been seen to write before the floor is passed.
case_launched_commands_are_measured() {
  serve_on 120 60M
  nobody "$plimsoll" exec -- sh -c 'head -c 50M /dev/zero >disk/x && sleep 2 &&
    head -c 20M /dev/zero >>disk/x && until [ -e go ]; do sleep 0.02; done; rm disk/x' &
  local client=$!
  becomes_true grep -q 'has written most: .* (uid 65534)' daemon.log
  touch go
  wait "$client" || wrong "exec: $?"
}

case_what_makes_no_sense_is_told() {
  mkdir disk
  printf '[governor]\njobs = 3\ndisks = "disk=1G"\n' >a.toml
  gives 125 "$plimsoll" serve --config a.toml
  has err 'a.toml:3: governor.disks: found "disk=1G", expected an absolute path'
  printf '[governor]\ndisks = "/nowhere=1G"\n' >b.toml
  gives 125 "$plimsoll" serve --config b.toml --metrics off --dashboard off --socket "$PWD/s"
  has err 'b.toml:2: governor.disks: /nowhere: No such file or directory'
  printf '[governor]\ndisks = "/=1%%, /tmp=1K"\n' >c.toml
  gives 0 "$plimsoll" serve --config c.toml --show-config
  has out 'disks = "/=1%, /tmp=1K"'
  has out '# c.toml:2'
  has out 'stay free where / is'
}

run_cases "${1:-}"

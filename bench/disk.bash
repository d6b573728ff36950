# Jobs that write more together than a file system holds, under Plimsoll, fixed numbers and no rule
# at all; sourced by bench/run. As root: the file system is in a file, seen by the bench alone.
#
# DISK_SIZE (2048), DISK_FLOOR (64), DISK_EACH (300): MiB of the file system, of it to stay free,
# and that each job writes. DISK_JOBS (20). DISK_SECONDS (2): how long each keeps its file.
# DISK_NUMBERS (2 3 4 5 6 8): the fixed numbers. DISK_AT (/var/tmp): where the file is.
# shellcheck shell=bash disable=SC2154 # variables of bench/run

# disk_rule NAME COMMAND...: how long it takes and how many jobs find no space, of the numbers on
# standard input.
disk_rule() {
  local name=$1 begin=$EPOCHREALTIME took lost
  shift
  rm -rf "$disk_mount"/job.* "$work/lost"
  mkdir "$work/lost"
  "$@" <"$work/numbers" >/dev/null 2>"$work/told"
  took=$(awk -v a="$begin" -v b="$EPOCHREALTIME" 'BEGIN { printf "%.1f", b - a }')
  lost=$(find "$work/lost" -type f | wc -l)
  printf '  %-34s %7s s, %2d of %d jobs without space\n' "$name" "$took" "$lost" "$disk_jobs"
}

bench_disk() {
  if ((EUID != 0)); then
    echo 'only root can mount a file system'
    return 1
  fi
  # Nobody else sees what is mounted.
  if [[ ! ${BENCH_DISK_ALONE:-} ]]; then
    BENCH_DISK_ALONE=yes unshare -m "$0" disk
    return
  fi
  local image n status=0
  disk_mount=$work/disk disk_jobs=${DISK_JOBS:-20}
  image=$(mktemp "${DISK_AT:-/var/tmp}/plimsoll-bench.XXXXXX") || return
  mkdir "$disk_mount"
  truncate -s "${DISK_SIZE:-2048}M" "$image" && mkfs.ext4 -q -m 0 "$image" &&
    mount -o loop "$image" "$disk_mount" || status=1
  rm -f "$image" # the mount holds it
  ((status == 0)) || return 1
  seq "$disk_jobs" >"$work/numbers"
  cat >"$work/job" <<END
#!/bin/sh
# Writes, waits for a while with its file in place, and removes it.
if ! head -c ${DISK_EACH:-300}M /dev/zero >"$disk_mount/job.\$1"; then
  rm -f "$disk_mount/job.\$1"
  touch "$work/lost/\$1"
  exit 1
fi
sleep ${DISK_SECONDS:-2}
rm "$disk_mount/job.\$1"
END
  chmod +x "$work/job"
  echo "$disk_jobs jobs that write ${DISK_EACH:-300} MiB each and remove it, on ${DISK_SIZE:-2048} MiB:"
  local batch=("$plimsoll" batch -q --cores 64 --disk "$disk_mount=${DISK_FLOOR:-64}M" -- "$work/job" '{}')
  disk_rule 'plimsoll --disk, nothing known' "${batch[@]}"
  disk_rule 'plimsoll --disk, learnt' "${batch[@]}"
  for n in ${DISK_NUMBERS:-2 3 4 5 6 8}; do
    disk_rule "xargs -P$n" xargs "-P$n" -n1 "$work/job"
  done
  disk_rule 'all at once' xargs -P0 -n1 "$work/job"
  umount "$disk_mount"
}

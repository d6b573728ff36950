# `plimsoll govern` where it can't listen; sourced by the scripts that try it.
# shellcheck shell=bash disable=SC2154 # python and plimsoll are of cases.bash
unset PLIMSOLL_JOB PLIMSOLL_GOVERN PLIMSOLL_LIGHT
here=$(dirname "$(realpath "$0")")

# watched HOW... -- ARGUMENT...: govern below that filter, which keeps it from listening.
watched() {
  local how=()
  while [[ $1 != -- ]]; do how+=("$1") && shift; done
  "$python" "$here/filtered.py" "${how[@]}" "$plimsoll" govern "${@:2}"
}

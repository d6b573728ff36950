#!/bin/bash
# What comes with the program: manual pages that name all that there is, completion, an installation.
# Last line: `N passed, N failed`.
# program: released
set -uo pipefail
source "$(dirname "$(realpath "$0")")/cases.bash"

root=$(dirname "$(realpath "$0")")/../..
build=$(dirname "$plimsoll")

# options_of COMMAND...: the names of each option in its help, as NAME or NAME|NAME, one option a line.
options_of() { "$@" --help | sed -n 's/^  \(-[^ ]*\).*/\1/p' | sed 's/^-//; s/,-/|/g' | grep -v '^h|'; }

# has_option PAGE NAMES: the manual page has one of the names.
has_option() { grep -qE -- "^\.(.* )?Fl ($2)( |\$)" "$1"; }

case_the_manual_has_every_option() {
  local command option
  for command in run batch govern session exec submit list ctl reap runs explain history report simulate doctor; do
    for option in $(options_of "$plimsoll" "$command"); do
      has_option "$root/docs/man/plimsoll.1" "$option" || wrong "plimsoll.1 has no option -$option of $command"
    done
  done
  [[ -x $build/plimsolld ]] || skip 'no daemon'
  for option in $(options_of "$build/plimsolld"); do
    has_option "$root/docs/man/plimsolld.8" "$option" || wrong "plimsolld.8 has no option -$option"
  done
}

case_the_manual_has_every_setting() {
  [[ -x $build/plimsolld ]] || skip 'no daemon'
  local setting page=$root/docs/man/plimsoll.toml.5
  gives 0 "$build/plimsolld" --show-config
  for setting in $(sed -n '/^# On this machine/,$d; s/^\(# \)\?\([a-z_]*\) \(=\|is not set\).*/\2/p' out); do
    grep -qE "^\.It Cm (.* )?$setting( |\$)" "$page" || wrong "plimsoll.toml.5 has no $setting"
  done
  (($(grep -c '^\.It Cm' "$page") >= 15)) || wrong 'no settings were looked for'
}

# completed WORD...: what bash offers for the last of these words.
completed() {
  PATH=$build:$PATH bash -c '
    source "$1"; shift
    COMP_WORDS=("$@") COMP_CWORD=$(($# - 1))
    _plimsoll
    printf "%s\n" "${COMPREPLY[@]}"' bash "$root/packaging/plimsoll.bash" "$@" | sort
}

case_bash_completes_commands_and_options() {
  same $'report\nrun\nruns' "$(completed plimsoll r | grep -v reap)"
  same $'--memory-high\n--memory-hint\n--memory-max' "$(completed plimsoll run --mem)"
  same $'--json' "$(completed plimsoll ctl --js)"
  same $'pause' "$(completed plimsoll ctl pa)"
  touch some-jobs
  same some-jobs "$(completed plimsoll batch some)"
  completed plimsoll run -- bas | grep -qx bash || wrong 'no command after --'
  same '' "$(completed plimsoll run --nothing-like-that)"
  [[ ! -x $build/plimsolld ]] || same '--show-config' "$(completed plimsolld --sh)"
}

case_what_is_installed_can_be_removed() {
  type -P cmake >/dev/null || skip 'no cmake'
  # The list of files is in the build directory, where it may be that of a true installation.
  local list=$build/install_manifest.txt file
  [[ ! -e $list ]] || cp -p "$list" kept
  DESTDIR=$PWD/to cmake --install "$build" --prefix /usr >log 2>&1 || wrong "can't be installed: $(tail -n 5 log)"
  sed "s|^|$PWD/to|" "$list" >installed
  rm "$list"
  [[ ! -e kept ]] || cp -p kept "$list"
  for file in bin/plimsoll share/man/man1/plimsoll.1 share/bash-completion/completions/plimsoll \
    share/doc/plimsoll/README.md share/doc/plimsoll/docs/governor.md \
    share/plimsoll/hooks/pre-tool-use share/plimsoll/hooks/shell-prefix; do
    [[ -e to/usr/$file ]] || wrong "not installed: $file"
  done
  [[ ! -x $build/plimsolld ]] || [[ -e to/usr/share/man/man8/plimsolld.8 && -e to/usr/share/man/man5/plimsoll.toml.5 ]] ||
    wrong 'the pages of the daemon are not installed'
  xargs rm <installed
  same '' "$(find to -type f)" 'left'
}

run_cases "${1:-}"

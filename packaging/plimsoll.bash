# Completion of plimsoll and plimsolld in bash. What there is to complete is what their --help says, so
# that it is that of the program that is installed.
# shellcheck shell=bash

# _plimsoll_words COMMAND...: options and subcommands in the help of a command, one a line.
_plimsoll_words() {
  "$@" --help 2>/dev/null </dev/null | awk '
    /^usage:/ { overview = 1 }
    /^[A-Z].*:$/ { commands = /ommands:$/ }
    /^  -/ { for (i = 1; i <= split($1, names, ","); ++i) print names[i] }
    (overview || commands) && /^  [a-z]/ { print $1 }'
}

# Whether a word before the one that is completed begins the command of a job.
_plimsoll_is_past_dashes() {
  local word
  for word in "${COMP_WORDS[@]:1:COMP_CWORD-1}"; do [[ $word != -- ]] || return 0; done
  return 1
}

_plimsoll() {
  local word=${COMP_WORDS[COMP_CWORD]} command=("${COMP_WORDS[0]}")
  COMPREPLY=()
  if _plimsoll_is_past_dashes; then
    mapfile -t COMPREPLY < <(compgen -c -f -- "$word")
    return
  fi
  if ((COMP_CWORD > 1)) && [[ ${COMP_WORDS[1]} == [a-z]* && ${command[0]##*/} != plimsolld ]]; then
    command+=("${COMP_WORDS[1]}")
  fi
  mapfile -t COMPREPLY < <(compgen -W "$(_plimsoll_words "${command[@]}")" -- "$word")
  # What is no option may be a file.
  [[ $word == -* || ${#COMPREPLY[@]} -gt 0 ]] || mapfile -t COMPREPLY < <(compgen -f -- "$word")
}

complete -o filenames -F _plimsoll plimsoll plimsolld

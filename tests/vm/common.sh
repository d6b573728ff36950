# Shared by the scripts in this directory; sourced, not run.
# shellcheck shell=bash disable=SC2034

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd -P)
cache=${PLIMSOLL_VM_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/plimsoll/vm}
keyring=/usr/share/keyrings/debian-archive-keyring.gpg

say() { printf 'vm: %s\n' "$*" >&2; }
die() { say "$*"; exit 125; }

# need PROGRAM PACKAGE
need() { type -P "$1" >/dev/null || die "$1 not found; the packages to install are listed in tests/vm/packages"; }

# virtiofsd: where it is; nothing if it is not. The C one of Debian 12 and the Rust one since take other options.
virtiofsd() {
  local path
  for path in /usr/libexec/virtiofsd /usr/lib/qemu/virtiofsd; do
    [[ ! -x $path ]] || { echo "$path"; return; }
  done
}

# The address this machine's own apt uses for Debian 12 or 13; each has the other.
mirror() {
  local uri
  uri=$(cat /etc/apt/sources.list /etc/apt/sources.list.d/*.list 2>/dev/null |
    sed -nE 's/^deb[[:space:]]+(\[[^]]*\][[:space:]]+)?([^[:space:]]+)[[:space:]]+(bookworm|trixie)[[:space:]]+(.*[[:space:]])?main([[:space:]].*)?$/\2/p' | head -n 1)
  [[ $uri ]] || uri=$(awk -v RS= -F '\n' '{
      uri = ""; suite = component = 0
      for (i = 1; i <= NF; i++) {
        n = split($i, word, /[[:space:]]+/)
        if (tolower(word[1]) == "uris:") uri = word[2]
        for (j = 2; j <= n; j++) {
          if (tolower(word[1]) == "suites:" && word[j] ~ /^(bookworm|trixie)$/) suite = 1
          if (tolower(word[1]) == "components:" && word[j] == "main") component = 1
        }
      }
      if (uri != "" && suite && component) { print uri; exit }
    }' /etc/apt/sources.list.d/*.sources 2>/dev/null)
  [[ $uri ]] || die "no entry for Debian 12 or 13 (bookworm main, trixie main) in this machine's apt sources"
  printf '%s\n' "$uri"
}

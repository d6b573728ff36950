# The layers of tests, sourced by ./dev; docs/testing.md explains them. What a layer prints goes to
# its log, what it ran to `count`.
# shellcheck shell=bash disable=SC2317 # called by name

# The usual layers must take less than 30 minutes together, on two cores, from a clone on a bare
# machine. What each may take of that, its building included; the lines printed say what it took:
#
#   packages  3    tidy  0.5    unit  8    tsan  1.5    host  4    cli  3    vm  8    fuzz  2
#
# unit compiles everything twice and pays for the layers behind it. fuzz has 5 s for each target.

readonly usual_layers=(tidy unit tsan host cli vm fuzz)
readonly all_layers=("${usual_layers[@]}" clang clang-tidy)
fuzz_seconds=5
thorough='' # `all`

layer_tidy() {
  need test
  check format --check
  check tests/tidy/tidy_test.py
  check tools/tidy.py
  local page
  for page in docs/man/*.1; do
    [[ -e $page ]] || continue
    # man reports mistakes of the page on stderr and succeeds.
    check man_page "$page"
  done
}

man_page() {
  ! LC_ALL=C.UTF-8 MANROFFSEQ='' MANWIDTH=80 man --warnings -l "$1" 2>&1 >/dev/null | grep .
}

layer_unit() {
  build release all unit_tests
  tested build unit "$(nproc)"
  build debug unit_tests
  tested build-debug unit "$(nproc)"
}

layer_tsan() {
  build tsan unit_tests
  tested build-tsan unit "$(nproc)"
}

layer_host() {
  ((EUID == 0)) || { skip 'not root'; return; }
  [[ -d /sys/fs/cgroup ]] || { skip 'no /sys/fs/cgroup'; return; }
  build release host_tests
  tested build host 1
}

layer_cli() {
  build release
  local script
  for script in tests/cli/*.sh tests/cli/*.py; do
    [[ ! -x $script ]] || ROUNDS=${thorough:+100} PLIMSOLL=$PWD/build/plimsoll counted "$script"
  done
}

layer_vm() {
  ((EUID == 0)) || { skip 'not root'; return; }
  [[ $(uname -m) == x86_64 ]] || { skip 'not x86-64'; return; }
  need vm
  build release all host_tests
  local script
  for script in tests/vm/*.sh; do
    [[ ! -x $script || $script == */selftest.sh ]] || in_machines "$script"
  done
  wait
  # Of the machines themselves; takes minutes.
  [[ ! $thorough ]] || counted tests/vm/selftest.sh
}

# in_machines SCRIPT: runs it in each machine that it asks for, in the background; as many machines
# at once as there are processors, as an emulated one keeps one busy.
in_machines() {
  local options
  while read -r options; do
    while (($(jobs -rp | wc -l) >= $(nproc))); do wait -n || true; done
    # shellcheck disable=SC2086 # options are words
    counted tests/vm/vm $options --env "PLIMSOLL=$PWD/build/plimsoll" -- "$PWD/$1" &
  done < <(machines "$1")
}

# The machines a script of tests/vm asks for with lines `# vm: OPTION...`; else both kernels, and
# the newer one under systemd.
machines() {
  sed -n 's/^# vm: *//p' "$1" | grep . ||
    printf '%s\n' '--kernel 6.1' '--kernel 6.12' '--kernel 6.12 --systemd'
}

layer_fuzz() {
  need test
  local file name
  for file in tests/fuzz/*_fuzz.cc; do
    [[ -e $file ]] || continue
    name=$(basename "$file" _fuzz.cc)
    check fuzz "$name" "$fuzz_seconds"
  done
}

layer_clang() {
  need test
  build clang all unit_tests host_tests
  tested build-clang unit "$(nproc)"
}

layer_clang-tidy() { check tidy; }

# What `./dev test NAME` runs: the script of that name, else the tests that match it.
layer_named() {
  build release all unit_tests host_tests
  if [[ -x tests/cli/$only.sh ]]; then
    PLIMSOLL=$PWD/build/plimsoll counted "tests/cli/$only.sh"
  elif [[ -x tests/vm/$only.sh ]]; then
    need vm
    in_machines "tests/vm/$only.sh"
    wait
  else
    tested build '(unit|host)' 1
  fi
}

# The layers of tests, sourced by ./dev; docs/testing.md explains them. What a layer prints goes to
# its log, what it ran to `count`.
# shellcheck shell=bash disable=SC2317 # called by name

# `./dev test`: on the release build that `./dev demo` makes too.
readonly usual_layers=(tidy unit alone host cli)
# `./dev test full`, which continuous integration runs.
readonly full_layers=("${usual_layers[@]}" sanitized tsan headers vm fuzz buildbarn)
# `./dev test all`: for hours when nobody waits.
readonly all_layers=("${full_layers[@]}" clang clang-tidy)
fuzz_seconds=30
thorough='' # `all`

# In `full` and `all` the builds of these layers go on behind the tests of others, from this layer on:
# tests mostly wait. Those before it are not to be disturbed.
readonly ahead_from=host
readonly ahead_layers=(sanitized tsan headers vm buildbarn)

layer_tidy() {
  need test
  whole check small_build &
  check format --check
  check tests/tidy/tidy_test.py
  check tests/tidy/page_contrast_test.py
  check tools/tidy.py
  check tools/page_sources.py
  check tools/page_contrast.py
  local page
  for page in docs/man/*.1; do
    [[ -e $page ]] || continue
    # man reports mistakes of the page on stderr and succeeds.
    check man_page "$page"
  done
  wait
}

# Neither gRPC nor GoogleTest is looked for where neither the daemon nor the tests are wanted.
small_build() {
  local package directory=$logs/small refused=()
  for package in gRPC Protobuf prometheus-cpp GTest rapidcheck benchmark; do
    refused+=(-D "CMAKE_DISABLE_FIND_PACKAGE_$package=ON") # finding it fails
  done
  rm -rf "$directory"
  cmake -G Ninja -S . -B "$directory" -D PLIMSOLL_DAEMON=OFF -D PLIMSOLL_TESTS=OFF "${refused[@]}"
  rm -rf "$directory"
}

# The database of an editor has every source, though several are compiled at once.
all_in_database() {
  local lost
  lost=$(comm -23 <(find "$PWD/src" -name '*.cc' | sort) \
    <(sed -n 's/^ *"file": "\(.*\)".*/\1/p' build/compile_commands.json | sort))
  [[ ! $lost ]] || { echo "not in build/compile_commands.json: $lost" && return 1; }
}

man_page() {
  ! LC_ALL=C.UTF-8 MANROFFSEQ='' MANWIDTH=80 man --warnings -l "$1" 2>&1 >/dev/null | grep .
}

layer_unit() {
  need test
  build release unit_tests
  tested build unit $(($(nproc) + 1)) # some wait for the loop or a disk
}

ahead_tsan() { build tsan unit_tests host_tests; }

layer_tsan() {
  build tsan unit_tests host_tests
  tested build-tsan unit "$(nproc)"
  ((EUID != 0)) || tested build-tsan host 1
}

layer_host() {
  can_make_groups || return 0
  build release host_tests
  tested build host 1
}

can_make_groups() {
  ((EUID == 0)) || { skip 'not root'; return 1; }
  [[ -d /sys/fs/cgroup ]] || { skip 'no /sys/fs/cgroup'; return 1; }
}

layer_cli() {
  need test
  # Chromium is large, and of no use without npm. page.sh says what is missing.
  if [[ $several ]] && ((EUID == 0)) && type -P npm >/dev/null; then need browser || true; fi
  # Another release may lack them; programs_large.sh says what is missing.
  if [[ $several ]] && ((EUID == 0)); then
    need programs || true
    need bazel || true
  fi
  build release all test_programs test_clients test_worker
  export ROUNDS=${thorough:+100}
  local script
  for script in $(cli_scripts); do
    is_alone "$script" || is_put_off "$script" || by_program build "$script"
  done
  wait
}

# Scripts that say `# full: REASON` are not what every commit runs.
is_put_off() { [[ ! $several ]] && grep -q '^# full: ' "$1"; }

# Scripts that have to be given a processor in time, one at a time; `# alone: REASON` says why.
layer_alone() {
  need test
  build release all test_programs test_clients test_worker
  check all_in_database
  local script
  for script in $(cli_scripts); do
    ! is_alone "$script" || { by_program build "$script" && wait; }
  done
}

# Those that say `# long: REASON` first, so that none of them is still running when all others have
# ended.
cli_scripts() {
  local script long=() others=()
  for script in tests/cli/*.sh tests/cli/*.py; do
    [[ -x $script ]] || continue
    if grep -q '^# long: ' "$script"; then long+=("$script"); else others+=("$script"); fi
  done
  printf '%s\n' "${long[@]}" "${others[@]}"
}

is_alone() { grep -q '^# alone: ' "$1"; }

# Unit tests, host tests and the scripts of `cli` once more with AddressSanitizer and
# UndefinedBehaviorSanitizer; without the scripts that say `# program: released`, as what they test
# is in time or is an installation. `test all` runs those too, but for the installation.
layer_sanitized() {
  need test
  build_sanitized
  tested build-debug unit "$(nproc)"
  ! can_make_groups || tested build-debug host 1
  export ROUNDS=${thorough:+100}
  local script scripts=()
  for script in $(cli_scripts); do
    if ! grep -q '^# program: released' "$script" || [[ $thorough && $script != */@(client_package|installed).sh ]]; then
      scripts+=("$script")
    fi
  done
  for script in "${scripts[@]}"; do
    is_alone "$script" || by_program build-debug "$script"
  done
  wait
  await_ahead "${ahead_layers[@]}"
  for script in "${scripts[@]}"; do
    ! is_alone "$script" || { by_program build-debug "$script" && wait; }
  done
}

build_sanitized() { build debug unit_tests host_tests plimsoll plimsolld test_programs test_clients test_worker; }

# All that is in its directory, as there is only one build in a directory at a time.
ahead_sanitized() { build_sanitized && build_fuzz; }

# by_program DIRECTORY SCRIPT: in the background. Scripts wait for three quarters of their time, so that
# more of them than there are processors fit.
by_program() {
  await_fewer $((3 * $(nproc)))
  PLIMSOLL=$PWD/$1/plimsoll in_group "$1-$(basename "$2")" counted setarch -R "$2" &
}

ahead_headers() { build dev all_verify_interface_header_sets; }

# Each header of src/ by itself.
layer_headers() { check build dev all_verify_interface_header_sets; }

# Kernels, and the image for systemd, where they are not there yet.
ahead_vm() {
  ((EUID == 0)) && [[ $(uname -m) == x86_64 ]] || return 0
  need vm
  tests/vm/vm --prepare --kernel 6.1
  tests/vm/vm --prepare --systemd
}

layer_vm() {
  ((EUID == 0)) || { skip 'not root'; return; }
  [[ $(uname -m) == x86_64 ]] || { skip 'not x86-64'; return; }
  need vm
  build release all host_tests test_clients
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
    await_fewer "$(nproc)"
    # shellcheck disable=SC2086 # options are words
    counted tests/vm/vm --retry $options --env "PLIMSOLL=$PWD/build/plimsoll" -- "$PWD/$1" &
  done < <(machines "$1")
}

# The machines a script of tests/vm asks for with lines `# vm: OPTION...`, and for `test all` with
# `# vm all: OPTION...`; without such lines both kernels, and the newer one under systemd.
machines() {
  sed -n "/^# vm${thorough:+\\( all\\)\\?}: */{s///;${thorough:+s/ --env SCRIPTS=[^ ]*//;}p}" "$1" | grep . ||
    grep -q '^# vm' "$1" ||
    printf '%s\n' '--kernel 6.1' '--kernel 6.12' '--kernel 6.12 --systemd'
}

# await_fewer COUNT: waits until fewer background jobs run.
await_fewer() {
  while (($(jobs -rp | wc -l) >= $1)); do wait -n || true; done
}

# fuzzed TARGET: without libFuzzer's word on each discovery, so that what fails can be seen.
fuzzed() {
  run_fuzz "$1" "$fuzz_seconds" 2>&1 |
    { grep -vE '^#[0-9]+[[:blank:]]+(REDUCE|NEW|RELOAD|pulse)|NEW_FUNC|# Uses: ' || true; }
}

fuzz_names() { basename -s _fuzz.cc tests/fuzz/*_fuzz.cc; }

build_fuzz() {
  local names
  mapfile -t names < <(fuzz_names)
  build debug "${names[@]/#/fuzz_}"
}

# A target has one thread: as many at once as there are processors.
layer_fuzz() {
  need test
  local name names
  mapfile -t names < <(fuzz_names)
  build_fuzz
  for name in "${names[@]}"; do
    await_fewer "$(nproc)"
    whole check fuzzed "$name" &
  done
  wait
}

# Buildbarn's programs are some 180 MB of Go packages: they take minutes to compile.
ahead_buildbarn() { ! type -P go >/dev/null || tests/buildbarn/build build/tests/buildbarn; }

layer_buildbarn() {
  need test
  build release all test_programs
  export PLIMSOLL=$PWD/build/plimsoll
  in_group buildbarn counted tests/buildbarn/farm.sh
}

layer_clang() {
  need test
  build clang all unit_tests host_tests
  tested build-clang unit "$(nproc)"
}

layer_clang-tidy() { check tidy; }

# What `./dev test NAME` runs: the script of that name, else the tests that match it.
layer_named() {
  build release all unit_tests host_tests test_clients
  if [[ -x tests/cli/$only.sh ]]; then
    need test
    PLIMSOLL=$PWD/build/plimsoll counted "tests/cli/$only.sh"
  elif [[ -x tests/vm/$only.sh ]]; then
    need vm
    in_machines "tests/vm/$only.sh"
    wait
  else
    tested build '(unit|host)' 1
  fi
}

#!/bin/bash
# Build tools, test runners and others that start many programs, unmodified, below `plimsoll govern`:
# what they start are steps, a line is kept at a high -j, nothing is left. Last line: `N passed, N
# failed`. programs_large.sh has those that are large. Usage: tests/cli/programs.sh [CASE]
# program: released
# shellcheck disable=SC2016,SC2154 # dollars are for the shells that are run; need and needs are there
set -uo pipefail
source "$(dirname "$(realpath "$0")")/cases.bash"
source "$(dirname "$(realpath "$0")")/programs.bash"

case_make() {
  has_tool make
  here
  printf 'all: %s\no%%: ; @%s $@\n' "$(seq -s ' ' -f 'o%g' "$needs")" "$need" >Makefile
  govern -- make -s -j 64
  all_is_well o make
  no_other_steps "$needs"
}

case_ninja() {
  has_tool ninja
  here
  printf 'rule need\n  command = %s $out\n' "$need" >build.ninja
  seq -f 'build o%g: need' "$needs" >>build.ninja
  govern -- ninja -j 64
  all_is_well o ninja
  no_other_steps "$needs"
}

cmake_project() {
  cat >CMakeLists.txt <<END
cmake_minimum_required(VERSION 3.20)
project(tried C)
enable_testing()
foreach(i RANGE 1 $needs)
  add_custom_command(OUTPUT o\${i} COMMAND $need o\${i})
  list(APPEND made o\${i})
  add_test(NAME t\${i} COMMAND $need t\${i})
endforeach()
add_custom_target(needs ALL DEPENDS \${made})
add_executable(a a.c)
END
  echo 'int main(void) { return 0; }' >a.c
}

case_cmake_with_make_and_ninja_and_ctest() {
  has_tool cmake ninja make gcc
  here
  cmake_project
  local generator tree
  for generator in 'Unix Makefiles' Ninja; do
    tree=${generator%% *}
    gives 0 cmake -S . -B "$tree" -G "$generator"
    govern -- cmake --build "$tree" -j 64
    all_is_well "$tree/o" cmake
    [[ -x $tree/a ]] || wrong "$tree/a was not built"
  done
  govern -- ctest --test-dir Ninja -j 64
  all_is_well Ninja/t ctest
  no_other_steps "$needs"
}

case_meson() {
  has_tool meson ninja gcc
  here
  cat >meson.build <<END
project('tried', 'c')
foreach i : range(1, $((needs + 1)))
  custom_target('o@0@'.format(i), output: 'o@0@'.format(i), build_by_default: true,
                command: ['$python', '$PWD/need.py', '@OUTPUT@'])
  test('t@0@'.format(i), find_program('$python'), args: ['$PWD/need.py', 't@0@'.format(i)])
endforeach
executable('a', 'a.c')
END
  echo 'int main(void) { return 0; }' >a.c
  CC=gcc govern -- meson setup tree
  govern -- meson compile -C tree -j 64
  all_is_well tree/o meson
  [[ -x tree/a ]] || wrong 'tree/a was not built'
  govern -- meson test -C tree --num-processes 64
  all_is_well tree/t meson
}

case_xargs_and_parallel() {
  has_tool parallel
  here
  # shellcheck disable=SC2086 # words
  govern -- xargs -P 64 -I{} $need o{} < <(seq "$needs")
  all_is_well o xargs
  no_other_steps "$needs"
  govern -- parallel --will-cite -j 64 "$need" p{} ::: $(seq "$needs")
  all_is_well p parallel
}

# Build scripts are programs that cargo compiles and runs.
case_cargo() {
  cargo --version >/dev/null 2>&1 || skip 'cargo is not installed'
  here
  local each
  printf '[workspace]\nresolver = "2"\nmembers = ["m*"]\n' >Cargo.toml
  for each in $(seq "$needs"); do
    mkdir -p "m$each/src"
    printf '[package]\nname = "m%s"\nversion = "0.1.0"\nedition = "2018"\n' "$each" >"m$each/Cargo.toml"
    echo "pub fn f() -> u32 { $each }" >"m$each/src/lib.rs"
    cat >"m$each/build.rs" <<'END'
fn main() {
    let mut memory: Vec<u8> = Vec::new();
    for _ in 0..100 {
        memory.resize(memory.len() + (1 << 20), 1);
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
    println!("cargo:rustc-env=HELD={}", memory.len());
}
END
  done
  govern -- cargo build --offline --quiet -j 64
  steps_are "$needs" /build-script-build cargo
  steps_are "$needs" '--crate-name build_script_build'
  the_line_was_kept
  [[ $(ls target/debug/libm*.rlib | wc -l) == "$needs" ]] || wrong 'not all is built'
}

case_npm_with_several_workers() {
  has_tool npm node
  here
  local each
  for each in $(seq "$needs"); do
    mkdir "w$each"
    echo "{\"name\": \"w$each\", \"version\": \"1.0.0\", \"scripts\": {\"make\": \"$need ../o$each\"}}" >"w$each/package.json"
  done
  cat >all.js <<'END'
const { spawn } = require("child_process");
for (const each of process.argv.slice(2)) {
  spawn("npm", ["run", "-s", "make", "-w", `w${each}`], { stdio: "inherit" })
      .on("exit", code => { process.exitCode = process.exitCode || code; });
}
END
  echo '{"name": "tried", "private": true, "workspaces": ["w*"], "scripts": {"all": "node all.js"}}' >package.json
  # shellcheck disable=SC2046 # words
  govern -- npm run -s all -- $(seq "$needs")
  all_is_well o npm
}

# A link is one step, with the make that runs its parts, and takes tokens for them.
case_lto() {
  has_tool make gcc
  here
  echo 'int f(int); int main(void) { return f(0); }' >a.c
  echo 'int f(int a) { return a; }' >b.c
  printf 'all: one two\n%%.o: %%.c ; +gcc -O2 -flto -c $<\none two: a.o b.o ; +gcc -O2 -flto=auto a.o b.o -o $@\n' >Makefile
  govern -- make -s -j 8
  { ./one && ./two; } || wrong 'a program does not run'
  steps_are 2 -flto=auto make
  steps_are 2 '-flto -c'
  no_other_steps 4
}

# compiles LAUNCHER [FIRST]: what a make starts through a compiler cache, after a command.
compiles() {
  local each
  for each in $(seq "$needs"); do echo "int f$each(void) { return $each; }" >"f$each.c"; done
  printf 'all: %s\n%%.o: %%.c | first ; @%s %s/bin/gcc -c $< -o $@\nfirst: ; @%s\n' \
    "$(seq -s ' ' -f 'f%g.o' "$needs")" "$1" "$PWD" "${2:-}" >Makefile
  govern -- make -s -j 64
  [[ $(ls f*.o | wc -l) == "$needs" ]] || wrong 'not all is compiled'
}

case_ccache() {
  has_tool ccache gcc make
  here
  needy_compiler gcc
  export CCACHE_DIR=$PWD/cache
  unset CCACHE_PREFIX
  compiles ccache
  steps_are "$needs" 'ccache ' make
  no_other_steps "$needs"
  the_line_was_kept
  rm f*.o
  compiles ccache
  gives 0 ccache --print-stats
  grep -qE '^(direct|preprocessed)_cache_hit\s+[1-9]' out || wrong "nothing was cached: $(<out)"
}

# Its clients have one server compile, which ends with the command. Clients that start it at the same
# time may fail by themselves.
case_sccache() {
  has_tool sccache gcc make
  here
  needy_compiler gcc
  SCCACHE_SERVER_PORT=$(free_port)
  export SCCACHE_SERVER_PORT SCCACHE_DIR=$PWD/cache
  compiles sccache 'sccache --start-server'
  steps_are "$needs" "-o f" sccache
}

run_cases "${1:-}"

#!/bin/bash
# The C++ client library as an executor's author has it: installed, found, linked. Last line: `N
# passed, N failed`.
# full: what is installed is compiled against, which changes seldom
# program: released
set -uo pipefail
source "$(dirname "$(realpath "$0")")/cases.bash"

root=$(dirname "$(realpath "$0")")/../..
build=$(dirname "$plimsoll")

case_the_example_builds_against_an_installation() {
  type -P cmake >/dev/null || skip 'no cmake'
  cmake --install "$build" --component client --prefix "$PWD/prefix" >install.log 2>&1 ||
    wrong "can't be installed: $(tail -n 5 install.log)"
  [[ -e prefix/share/plimsoll/proto/plimsoll/v1/governor.proto ]] || wrong 'no proto is installed'
  [[ -e prefix/include/plimsoll/jobs.h ]] || wrong 'no jobs.h is installed'
  cmake -G Ninja -S "$root/examples/executor" -B example -D CMAKE_PREFIX_PATH="$PWD/prefix" \
    -D CMAKE_BUILD_TYPE=Debug >configure.log 2>&1 || wrong "not found: $(tail -n 20 configure.log)"
  cmake --build example >build.log 2>&1 || wrong "does not build: $(tail -n 20 build.log)"
  export PLIMSOLL_SOCKET=$PWD/nobody
  gives 101 example/executor <<<true
  has err 'no governor'
}

run_cases "$@"

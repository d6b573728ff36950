#!/bin/bash
# Like programs.sh, of what is large or slow or has to be fetched first: ninja 1.13, snakemake (PyPI),
# nextflow (Maven Central), go, bazel, pytest. What was fetched is kept in the build directory.
# Last line: `N passed, N failed`. Usage: tests/cli/programs_large.sh [CASE]
# full: what it tries is large, and some of it is fetched
# long: workers that wait for each other
# program: released
# shellcheck disable=SC2016,SC2154 # dollars are for the shells that are run; need and needs are there
set -uo pipefail
source "$(dirname "$(realpath "$0")")/cases.bash"
source "$(dirname "$(realpath "$0")")/programs.bash"

fetched=$(dirname "$plimsoll")/tests/fetched
readonly fetched
readonly nextflow_version=24.10.0 # the latest whose parts are all on Maven Central

# from_pypi PACKAGE==VERSION...: in an environment of their own, whose programs are in `$fetched/pypi/bin`.
from_pypi() {
  local done="$fetched/pypi/$(echo "$*" | tr -c 'a-z0-9.\n' -)"
  [[ ! -e $done ]] || return 0
  { [[ -x $fetched/pypi/bin/pip ]] || "$python" -m venv "$fetched/pypi"; } >log 2>&1 ||
    skip "no environment of Python can be made: $(tail -n 1 log)"
  "$fetched/pypi/bin/pip" install --quiet "$@" >log 2>&1 || skip "PyPI can't be reached: $(tail -n 1 log)"
  touch "$done"
}

# nextflow_jars: in `$fetched/nextflow`.
nextflow_jars() {
  has_tool java mvn
  [[ ! -e $fetched/nextflow/complete ]] || return 0
  mkdir -p "$fetched/nextflow"
  cat >"$fetched/nextflow/pom.xml" <<END
<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion>
  <groupId>tried</groupId><artifactId>tried</artifactId><version>1</version>
  <dependencies><dependency>
    <groupId>io.nextflow</groupId><artifactId>nextflow</artifactId><version>$nextflow_version</version>
  </dependency></dependencies>
</project>
END
  mvn -q -B -f "$fetched/nextflow/pom.xml" dependency:copy-dependencies -DoutputDirectory=jars >log 2>&1 ||
    skip "Maven Central can't be reached: $(grep -m 1 ERROR log)"
  touch "$fetched/nextflow/complete"
}

case_ninja_that_reads_a_fifo() {
  from_pypi ninja==1.13.0
  here
  printf 'rule need\n  command = %s $out\n' "$need" >build.ninja
  seq -f 'build o%g: need' "$needs" >>build.ninja
  govern -- "$fetched/pypi/bin/ninja" -j 64
  all_is_well o ninja
  no_other_steps "$needs"
  # By the tokens that there are.
  rm o*
  govern --cores 4 --jobserver=fifo -- "$fetched/pypi/bin/ninja"
  all_is_well o ninja
  lacks out warning
}

# Rules with a shell's text, with a script, and with Python text, which a snakemake of its own runs.
case_snakemake() {
  from_pypi snakemake==9.27.1
  here
  cat >Snakefile <<END
rule all:
    input: expand("o{i}", i=range(1, $needs + 1)), expand("r{i}", i=range(2)), "s"
rule by_shell:
    output: "o{i}"
    shell: "$need {output}"
rule by_run:
    output: "r{i}"
    run:
        open(output[0], "w").write("made")
rule by_script:
    output: "s"
    script: "by_script.py"
END
  echo 'open(snakemake.output[0], "w").write("made")' >by_script.py
  export HOME=$PWD # for its cache
  line=400M govern -- "$fetched/pypi/bin/snakemake" --quiet --cores 64
  all_is_well o snakemake
  steps_are 2 '--mode' snakemake
  steps_are 1 by_script.py snakemake
  [[ -s r0 && -s r1 && -s s ]] || wrong 'not all was made'
}

case_nextflow() {
  nextflow_jars
  here
  cat >main.nf <<END
process NEED {
  publishDir '.', mode: 'copy'
  input: val i
  output: path "o\${i}"
  script: "$need o\${i}"
}
workflow { NEED(Channel.of(1..$needs)) }
END
  printf 'executor { cpus = 64; memory = "64 GB" }\n' >nextflow.config
  export NXF_HOME=$PWD/home NXF_OFFLINE=true NXF_ANSI_LOG=false
  local package packages=(java.{io,lang,net,nio,util,util.concurrent,util.concurrent.{atomic,locks},util.regex})
  local opened=()
  for package in "${packages[@]}" sun.nio.{ch,fs} sun.net.www.protocol.{file,ftp,http,https} jdk.internal.{misc,vm}; do
    opened+=("--add-opens=java.base/$package=ALL-UNNAMED")
  done
  govern -- java "${opened[@]}" -cp "$fetched/nextflow/jars/*" nextflow.cli.Launcher run main.nf
  # A task is one step, with the small programs that surround it.
  steps_are "$needs" .command.run java
  ! grep -q command.begin steps.jsonl || wrong 'a part of a task is a step'
  the_line_was_kept
  all_made o
}

# Its workers begin together, and wait for each other. Each wait for one that is held or paused lasts up
# to a minute before the governor sees that nothing moves: it takes two minutes, and more on a busy machine.
case_pytest_with_workers() {
  "$python" -c 'import xdist' 2>/dev/null || skip 'pytest-xdist is not installed'
  here
  local each
  for each in $(seq 6); do
    cat >"test_$each.py" <<END
from need import grow
def test_it():
    grow(0.01)
    open("o$each", "w").write("made")
END
  done
  local bound=$((10 * patience))
  line=400M govern -- "$python" -m pytest -q -p no:cacheprovider -n 6
  has out '6 passed'
  steps_are 6 'exec(eval(sys.stdin.readline()))' pytest
  the_line_was_kept
  # By what is known of them by now only two fit.
  line=400M govern -- "$python" -m pytest -q -p no:cacheprovider -n 6
  has out '6 passed'
  steps_are 6 'exec(eval(sys.stdin.readline()))' pytest
}

# Each compiler is executed through a wrapper that needs memory, once Go's own packages are compiled.
case_go() {
  has_tool go
  here
  export GOFLAGS=-mod=mod GOPROXY=off GOTOOLCHAIN=local GOCACHE=$fetched/go
  local each
  printf 'module tried\ngo 1.18\n' >go.mod
  {
    echo 'package main'
    for each in $(seq "$needs"); do echo "import \"tried/p$each\""; done
    echo 'func main() { println('
    for each in $(seq "$needs"); do echo "p$each.F() +"; done
    echo '0) }'
  } >main.go
  for each in $(seq "$needs"); do
    mkdir "p$each"
    # No other run has compiled the same.
    echo "package p$each; func F() int { return $((RANDOM * 32768 + RANDOM)) }" >"p$each/f.go"
  done
  cat >wrap.py <<END
import os, sys
from need import grow
if "-V=full" not in sys.argv and any(word.startswith("tried/p") for word in sys.argv):
    grow()
os.execv(sys.argv[1], sys.argv[1:])
END
  gives 0 go build -o first .
  for each in $(seq "$needs"); do sed -i 's/return /return 1 + /' "p$each/f.go"; done
  govern -- go build -p 64 -toolexec "$python $PWD/wrap.py" -o second .
  steps_are "$needs" '-p tried/p' go
  the_line_was_kept
  ./first 2>first.out
  ./second 2>second.out
  same $(($(<first.out) + needs)) "$(<second.out)" 'what was built'
}

# Its server is started below `govern`, and ends with it.
case_bazel() {
  has_tool bazel
  here
  touch WORKSPACE
  cat >BUILD <<END
[genrule(
    name = "g%d" % i,
    srcs = ["need.py"],
    outs = ["o%d" % i],
    cmd = "$python \$(location need.py) \$@",
) for i in range(1, $((needs + 1)))]
END
  govern -- bazel --output_user_root="$PWD/root" build -j 64 --local_cpu_resources=64 --local_ram_resources=100000 \
    --spawn_strategy=local //:all
  all_is_well bazel-bin/o bazel
  chmod -R u+w root
}

run_cases "${1:-}"

"""The sets of bench/real.py: real processes of a few kinds, each in a flavour with jobs of 1 to 10
seconds (short) and one with jobs of 1 to 3 minutes (long). All are made for LINE.

A set gives commands in terms of {load}, the program of bench/load.cc, and {inputs}, a directory
that prepare() fills; `start` is the first fixed number worth trying: below it memory and cores are
idle beyond doubt.
"""

import random
import subprocess
from typing import NamedTuple

LINE_MIB = 860  # four jobs of 200 MiB fit, a fifth does not


class Set(NamedTuple):
    commands: list[str]
    start: int = 2


def phases(count, *words):
    return [" ".join(("{load} phases", *words))] * count


def mixed(first, second):
    """Two kinds among each other, in the same proportion throughout."""
    both = [(i / len(kind), command) for kind in (first, second) for i, command in enumerate(kind)]
    return [command for _, command in sorted(both)]


def shell(count, text):
    return [f"sh -c '{text}'"] * count


KINDS = ["fetch", "lint", "compile", "check", "test", "pack", "link", "publish"]


def kinds(count):
    """Of eight programs, the larger the later in KINDS; each job is of 0.5 to 4.5 s."""
    draw = random.Random("kinds")
    commands = []
    for i in range(count):
        mib = 15 * (i % len(KINDS) + 1) * draw.uniform(1 / 1.6, 1.6)
        seconds = 1.5 * draw.uniform(1 / 3, 3)
        commands.append(f"{{inputs}}/{KINDS[i % len(KINDS)]} phases grow={mib:.0f}@1000 "
                        f"keep={seconds:.2f}")
    draw.shuffle(commands)
    return commands


STEPS = ["grow=60@1000", "keep={}", "grow=120@1000", "keep={}", "grow=180@1000", "keep={}",
         "grow=240@1000", "keep={}"]
COMPILE = "g++ -O2 -c -o /dev/null {inputs}"

SETS = {
    # Memory that grows evenly and is kept.
    "ramp-short": Set(phases(24, "grow=180@100", "keep=2"), start=3),
    "ramp-slow": Set(phases(12, "grow=200@10", "keep=20"), start=3),
    "ramp-long": Set(phases(12, "grow=200@5", "keep=40"), start=3),
    # High for a moment, low in between: four at once are safe, more by luck.
    "bursts-short": Set(phases(24, "times=4", "grow=200@2000", "keep=0.3", "drop=20", "keep=0.9")),
    "bursts-long": Set(phases(12, "times=12", "grow=200@500", "keep=1", "drop=20", "keep=4")),
    "sleepers-short": Set(["sleep 2"] * 40, start=8),
    "sleepers-long": Set(["sleep 60"] * 24, start=8),
    "cpu-short": Set(phases(24, "cpu=2")),
    "cpu-long": Set(phases(6, "cpu=60")),
    # Short and long jobs that one can't tell apart by their command.
    "mixed-short": Set(mixed(phases(30, "grow=100@400", "keep=0.75"),
                             phases(4, "grow=300@60", "keep=5"))),
    "mixed-long": Set(mixed(phases(20, "grow=150@100", "keep=8.5"),
                            phases(4, "grow=300@10", "keep=90"))),
    # Like the family `short` of the simulator.
    "kinds-short": Set(kinds(240), start=5),
    "steps-short": Set(phases(16, *(word.format(1) for word in STEPS))),
    "steps-long": Set(phases(9, *(word.format(20) for word in STEPS))),
    "saw-short": Set(phases(16, "times=4", "grow=200@200", "drop=20")),
    "saw-long": Set(phases(8, "times=8", "grow=200@20", "drop=20")),
    # What it is for.
    "compilers-short": Set([f"{COMPILE}/source{i % 4}.cc" for i in range(16)]),
    "compilers-long": Set(shell(6, "for i in 0 1 2 3 0 1 2 3 0 1 2 3; do " + COMPILE +
                                "/source$i.cc || exit; done")),
    "compressors-short": Set(mixed(shell(8, "xz -6 -T1 -c {inputs}/6.txt >/dev/null"),
                                   shell(8, "gzip -9 -c {inputs}/48.txt >/dev/null"))),
    "compressors-long": Set(mixed(
        shell(4, "xz -9 -T1 -c {inputs}/48.txt >/dev/null"),
        shell(6, "for i in 1 2 3 4 5 6 7 8; do gzip -9 -c {inputs}/48.txt; done >/dev/null"))),
}

SOURCE = """\
#include <algorithm>
#include <functional>
#include <iostream>
#include <map>
#include <regex>
#include <string>
#include <vector>
template <int N> struct Deep {
  static void run(std::map<int, std::vector<std::string>>& to) {
    to[N].push_back(std::to_string(N));
    std::sort(to[N].begin(), to[N].end(),
              [](const auto& a, const auto& b) { return a.size() + N < b.size(); });
    Deep<N - 1>::run(to);
  }
};
template <> struct Deep<0> { static void run(std::map<int, std::vector<std::string>>&) {} };
int main() {
  std::map<int, std::vector<std::string>> to;
  Deep<%d>::run(to);
  return std::regex_match("a", std::regex("[a-z]+")) ? 0 : 1;
}
"""


def prepare(inputs, load):
    """What compilers and compressors have to do, once; and the programs of kinds()."""
    inputs.mkdir(parents=True, exist_ok=True)
    for kind in KINDS:
        program = inputs / kind
        program.unlink(missing_ok=True)
        program.symlink_to(load)
    for i in range(4):
        (inputs / f"source{i}.cc").write_text(SOURCE % (5 + 10 * i))
    for mib in (6, 48):
        text = inputs / f"{mib}.txt"
        if text.exists() and text.stat().st_size >= mib << 20:
            continue
        with text.open("wb") as file:
            subprocess.run([load, "text", str(mib)], stdout=file, check=True)

#!/usr/bin/env python3
"""What `plimsoll whatif` says of other machines, beside the same jobs really run there.

bench/whatif.py [SET...]: without a name, all sets; minutes. Each set is run on this machine's
first two cores below a line; then with one core, and with another line. The first run is asked for
both. Its answers, as shares of what was measured, should be 0.9 to 1.1. Every run begins knowing
nothing.

  PLIMSOLL        the program (build/plimsoll); `load` is expected beside it
  WHATIF_ROUNDS   of which the medians are told, of both sides (1)
  WHATIF_KEEP     directory in which the recorded runs stay: KEEP/SET/ROUND-base and so on are state
                  directories
"""

import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import NamedTuple

import real_sets

ROOT = Path(__file__).resolve().parent.parent
PLIMSOLL = Path(os.environ.get("PLIMSOLL", ROOT / "build/plimsoll")).resolve()
LOAD = PLIMSOLL.parent / "load"
ROUNDS = int(os.environ.get("WHATIF_ROUNDS", "1"))
GOOD = 0.1  # an error that is as small as one can ask for


class Machine(NamedTuple):
    cores: int
    line_mib: int


class Set(NamedTuple):
    commands: list[str]
    line_mib: int
    other_line_mib: int

    def machines(self):
        return {"base": Machine(2, self.line_mib), "cores": Machine(1, self.line_mib),
                "line": Machine(2, self.other_line_mib)}


SETS = {
    "cpu": Set(real_sets.mixed(real_sets.phases(12, "cpu=1"), real_sets.phases(12, "cpu=2")),
               line_mib=400, other_line_mib=150),
    # Jobs that one can't tell apart by their command, some of which are paused.
    "memory": Set(real_sets.mixed(real_sets.phases(24, "grow=120@200", "keep=1.5"),
                                  real_sets.phases(6, "grow=240@80", "keep=3")),
                  line_mib=600, other_line_mib=400),
    "mixed": Set(real_sets.mixed(
        [f"{real_sets.COMPILE}/source{i % 2}.cc" for i in range(4)],
        real_sets.phases(12, "grow=150@100", "cpu=0.5", "keep=1")),
                 line_mib=700, other_line_mib=350),
}


class Bench:
    def __init__(self, work):
        self.work = work
        self.inputs = work / "inputs"

    def run(self, commands, machine, state):
        """The run's directory and its makespan in seconds."""
        listed = self.work / "commands"
        listed.write_text("".join(text.format(load=LOAD, inputs=self.inputs) + "\n"
                                  for text in commands))
        words = ["taskset", "-c", ",".join(str(core) for core in range(machine.cores)), PLIMSOLL,
                 "batch", "-q", "--line", f"{machine.line_mib}M", listed]
        ran = subprocess.run(words, env=environment(state), check=False, stdin=subprocess.DEVNULL,
                             stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        if ran.returncode != 0:
            sys.exit(f"whatif: plimsoll batch failed: {ran.stderr.decode()}")
        run = next((state / "runs").iterdir())
        return run, json.loads((run / "summary.json").read_text())["makespan_ns"] / 1e9

    def round(self, chosen, kept):
        """By machine: seconds measured and seconds answered."""
        seconds = {}
        base = None
        for name, machine in chosen.machines().items():
            state = kept / name if kept else self.work / "state"
            shutil.rmtree(state, ignore_errors=True)
            run, measured = self.run(chosen.commands, machine, state)
            if base is None:
                base = self.work / "base"
                shutil.rmtree(base, ignore_errors=True)
                shutil.copytree(run, base)
            seconds[name] = (measured, answer(base, machine))
        return seconds


def environment(state):
    return {**os.environ, "PLIMSOLL_STATE_DIR": str(state)}


def answer(run, machine):
    told = subprocess.run(
        [PLIMSOLL, "whatif", f"{run}/", "--cores", str(machine.cores), "--line",
         f"{machine.line_mib}M", "--json"], check=True, capture_output=True)
    return json.loads(told.stdout)["answers"][0]["makespan_s"]


COLUMNS = "{:8} {:8} {:>6} {:>9} {:>10} {:>10} {:>7}"


def main():
    names = sys.argv[1:] or list(SETS)
    unknown = [name for name in names if name not in SETS]
    if unknown:
        sys.exit(f"whatif: there is no set \"{unknown[0]}\"; there are: {' '.join(SETS)}")
    good = tried = 0
    with tempfile.TemporaryDirectory(prefix="plimsoll-whatif.") as work:
        bench = Bench(Path(work))
        real_sets.prepare(bench.inputs, LOAD)
        print(COLUMNS.format("set", "other", "cores", "line MiB", "measured s", "answered s",
                             "ratio"), flush=True)
        for name in names:
            rounds = []
            for number in range(ROUNDS):
                kept = Path(os.environ["WHATIF_KEEP"]) / name / str(number) \
                    if "WHATIF_KEEP" in os.environ else None
                rounds.append(bench.round(SETS[name], kept))
            for other, machine in SETS[name].machines().items():
                measured, answered = (statistics.median(seconds[other][side] for seconds in rounds)
                                      for side in (0, 1))
                ratio = answered / measured
                print(COLUMNS.format(name, "-" if other == "base" else other, machine.cores,
                                     machine.line_mib, f"{measured:.1f}", f"{answered:.1f}",
                                     f"{ratio:.3f}"), flush=True)
                if other != "base":
                    tried += 1
                    good += abs(ratio - 1) <= GOOD
    print(f"{good} of {tried} answers are within {GOOD:.0%}")


if __name__ == "__main__":
    main()

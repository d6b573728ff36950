#!/usr/bin/env python3
"""Sets of real processes under Plimsoll and under the best fixed number that can be found.

bench/real.py [SET...]: without a name, those of REAL_SETS, else all (hours). Each set is run by
GNU parallel with rising -jN, until jobs are lost or it gets clearly slower; then, in turn and
REAL_ROUNDS times, under Plimsoll that knows nothing (first), under Plimsoll that has seen that one
run (second) and with the best number. Everything has the same memory. Both recorded runs are then
replayed by `plimsoll simulate`, the second with what the first has taught: the simulated makespan
over the real one is the replay.

  PLIMSOLL      the program (build/plimsoll); `load` is expected beside it
  REAL_ROUNDS   of which the medians are told (3)
  REAL_SETS     names of sets, or parts of names: "ramp-short cpu", "short"
  REAL_LOAD     quiet, busy or both (quiet): busy is beside two busy loops in a group of their own
  REAL_RULES    of first, second, best (all three)
  REAL_NUMBERS  the -jN to try, in place of the set's own; a single one is taken as the best
  REAL_BOUND    MiB for all jobs together (860); `machine` bounds nobody: for a machine that is
                small itself
  REAL_SECONDS  after so long a peer is ended (3600)
  REAL_JSON     file to which a JSON line for each set is added
  REAL_KEEP     directory in which the recorded runs stay: KEEP/SET/ROUND-first and so on are state
                directories, for PLIMSOLL_STATE_DIR=... plimsoll explain last

In a machine of 1 GiB with pure cgroup v2:
  ./dev vm --memory 1024 --timeout 3600 --env REAL_BOUND=machine -- "$PWD/bench/real.py" ramp-short
"""

import json
import os
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

import real_sets
from ground import Ground

ROOT = Path(__file__).resolve().parent.parent
PLIMSOLL = Path(os.environ.get("PLIMSOLL", ROOT / "build/plimsoll")).resolve()
LOAD = PLIMSOLL.parent / "load"
ROUNDS = int(os.environ.get("REAL_ROUNDS", "3"))
RULES = os.environ.get("REAL_RULES", "first second best").split()
BOUND = os.environ.get("REAL_BOUND", str(real_sets.LINE_MIB))
SECONDS_MAX = float(os.environ.get("REAL_SECONDS", "3600"))
NUMBERS = [2, 3, 4, 5, 6, 8, 10, 12, 16, 24, 32, 40, 48, 64]
# A number that takes so much longer than the best so far: more only get in each other's way.
CLEARLY_SLOWER = 1.1
# A larger number must gain so much, else the smaller is the better one.
GAIN = 0.99
BUSY_LOOPS = 2
HISTORY = "history.db"  # in a state directory


# Plimsoll makes its groups in `own`; `busy` is for other people's load.
GROUPS = ("peer", "own", "busy")


def kernel_kills(ground):
    """Of peers that are bounded, or of the whole machine."""
    if BOUND != "machine":
        return ground.kernel_kills("peer")
    counts = dict(line.split()[:2] for line in Path("/proc/vmstat").read_text().splitlines())
    return int(counts.get("oom_kill", 0))


class Peer(NamedTuple):
    """One run of GNU parallel."""

    seconds: float
    lost: int  # jobs
    kernel_kills: int


class Own(NamedTuple):
    """One run of Plimsoll."""

    seconds: float
    lost: int
    figures: dict
    replay: float | None  # makespan, replayed over real


def kill_group(process):
    """The peer and all that it has started: they are a session."""
    process.terminate()
    try:
        process.wait(2)
    except subprocess.TimeoutExpired:
        pass
    subprocess.run(["pkill", "-KILL", "-s", str(process.pid)], check=False)
    process.wait()


class Bench:
    def __init__(self, ground, work):
        self.ground = ground
        self.work = work
        self.inputs = work / "inputs"
        if os.access(PLIMSOLL.parent, os.W_OK):
            self.inputs = PLIMSOLL.parent / "bench-real"

    def commands(self, chosen):
        if any("{inputs}" in text for text in chosen.commands):
            real_sets.prepare(self.inputs, LOAD)
        return [text.format(load=LOAD, inputs=self.inputs) for text in chosen.commands]

    def peer(self, commands, number, seconds_max):
        """Each job under a witness that tells whether it came to its end."""
        log = self.work / "log"
        log.write_text("")
        witnessed = [f"{LOAD} {log} job{i} -- {command}" for i, command in enumerate(commands)]
        kills = kernel_kills(self.ground)
        begin = time.monotonic()
        process = subprocess.Popen(["parallel", "--will-cite", f"-j{number}"], text=True,
                                   stdin=subprocess.PIPE, stdout=subprocess.DEVNULL,
                                   stderr=subprocess.DEVNULL, start_new_session=True,
                                   preexec_fn=lambda: self.ground.enter("peer"))
        try:
            process.communicate("".join(line + "\n" for line in witnessed), timeout=seconds_max)
        except subprocess.TimeoutExpired:
            kill_group(process)
        seconds = time.monotonic() - begin
        done = sum(line.split()[1] == "done" for line in log.read_text().splitlines())
        return Peer(seconds, len(commands) - done, kernel_kills(self.ground) - kills)

    def replay(self, run, makespan, history, busy):
        """What the simulator makes of a recorded run; None where it can't."""
        words = [PLIMSOLL, "simulate", run, "--json", "--other-load", str(BUSY_LOOPS * busy)]
        if history is not None:
            words += ["--history", history]
        ran = subprocess.run(words, check=False, capture_output=True, text=True)
        if ran.returncode != 0:
            print(f"real: no replay of {run}: {ran.stderr.strip()}", file=sys.stderr)
            return None
        return json.loads(ran.stdout)["makespan_s"] / makespan

    def own(self, commands, state, busy):
        history = self.work / "history"
        history.unlink(missing_ok=True)
        if (state / HISTORY).exists():
            shutil.copy(state / HISTORY, history)
        (self.work / "commands").write_text("".join(line + "\n" for line in commands))
        words = [PLIMSOLL, "batch", "-q", "--cgroup", self.ground.path + "/own"]
        if BOUND != "machine":
            words += ["--line", BOUND + "M"]
        environment = {**os.environ, "PLIMSOLL_STATE_DIR": str(state)}
        begin = time.monotonic()
        ran = subprocess.run([*words, self.work / "commands"], env=environment, check=False,
                             stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                             stderr=subprocess.PIPE)
        seconds = time.monotonic() - begin
        if ran.returncode > 101:
            sys.exit(f"real: plimsoll failed: {ran.stderr.decode()}")
        newest = max((state / "runs").iterdir(), key=lambda path: path.stat().st_mtime)
        figures = json.loads((newest / "summary.json").read_text())
        replay = self.replay(newest, figures["makespan_ns"] / 1e9,
                             history if history.exists() else None, busy)
        return Own(seconds, ran.returncode, figures, replay)

    def find_best(self, chosen, commands, told):
        """The best fixed number, and what each that was tried came to."""
        numbers = [n for n in NUMBERS if n >= chosen.start]
        if "REAL_NUMBERS" in os.environ:
            numbers = [int(n) for n in os.environ["REAL_NUMBERS"].split()]
        if len(numbers) == 1:
            return numbers[0], {}
        numbers = [n for n in numbers if n < len(commands)] + [len(commands)]
        tried = {}
        best = None

        def is_better(number):
            limit = SECONDS_MAX if best is None else tried[best].seconds * CLEARLY_SLOWER + 1
            tried[number] = self.peer(commands, number, min(limit, SECONDS_MAX))
            told(f"-j{number}: {tried[number].seconds:.1f} s, {tried[number].lost} jobs lost")
            if tried[number].lost > 0:
                return False
            return best is None or tried[number].seconds < tried[best].seconds * GAIN

        for number in numbers:
            if is_better(number):
                best = number
            elif tried[number].lost > 0 or tried[number].seconds > (
                    tried[best].seconds * CLEARLY_SLOWER):
                break
        # Those between it and the next that was tried.
        while best is not None and best < len(commands) and best + 1 not in tried:
            if not is_better(best + 1):
                break
            best += 1
        return best, tried


def median(values):
    return statistics.median(values) if values else None


def ratio(value, other):
    return value / other if value is not None and other else None


def run_set(bench, name, busy):
    chosen = real_sets.SETS[name]
    commands = bench.commands(chosen)
    label = f"{name}/{'busy' if busy else 'quiet'}"

    def told(text):
        print(f"    {label}: {text}", file=sys.stderr, flush=True)

    best, tried = bench.find_best(chosen, commands, told) if "best" in RULES else (None, {})
    seconds = {"first": [], "second": [], "best": []}
    runs = {"first": [], "second": []}
    for number in range(ROUNDS):
        state = bench.work / "state"
        shutil.rmtree(state, ignore_errors=True)
        for rule in ("first", "second"):
            if rule not in RULES:
                continue
            own = bench.own(commands, state, busy)
            runs[rule].append(own)
            seconds[rule].append(own.seconds)
            told(f"{rule}: {own.seconds:.1f} s, {own.figures['pauses']} pauses, "
                 f"{own.figures['evictions']} evictions, {own.lost} jobs lost, "
                 f"replay {own.replay if own.replay is None else round(own.replay, 3)}")
            if "REAL_KEEP" in os.environ:
                kept = Path(os.environ["REAL_KEEP"]) / label.replace("/", "-") / f"{number}-{rule}"
                shutil.rmtree(kept, ignore_errors=True)
                shutil.copytree(state, kept)
        if best is not None:
            peer = bench.peer(commands, best, SECONDS_MAX)
            seconds["best"].append(peer.seconds)
            told(f"-j{best}: {peer.seconds:.1f} s, {peer.lost} jobs lost")

    figures = {"set": name, "load": "busy" if busy else "quiet", "jobs": len(commands),
               "bound_mib": BOUND, "rounds": ROUNDS, "best": best,
               "tried": {n: peer._asdict() for n, peer in tried.items()}, "seconds": seconds}
    for rule in ("first", "second", "best"):
        figures[f"{rule}_s"] = median(seconds[rule])
    for rule in ("first", "second"):
        figures[f"{rule}_ratio"] = ratio(figures[f"{rule}_s"], figures["best_s"])
        for key in ("oom_kills", "pauses", "evictions"):
            figures[f"{rule}_{key}"] = [own.figures.get(key, 0) for own in runs[rule]]
        figures[f"{rule}_replay"] = median([own.replay for own in runs[rule] if own.replay])
        figures[f"{rule}_lost"] = [own.lost for own in runs[rule]]
    if best is not None and best + 1 in tried:
        figures["lost_above"] = tried[best + 1].lost
    return figures


COLUMNS = "{:24} {:>7} {:>7} {:>7} {:>3} {:>9} {:>9} {:>6} {:>8} {:>8} {:>8} {:>8} {:>11}"
HEADER = "\n".join(COLUMNS.format(*words) for words in (
    ("", "first", "second", "best", "", "first", "second", "lost", "", "", "", "", ""),
    ("set/load", "s", "s", "s", "-jN", "over best", "over best", "at N+1", "kills", "pauses",
     "evicted", "lost", "replay")))


def row(figures):
    def number(key, digits):
        value = figures.get(key)
        return "-" if value is None else f"{value:.{digits}f}"

    def both(key):
        """Of the first run and of the second."""
        return ",".join("-" if not figures[f"{rule}_{key}"] else
                        f"{median(figures[f'{rule}_{key}']):.0f}" for rule in ("first", "second"))

    return COLUMNS.format(
        f"{figures['set']}/{figures['load']}", number("first_s", 1), number("second_s", 1),
        number("best_s", 1), number("best", 0), number("first_ratio", 2), number("second_ratio", 2),
        number("lost_above", 0), both("oom_kills"), both("pauses"), both("evictions"), both("lost"),
        number("first_replay", 2) + "," + number("second_replay", 2))


def chosen_sets(words):
    words = words or os.environ.get("REAL_SETS", "").split()
    for word in words:
        if not any(word in name for name in real_sets.SETS):
            sys.exit(f"real: there is no set \"{word}\"; there are: {' '.join(real_sets.SETS)}")
    return [name for name in real_sets.SETS if not words or any(word in name for word in words)]


def main():
    names = chosen_sets(sys.argv[1:])
    loads = os.environ.get("REAL_LOAD", "quiet").split()
    if shutil.which("parallel") is None and "best" in RULES:
        sys.exit("real: GNU parallel is not installed")
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    ground = Ground(GROUPS)
    work = Path(tempfile.mkdtemp(prefix="plimsoll-real."))
    loops = []
    try:
        if BOUND != "machine":
            ground.bound("peer", BOUND)
        bench = Bench(ground, work)
        print(HEADER, flush=True)
        for name in names:
            for load in loads:
                count = BUSY_LOOPS if load == "busy" else 0
                loops = [subprocess.Popen([LOAD, "phases", "cpu=100000"],
                                          preexec_fn=lambda: ground.enter("busy"))
                         for _ in range(count)]
                figures = run_set(bench, name, load == "busy")
                for loop in loops:
                    loop.kill()
                    loop.wait()
                print(row(figures), flush=True)
                if "REAL_JSON" in os.environ:
                    with open(os.environ["REAL_JSON"], "a", encoding="utf-8") as file:
                        file.write(json.dumps(figures) + "\n")
    finally:
        for loop in loops:
            loop.kill()
            loop.wait()
        ground.remove()
        shutil.rmtree(work, ignore_errors=True)


if __name__ == "__main__":
    main()

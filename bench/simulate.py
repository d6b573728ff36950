#!/usr/bin/env python3
"""Plimsoll's governor beside other policies, on the simulated machine: tables in Markdown.

Without a FILE the families of bench/curve_families.py are simulated, else these files of curves
(docs/formats/curves.md), packed with xz or not. Each is simulated with several seeds. Of a family,
a seed draws the jobs that run and, beside them, as many of the same kind that were learnt from; of
a file, it takes one half to run and the other to learn from, and shuffles.

The figures are means over the seeds, but for kills, which are counted together:

  makespan     in units of the lower bound: the greatest of CPU work / cores, the longest job, and
               memory integral / line
  killed       attempts that the kernel killed
  lost         CPU time of attempts that came to nothing, of the work of all jobs
  memory       that was in use, of the line, over time
  cores        that were in use, lost work included

`fixed:N` is shown with the N that took least, and with the one that took least of those without a
kill; both were found by trying. The environment's PLIMSOLL names the program.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from statistics import fmean
from typing import NamedTuple

import curve_families
import split_trace

ROOT = Path(__file__).resolve().parent.parent
PLIMSOLL = os.environ.get("PLIMSOLL", str(ROOT / "build/plimsoll"))
UNKNOWN = "plimsoll, nothing known"
LEARNT = "plimsoll, having learnt"
BASELINES = ["memfree:25%", "fit:first", "fit:best", "fit:dot", "clairvoyant:class", "clairvoyant"]
MACHINES = [("16", "64G"), ("128", "64G"), ("64", "48G"), ("32", "64G")]
MUCH_WORSE = 1.5  # than the best number
QUICK_SHARE = 0.06  # of a family: seconds for all of them


class Draw(NamedTuple):
    """What is simulated with one seed."""

    seed: int
    run: Path
    learn: Path | None


class Case(NamedTuple):
    """A set of jobs on a machine."""

    name: str
    cores: str
    line: str
    shuffled: bool
    draws: list[Draw]


class Figures(NamedTuple):
    """What came of a policy, of one seed or of all."""

    makespan: float | None  # in units of the bound; absent: some jobs did not finish
    killed: int
    lost: float
    memory: float
    cores: float


def fixed_numbers(cores: str) -> Iterator[list[int]]:
    """All up to 16, then in steps of an eighth, up to four for each core; eight at a time."""
    numbers, number = [], 1
    while number <= max(16, 4 * int(cores)):
        numbers.append(number)
        number += max(1, number // 8)
        if len(numbers) == 8:
            yield numbers
            numbers = []
    if numbers:
        yield numbers


def outcomes(case: Case, draw: Draw, policies: list[str], learn: Path | None) -> list[dict]:
    """Runs a simulation of each policy."""
    command = [PLIMSOLL, "simulate", str(draw.run), "--cores", case.cores, "--line", case.line,
               "--seed", str(draw.seed), "--json", "--policy", ",".join(policies)]
    command += ["--order", "shuffle"] if case.shuffled else []
    command += ["--learn", str(learn)] if learn else []
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"simulate: {done.stderr.strip() or command}")
    decoder, text, found = json.JSONDecoder(), done.stdout, []
    while text := text.lstrip():
        outcome, end = decoder.raw_decode(text)
        found.append(outcome)
        text = text[end:]
    return found


def figures(case: Case, outcome: dict) -> Figures:
    seconds = outcome["makespan_s"]
    used = outcome["cpu_utilisation"] * float(case.cores) * seconds
    lost = outcome["lost_s"]
    return Figures(seconds / outcome["lower_bound_s"] if outcome["finished"] else None,
                   outcome["oom_kills"], lost / (used - lost) if used > lost else 0,
                   outcome["memory_utilisation"], outcome["cpu_utilisation"])


def together(each: list[Figures]) -> Figures:
    unfinished = any(one.makespan is None for one in each)
    return Figures(None if unfinished else fmean(one.makespan for one in each),
                   sum(one.killed for one in each), fmean(one.lost for one in each),
                   fmean(one.memory for one in each), fmean(one.cores for one in each))


def joined(case: Case, futures: list[Future], place: int = 0) -> Figures:
    return together([figures(case, future.result()[place]) for future in futures])


def best_fixed(case: Case, pool: ThreadPoolExecutor) -> dict:
    """The rows of the best numbers; where eight are much worse, more only kill each other."""
    done: dict[int, Figures] = {}
    for numbers in fixed_numbers(case.cores):
        policies = [f"fixed:{number}" for number in numbers]
        futures = [pool.submit(outcomes, case, draw, policies, None) for draw in case.draws]
        tried = {number: joined(case, futures, i) for i, number in enumerate(numbers)}
        done |= {n: row for n, row in tried.items() if row.makespan is not None}
        least = min((row.makespan for row in done.values()), default=0)
        if all(row.makespan is None or row.makespan > MUCH_WORSE * least for row in tried.values()):
            break
    rows = {}
    for name, some in (("best `fixed:N`", done),
                       ("best `fixed:N` without a kill",
                        {n: row for n, row in done.items() if not row.killed})):
        # Of equals the smaller.
        best = min(some, key=lambda n: (some[n].makespan, n), default=None)
        rows[name if best is None else f"{name} ({best})"] = some.get(best)
    return rows


def simulate(case: Case, pool: ThreadPoolExecutor, baselines: list[str]) -> dict:
    """The rows of a case: figures by the names of policies, in the order of the table."""

    def submit(policy: str, learns: bool) -> list[Future]:
        return [pool.submit(outcomes, case, draw, [policy], draw.learn if learns else None)
                for draw in case.draws]

    own = {UNKNOWN: submit("plimsoll", False)}
    if case.draws[0].learn:
        own[LEARNT] = submit("plimsoll", True)
    others = {f"`{policy}`": submit(policy, False) for policy in baselines}
    fixed = best_fixed(case, pool)
    return ({name: joined(case, futures) for name, futures in own.items()} | fixed |
            {name: joined(case, futures) for name, futures in others.items()})


def table(header: list[str], rows: list[list[str]]) -> str:
    """Markdown that can be read as it is: the first column to the left, figures to the right."""
    widths = [max(len(row[i]) for row in [header, *rows]) for i in range(len(header))]

    def line(cells: list[str]) -> str:
        padded = [cells[0].ljust(widths[0])]
        padded += [cell.rjust(width) for cell, width in zip(cells[1:], widths[1:])]
        return f"| {' | '.join(padded)} |\n"

    rule = "|" + "|".join("-" * (width + 2) if i == 0 else "-" * (width + 1) + ":"
                          for i, width in enumerate(widths)) + "|\n"
    return line(header) + rule + "".join(line(row) for row in rows)


def ratio_text(row: Figures | None) -> str:
    if row is None:
        return "none"
    return "unfinished" if row.makespan is None else f"{row.makespan:.2f}"


def percent_text(share: float) -> str:
    return f"{share * 100:.1f} %" if 0 < share < 0.0995 else f"{share * 100:.0f} %"


def case_table(rows: dict) -> str:
    cells = []
    for name, row in rows.items():
        rest = [] if row is None else [str(row.killed), percent_text(row.lost),
                                       percent_text(row.memory), percent_text(row.cores)]
        cells.append([name, ratio_text(row), *(rest or [""] * 4)])
    return table(["policy", "makespan", "killed", "lost", "memory", "cores"], cells)


def summary_table(results: list[tuple[Case, dict]]) -> str:
    """Makespans alone; `fixed:N` without its numbers."""
    names = [name.rsplit(" (", 1)[0] for name in results[0][1]]
    return table(["jobs", *names], [[title(case), *map(ratio_text, rows.values())]
                                    for case, rows in results])


def title(case: Case) -> str:
    return f"{case.name}, {case.cores} cores, {case.line.removesuffix('G')} GiB"


def family_cases(options: argparse.Namespace, work: Path) -> list[Case]:
    share, cases = QUICK_SHARE if options.quick else 1, []
    for family in curve_families.FAMILIES:
        if options.family and family.name not in options.family:
            continue
        draws = []
        for seed in options.seeds:
            # What was learnt is drawn with a seed that nothing is run with.
            run, learn = (work / f"{family.name}-{number}" for number in (seed, -seed))
            run.write_text("".join(curve_families.lines_of(family, seed, share)))
            learn.write_text("".join(curve_families.lines_of(family, -seed, share)))
            draws.append(Draw(seed, run, learn))
        cases.append(Case(family.name, str(family.cores), family.line, False, draws))
    return cases


def file_cases(options: argparse.Namespace, file: str, work: Path) -> list[Case]:
    name = Path(file).name.removesuffix(".xz").removesuffix(".jsonl")
    lines = split_trace.read_lines(file)
    draws = []
    for seed in options.seeds:
        run, learn = work / f"{name}-{seed}-run", work / f"{name}-{seed}-learn"
        learnt, half = ([], lines) if options.whole else split_trace.halves(lines, seed)
        run.write_text("".join(half))
        learn.write_text("".join(learnt))
        draws.append(Draw(seed, run, learn if learnt else None))
    return [Case(name, cores, line, True, draws) for cores, line in options.machine or MACHINES]


def put_into(path: Path, mark: str, text: str) -> None:
    """In place of what stands between two lines of `path`."""
    begin, end = f"<!-- bench simulate: {mark} -->\n", "<!-- end -->\n"
    before, found, rest = path.read_text().partition(begin)
    _, closed, after = rest.partition(end)
    if not found or not closed:
        sys.exit(f"simulate: {path} has no lines {begin.strip()} and {end.strip()}")
    path.write_text(f"{before}{begin}\n{text}\n{end}{after}")


def parsed() -> argparse.Namespace:
    def machine(text: str) -> tuple[str, str]:
        cores, comma, line = text.partition(",")
        if not comma or not cores.isdigit():
            raise argparse.ArgumentTypeError(f'found "{text}", expected CORES,LINE such as 16,64G')
        return cores, line

    def seeds(text: str) -> list[int]:
        numbers = [int(number) if number.isdigit() else 0 for number in text.split(",")]
        if min(numbers) < 1:
            raise argparse.ArgumentTypeError(f'found "{text}", expected numbers such as 1,2,3')
        return numbers

    parser = argparse.ArgumentParser(
        prog="bench/simulate.py", description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file", nargs="*", metavar="FILE", help="a file of curves")
    parser.add_argument("--family", action="append", metavar="NAME",
                        choices=[family.name for family in curve_families.FAMILIES],
                        help="this one of the families only; may be repeated")
    parser.add_argument("--machine", action="append", type=machine, metavar="CORES,LINE",
                        help="for files; may be repeated (16,64G 128,64G 64,48G 32,64G)")
    parser.add_argument("--whole", action="store_true",
                        help="of files, run all jobs, with nothing to learn from")
    parser.add_argument("--seeds", type=seeds, default=[1, 2, 3], metavar="SEED[,...]",
                        help="above 0 (1,2,3)")
    parser.add_argument("--policy", action="append", metavar="POLICY",
                        help="beside plimsoll and fixed:N, in place of the usual ones; may be "
                        "repeated")
    parser.add_argument("--quick", action="store_true",
                        help="few jobs of each family: whether all of it works, in seconds")
    parser.add_argument("--into", type=Path, metavar="PAGE",
                        help="write what is printed into this page too, between its lines "
                        "<!-- bench simulate: NAME --> and <!-- end -->; NAME is families, or the "
                        "file's without its endings")
    return parser.parse_args()


def tell(options: argparse.Namespace, mark: str, cases: list[Case],
         pool: ThreadPoolExecutor) -> None:
    results, details = [], []
    for case in cases:
        rows = simulate(case, pool, options.policy or BASELINES)
        results.append((case, rows))
        details.append(f"{title(case)}:\n\n{case_table(rows)}")
        print(details[-1], flush=True)
    summary = summary_table(results)
    print(summary)
    if options.into:
        put_into(options.into, mark, "\n".join([summary, *details]))


def main() -> int:
    options = parsed()
    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(os.cpu_count()) as pool:
        work = Path(folder)
        try:
            for file in options.file:
                cases = file_cases(options, file, work)
                tell(options, cases[0].name, cases, pool)
            if not options.file:
                tell(options, "families", family_cases(options, work), pool)
        except OSError as error:
            sys.exit(f"simulate: {error.filename}: {error.strerror}")
        finally:
            pool.shutdown(cancel_futures=True)  # where it went wrong there may be hours of them
    return 0


if __name__ == "__main__":
    sys.exit(main())

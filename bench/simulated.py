"""What `plimsoll simulate` says of policies: jobs, machines and figures, and how these are shown.

The figures are means over the seeds, but for kills, which are counted together:

  makespan     in units of the lower bound: the greatest of CPU work / cores, the longest job, and
               memory integral / line
  killed       attempts that the kernel killed
  lost         CPU time of attempts that came to nothing, of the work of all jobs
  memory       that was in use, of the line, over time
  cores        that were in use, lost work included
"""

import argparse
import json
import subprocess
import sys
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from statistics import fmean
from typing import NamedTuple

import curve_families
import split_trace

UNKNOWN = "plimsoll, nothing known"
LEARNT = "plimsoll, having learnt"
MACHINES = [("16", "64G"), ("128", "64G"), ("64", "48G"), ("32", "64G")]
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


def outcomes(program: str, case: Case, draw: Draw, policies: list[str],
             learn: Path | None) -> list[dict]:
    """Runs a simulation of each policy. `program`: the plimsoll to ask."""
    command = [program, "simulate", str(draw.run), "--cores", case.cores, "--line", case.line,
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


def submit_own(pool: ThreadPoolExecutor, program: str, case: Case) -> dict[str, list[Future]]:
    """Plimsoll's own rows, by their names."""

    def submit(learns: bool) -> list[Future]:
        return [pool.submit(outcomes, program, case, draw, ["plimsoll"],
                            draw.learn if learns else None) for draw in case.draws]

    own = {UNKNOWN: submit(False)}
    if case.draws[0].learn:
        own[LEARNT] = submit(True)
    return own


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


def cases_of(options: argparse.Namespace, work: Path) -> list[Case]:
    """Those of the files, else the families."""
    if not options.file:
        return family_cases(options, work)
    return [case for file in options.file for case in file_cases(options, file, work)]


def add_job_options(parser: argparse.ArgumentParser) -> None:
    """What is simulated."""

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

    parser.add_argument("--family", action="append", metavar="NAME",
                        choices=[family.name for family in curve_families.FAMILIES],
                        help="this one of the families only; may be repeated")
    parser.add_argument("--machine", action="append", type=machine, metavar="CORES,LINE",
                        help="for files; may be repeated (16,64G 128,64G 64,48G 32,64G)")
    parser.add_argument("--whole", action="store_true",
                        help="of files, run all jobs, with nothing to learn from")
    parser.add_argument("--seeds", type=seeds, default=[1, 2, 3], metavar="SEED[,...]",
                        help="above 0 (1,2,3)")
    parser.add_argument("--quick", action="store_true",
                        help="few jobs of each family: whether all of it works, in seconds")

#!/usr/bin/env python3
"""Plimsoll's governor beside other policies, on the simulated machine: tables in Markdown.

Without a FILE the families of bench/curve_families.py are simulated, else these files of curves
(docs/formats/curves.md), packed with xz or not. Each is simulated with several seeds. Of a family,
a seed draws the jobs that run and, beside them, as many of the same kind that were learnt from; of
a file, it takes one half to run and the other to learn from, and shuffles.

What the figures are is told by bench/simulated.py and docs/simulation.md.

`fixed:N` is shown with the N that took least, and with the one that took least of those without a
kill; both were found by trying. The environment's PLIMSOLL names the program.
"""

import argparse
import os
import sys
import tempfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from simulated import (Case, Figures, add_job_options, family_cases, file_cases, joined, outcomes,
                       percent_text, ratio_text, submit_own, table, title)

ROOT = Path(__file__).resolve().parent.parent
PLIMSOLL = os.environ.get("PLIMSOLL", str(ROOT / "build/plimsoll"))
BASELINES = ["memfree:25%", "fit:first", "fit:best", "fit:dot", "clairvoyant:class", "clairvoyant"]
MUCH_WORSE = 1.5  # than the best number


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


def best_fixed(case: Case, pool: ThreadPoolExecutor) -> dict:
    """The rows of the best numbers; where eight are much worse, more only kill each other."""
    done: dict[int, Figures] = {}
    for numbers in fixed_numbers(case.cores):
        policies = [f"fixed:{number}" for number in numbers]
        futures = [pool.submit(outcomes, PLIMSOLL, case, draw, policies, None)
                   for draw in case.draws]
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
    own = submit_own(pool, PLIMSOLL, case)
    others = {f"`{policy}`": [pool.submit(outcomes, PLIMSOLL, case, draw, [policy], None)
                              for draw in case.draws] for policy in baselines}
    fixed = best_fixed(case, pool)
    return ({name: joined(case, futures) for name, futures in own.items()} | fixed |
            {name: joined(case, futures) for name, futures in others.items()})


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


def put_into(path: Path, mark: str, text: str) -> None:
    """In place of what stands between two lines of `path`."""
    begin, end = f"<!-- bench simulate: {mark} -->\n", "<!-- end -->\n"
    before, found, rest = path.read_text().partition(begin)
    _, closed, after = rest.partition(end)
    if not found or not closed:
        sys.exit(f"simulate: {path} has no lines {begin.strip()} and {end.strip()}")
    path.write_text(f"{before}{begin}\n{text}\n{end}{after}")


def parsed() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="bench/simulate.py", description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file", nargs="*", metavar="FILE", help="a file of curves")
    add_job_options(parser)
    parser.add_argument("--policy", action="append", metavar="POLICY",
                        help="beside plimsoll and fixed:N, in place of the usual ones; may be "
                        "repeated")
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

#!/usr/bin/env python3
"""Splits a file of curves into two random halves: what is learnt from, and what is run.

bench/split_trace.py TRACE SEED LEARN RUN: TRACE may be packed with xz; LEARN and RUN are written as
plain JSON lines, in the order of TRACE, without `needs` of jobs that are in the other half. For
`plimsoll simulate RUN --learn LEARN`.
"""

import json
import lzma
import random
import sys
from pathlib import Path


def read_lines(path: str) -> list[str]:
    opener = lzma.open if path.endswith(".xz") else open
    with opener(path, "rt", encoding="utf-8") as file:
        return [line for line in file if line.strip()]


def halves(lines: list[str], seed: int) -> tuple[list[str], list[str]]:
    """What is learnt from, and what is run."""
    order = list(range(len(lines)))
    random.Random(seed).shuffle(order)
    learnt = set(order[: len(lines) // 2])
    return (by_itself([line for i, line in enumerate(lines) if i in learnt]),
            by_itself([line for i, line in enumerate(lines) if i not in learnt]))


def by_itself(lines: list[str]) -> list[str]:
    """These jobs, with what they need of each other."""
    if not any('"needs"' in line for line in lines):
        return lines
    jobs = [json.loads(line) for line in lines]
    there = {job.get("id", job.get("name")) for job in jobs}
    for job in jobs:
        job["needs"] = [need for need in job.get("needs", []) if need in there]
    return [json.dumps(job) + "\n" for job in jobs]


def main() -> int:
    if len(sys.argv) != 5:
        print(__doc__, file=sys.stderr)
        return 125
    trace, seed, *paths = sys.argv[1:]
    for path, lines in zip(paths, halves(read_lines(trace), int(seed))):
        Path(path).write_text("".join(lines), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/env python3
"""Splits a file of curves into two random halves: what is learnt from, and what is run.

bench/split_trace.py TRACE SEED LEARN RUN: TRACE may be packed with xz; LEARN and RUN are written as
plain JSON lines, in the order of TRACE. For `plimsoll simulate RUN --learn LEARN`.
"""

import lzma
import random
import sys


def read_lines(path: str) -> list[str]:
    opener = lzma.open if path.endswith(".xz") else open
    with opener(path, "rt", encoding="utf-8") as file:
        return [line for line in file if line.strip()]


def main() -> int:
    if len(sys.argv) != 5:
        print(__doc__, file=sys.stderr)
        return 125
    trace, seed, learn, run = sys.argv[1:]
    lines = read_lines(trace)
    order = list(range(len(lines)))
    random.Random(int(seed)).shuffle(order)
    learnt = set(order[: len(lines) // 2])
    for path, wanted in ((learn, True), (run, False)):
        with open(path, "w", encoding="utf-8") as file:
            file.writelines(line for i, line in enumerate(lines) if (i in learnt) == wanted)
    return 0


if __name__ == "__main__":
    sys.exit(main())

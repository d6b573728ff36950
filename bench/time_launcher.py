#!/usr/bin/env python3
"""time_launcher.py PLIMSOLL COUNT FILE: how long `true` takes, alone and through `plimsoll exec`,
in turns. The first tenth is not counted: nothing is known of `true` then."""

import json
import os
import sys
import time

TRUE = "/bin/true"


def seconds(words):
    begin = time.perf_counter()
    pid = os.posix_spawn(words[0], words, os.environ)
    _, status = os.waitpid(pid, 0)
    if status != 0:
        sys.exit(f"time_launcher: {words} ended with status {status}")
    return time.perf_counter() - begin


def main():
    plimsoll, count, file = sys.argv[1], int(sys.argv[2]), sys.argv[3]
    times = {"alone": [], "launched": []}
    for number in range(count + count // 10):
        alone = seconds([TRUE])
        launched = seconds([plimsoll, "exec", "--", TRUE])
        if number >= count // 10:
            times["alone"].append(alone)
            times["launched"].append(launched)
    with open(file, "w", encoding="ascii") as out:
        json.dump(times, out)


if __name__ == "__main__":
    main()

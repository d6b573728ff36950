#!/usr/bin/env python3
"""Makes mixed.jsonl, a small set of curves of our own: make.py > mixed.jsonl

Sixty jobs of six kinds, as they would be seen by a sampler with a look every three seconds. No two
are alike, nothing is random, and each promise of the simulator has a kind that puts it to the test.
"""

import json

LOOK = 3  # seconds between two points
JOBS_OF_A_KIND = 10


def ramp(n):
    """Allocates evenly until its end."""
    peak = 400 + 130 * n
    return 60 + 12 * n, lambda share: peak * share, lambda share: 100


def steps(n):
    """Allocates a piece at a time and holds what it has."""
    piece = 150 + 40 * n
    return 90 + 9 * n, lambda share: piece * (1 + int(share * 5)), lambda share: 150


def sawtooth(n):
    """Allocates and gives back, again and again: what it uses now says little of what comes."""
    peak = 700 + 90 * n
    return 75 + 15 * n, lambda share: 100 + peak * (share * 4 % 1), lambda share: 80


def hold(n):
    """Has all it needs soon and computes with it on several cores."""
    peak = 250 + 110 * n
    return 120 + 20 * n, lambda share: min(peak, peak * share * 10), lambda share: 100 * (1 + n % 4)


def late_peak(n):
    """Small for nine tenths of its time, then the largest of all."""
    peak = 1500 + 200 * n
    return (100 + 18 * n, lambda share: 80 if share < 0.9 else peak,
            lambda share: 100 if share < 0.9 else 30)


def cpu_only(n):
    """Computes in next to no memory; waits for something in between, without CPU."""
    return 50 + 25 * n, lambda share: 12 + n, lambda share: 0 if 0.4 < share < 0.5 else 200 + 40 * n


def curve(seconds, memory, cpu):
    times = list(range(0, seconds, LOOK)) + [seconds]
    return {
        "t": times,
        "mem_mb": [round(memory(time / seconds), 1) for time in times],
        "cpu_pct": [round(cpu(time / seconds)) for time in times],
    }


def main():
    kinds = [ramp, steps, sawtooth, hold, late_peak, cpu_only]
    for n in range(JOBS_OF_A_KIND):
        for kind in kinds:
            name = kind.__name__
            job = {"class": name, "name": f"{name} {n}", "id": f"{name}-{n}"}
            if kind is late_peak and n > 0:
                job["needs"] = [f"ramp-{n}"]
            if kind is steps and n % 5 == 4:
                job["priority"] = 1
            print(json.dumps(job | curve(*kind(n)), separators=(",", ":")))


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
"""Families of jobs of our own, as files of curves, each of one kind of difficulty.

bench/curve_families.py FAMILY SEED [SHARE] > FILE draws the jobs of a family, or a SHARE (0 to 1)
of them. The same seed gives the same jobs everywhere; another one gives others of the same kind,
which is what a governor that has learnt has seen. Without arguments: the families, and the machine
that each is for.

Sizes and times are made up. They are such that cores and memory of the machine are both wanted, and
that neither a single job nor the number of jobs decides how long all of them take.
"""

import json
import random
import sys
from collections.abc import Callable, Iterator
from typing import NamedTuple

GIB = 1024  # in MiB


class Point(NamedTuple):
    """A moment of a job."""

    seconds: float
    mib: float
    cores: float


class Job(NamedTuple):
    """A job of a class; its course from 0 to its end."""

    job_class: str
    course: list[Point]


class Draw:
    """Random numbers that are the same in every version of Python: only random() is promised."""

    def __init__(self, family: str, seed: int):
        self._random = random.Random(f"{family} {seed}").random

    def between(self, least: float, most: float) -> float:
        return least + (most - least) * self._random()

    def around(self, middle: float, factor: float) -> float:
        """From middle / factor to middle x factor, as often below the middle as above it."""
        return middle * factor ** self.between(-1, 1)

    def happens(self, chance: float) -> bool:
        return self._random() < chance

    def mixed(self, jobs: list[Job]) -> list[Job]:
        return [job for _, job in sorted((self._random(), job) for job in jobs)]


def hold(seconds: float, mib: float, cores: float) -> list[Point]:
    """Has all that it needs after a thirtieth of its time."""
    return [Point(0, mib / 20, cores), Point(seconds / 30, mib, cores), Point(seconds, mib, cores)]


def cores_and_memory(draw: Draw, share: float) -> list[Job]:
    jobs = []
    for number in range(round(300 * share)):
        cores, gib = [(8, 3), (14, 5), (22, 8)][number % 3]
        jobs.append(Job(f"wide-{cores}", hold(draw.around(90, 2), draw.around(gib * GIB, 1.25),
                                              draw.around(cores, 1.15))))
    for number in range(round(48 * share)):
        gib = [9, 14, 22][number % 3]
        jobs.append(Job(f"deep-{gib}", hold(draw.around(900, 2), draw.around(gib * GIB, 1.15),
                                            draw.around(0.5, 1.5))))
    for _ in range(round(100 * share)):
        jobs.append(Job("small", hold(draw.around(60, 2), draw.around(GIB, 1.5), 1)))
    return draw.mixed(jobs)


def bimodal(draw: Draw, share: float) -> list[Job]:
    jobs = []
    for number in range(round(420 * share)):
        kind = number % 6
        seconds = draw.around(1300, 1.6) if draw.happens(0.2) else draw.around(35, 1.6)
        jobs.append(Job(f"kind-{kind}", hold(seconds, draw.around((1 + kind / 2) * GIB, 1.3),
                                             1 + kind % 2)))
    return draw.mixed(jobs)


def late_rise(draw: Draw, share: float) -> list[Job]:
    jobs = []
    for number in range(round(120 * share)):
        kind = number % 2
        seconds, mib = draw.around(2400, 2.5), draw.around((3 + 2 * kind) * GIB, 1.2)
        rise, top = draw.between(0.85, 0.95), mib * draw.between(1.9, 2.4)
        jobs.append(Job(f"rises-{kind}", [*hold(seconds * rise, mib, 2),
                                          Point(seconds * (rise + 1) / 2, top, 2),
                                          Point(seconds, top, 2)]))
    for _ in range(round(200 * share)):
        jobs.append(Job("steady", hold(draw.around(90, 2), draw.around(GIB, 1.3), 1)))
    return draw.mixed(jobs)


def waves(draw: Draw, share: float) -> list[Job]:
    jobs = []
    for number in range(round(250 * share)):
        kind = number % 4
        seconds, top = draw.around(700, 1.7), draw.around((4 + 2 * kind) * GIB, 1.2)
        halves = round(draw.between(6, 22))
        phase = draw.between(0, 1)
        course = [Point(0, top / 20, 1.5)]
        for half in range(halves):
            height = top if half % 2 else top / 10
            course.append(Point(seconds * (half + phase) / halves + 1, height, 1.5))
        jobs.append(Job(f"waves-{kind}", [*course, Point(seconds + 2, top / 10, 1.5)]))
    return draw.mixed(jobs)


def copies(draw: Draw, share: float) -> list[Job]:
    """Batches in the order of input: what makes one of a batch larger makes all of it larger."""
    jobs = []
    for batch in range(round(32 * share)):
        kind = batch % 4
        mib = draw.around((1.5 + kind) * GIB, 2)
        seconds = draw.around(240, 1.5)
        jobs += [Job(f"copy-{kind}", hold(draw.around(seconds, 1.1), draw.around(mib, 1.05), 1))
                 for _ in range(16)]
    return jobs


def giants(draw: Draw, share: float) -> list[Job]:
    jobs = [Job("giant", hold(draw.around(500, 1.8), draw.between(36, 58) * GIB, 4))
            for _ in range(round(8 * share))]
    for number in range(round(900 * share)):
        kind = number % 3
        jobs.append(Job(f"usual-{kind}", hold(draw.around(100, 2.5),
                                              draw.around((1 + kind) * GIB, 1.4), 1 + kind % 2)))
    return draw.mixed(jobs)


def short(draw: Draw, share: float) -> list[Job]:
    jobs = []
    for number in range(round(3000 * share)):
        kind = number % 8
        mib = draw.around(60 * (kind + 1), 1.6)
        jobs.append(Job(f"short-{kind}", hold(draw.around(1.5, 3), mib, 1)))
    return draw.mixed(jobs)


class Family(NamedTuple):
    """A kind of jobs, and the machine that it is for."""

    name: str
    what: str
    cores: int
    line: str
    draw: Callable[[Draw, float], list[Job]]


FAMILIES = [
    Family("cores-and-memory", "wide jobs of 8 to 22 cores, long ones of 9 to 22 GiB, small ones",
           32, "64G", cores_and_memory),
    Family("bimodal", "of each class, every fifth job takes forty times as long", 16, "32G",
           bimodal),
    Family("late-rise", "long jobs that double their memory in the last tenth of their time", 32,
           "64G", late_rise),
    Family("waves", "memory goes up and down, three to eleven times", 32, "64G", waves),
    Family("copies", "batches of 16 copies, as large as each other but not as other batches", 32,
           "64G", copies),
    Family("giants", "jobs of 36 to 58 GiB among many of 1 to 3 GiB", 32, "64G", giants),
    Family("short", "three thousand jobs of 0.5 to 4.5 s", 32, "8G", short),
]


def lines_of(family: Family, seed: int, share: float = 1) -> Iterator[str]:
    """The jobs as JSON lines, each with its end."""
    for number, job in enumerate(family.draw(Draw(family.name, seed), share), 1):
        yield json.dumps({"class": job.job_class, "name": f"{job.job_class} {number}",
                          "t": [round(point.seconds, 3) for point in job.course],
                          "mem_mb": [round(point.mib, 1) for point in job.course],
                          "cpu_pct": [round(point.cores * 100) for point in job.course]},
                         separators=(",", ":")) + "\n"


def main() -> int:
    if len(sys.argv) == 1:
        for family in FAMILIES:
            print(f"{family.name:18}{family.cores} cores, {family.line}: {family.what}")
        return 0
    named = [family for family in FAMILIES if family.name == sys.argv[1]]
    if len(sys.argv) not in (3, 4) or not named:
        print(__doc__, file=sys.stderr)
        return 125
    share = float(sys.argv[3]) if len(sys.argv) == 4 else 1
    sys.stdout.writelines(lines_of(named[0], int(sys.argv[2]), share))
    return 0


if __name__ == "__main__":
    sys.exit(main())

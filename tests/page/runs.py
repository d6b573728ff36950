#!/usr/bin/env python3
"""runs.py DIR: writes recorded runs for the tests of the page, without running anything.

DIR/empty, one, mixed, thousand and many are runs as docs/formats/runs.md has them: of no job, of
one, of 60 with pauses, evictions and failures, of 1,000 and of 10,000. DIR/after has the 240 jobs
of DIR/before again: compile has become bigger, link quicker. Always the same.
"""

import json
import random
import sys
from pathlib import Path

SECOND = 10**9
START = 1_700_000_000 * SECOND
MIB = 1 << 20
HOSTILE = "echo '</script><img src=x onerror=document.title=\"harmed\">' <!-- & \u202e"
CLASSES = {  # seconds, MiB
    "compile": (3, 160), "link": (9, 420), "test": (2, 60), "pack": (6, 230), "docs": (1, 40),
    "index": (4, 180), "lint": (1, 30), "train": (14, 610), "fetch": (2, 20), "sign": (0.5, 8)}


class Run:
    """A run of simple jobs on some slots, with what a record has of it."""

    def __init__(self, jobs, slots, samples, again=None, changed=None):
        self.changed = changed or {}  # by class: factors of time and memory
        self.again = again  # by which the same jobs differ from run to run
        self.random = random.Random(7)
        self.slots, self.samples = [0] * slots, samples
        self.events, self.reports = [], []
        self.line = slots * 250 * MIB
        for number in range(1, jobs + 1):
            self.event(0, "queued", number)
        for number in range(1, jobs + 1):
            self.job(number)
        self.events.sort(key=lambda event: event["t_ns"])
        self.end = max(self.slots)

    def event(self, t, kind, number, reason="", **numbers):
        event = {"schema": "plimsoll.event/1", "t_ns": int(t), "kind": kind, "job": str(number),
                 "number": number}
        self.events.append(event | ({"reason": reason} if reason else {}) |
                           ({"numbers": numbers} if numbers else {}))

    def job(self, number):
        name = self.random.choice(list(CLASSES))
        seconds, mib = CLASSES[name]
        slower, bigger = self.changed.get(name, (1, 1))
        wall = int(seconds * slower * SECOND * self.random.uniform(0.5, 1.5))
        peak = int(mib * bigger * MIB * self.random.uniform(0.6, 1.3))
        if self.again:
            wall, peak = (int(value * self.again.gauss(1, 0.04)) for value in (wall, peak))
        slot = self.slots.index(min(self.slots))
        start = self.slots[slot] + self.random.randrange(SECOND // 5)
        used = self.random.randrange(self.line)
        known = {"line_bytes": self.line, "used_bytes": used, "estimate_bytes": mib * MIB,
                 "spread_bytes": mib * MIB / 4, "attempts_known": number % 9, "cores": 4,
                 "cores_predicted": self.random.uniform(2, 5)}
        self.event(self.slots[slot], "held", number,
                   f"waits for memory: it needs {mib}.{number % 10} MiB, and the running jobs are "
                   f"expected to use {used // MIB} MiB of {self.line // MIB} MiB", **known)
        attempts = []
        if number % 17 == 5:
            gone = start + wall // 3
            self.admit(start, number, mib, known)
            self.event(gone, "evicted", number, f"the line is near and it uses {peak // MIB} MiB",
                       **known)
            self.event(gone, "requeued", number, "attempt 1 was evicted")
            attempts.append(("evicted", start, gone - start, peak // 2))
            start = gone + SECOND
        pause = wall // 2 if number % 13 == 4 else 0
        self.admit(start, number, mib, known)
        if pause:
            at = start + wall // 4
            self.event(at, "frozen", number, "it grows by 36.5 MiB a second, and the line is near",
                       growth_bytes_per_s=36.5 * MIB, **known)
            self.event(at + pause, "thawed", number, "there is room again", **known)
            wall += pause
        code = 3 if number % 23 == 7 else 0
        self.event(start + wall, "ended", number, f"exited with code {code}")
        attempts.append(("exited", start, wall, peak))
        self.slots[slot] = start + wall
        command = f"tool-{name} --level {number % 7} src/part-{number}.in"
        if number == 2:
            command = HOSTILE
        self.report(number, name, command, code, attempts, pause)

    def admit(self, start, number, mib, known):
        self.event(start, "admitted", number, f"it fits: {mib} MiB of {self.line // MIB} MiB",
                   **known)
        self.event(start, "started", number, "attempt 1 in slot 1")

    def report(self, number, name, command, code, attempts, pause):
        _, start, wall, peak = attempts[-1]
        samples = [{"t_ns": wall * i // self.samples,
                    "used_bytes": int(peak * min(1, 2 * i / self.samples)),
                    "cpu_usage_ns": wall * i // self.samples * 8 // 10, "state": "running"}
                   for i in range(self.samples + 1)] if self.samples else []
        self.reports.append({
            "schema": "plimsoll.job/1", "id": str(number), "class": name, "shell": command,
            "output": {"stdout": f"/builds/out/{number}/stdout",
                       "stderr": f"/builds/out/{number}/stderr"},
            "outcome": "exited", "exit_code": code,
            "attempts": [{"outcome": outcome, "started_unix_ns": START + at, "wall_ns": length,
                          "cpu_usage_ns": length * 8 // 10, "peak_bytes": most}
                         for outcome, at, length, most in attempts],
            "times": {"held_ns": start, "paused_ns": pause, "wall_ns": wall}, "samples": samples,
            "host": {"hostname": "node", "kernel": "6.1.0", "cpus": 4, "memory_bytes": 1 << 34,
                     "hierarchy": "v2"}})

    def summary(self):
        count = len(self.reports)
        kinds = [event["kind"] for event in self.events]
        return {"schema": "plimsoll.run/1", "run": "r", "makespan_ns": self.end, "jobs": count,
                "outcomes": {"exited": count} if count else {},
                "succeeded": sum(report["exit_code"] == 0 for report in self.reports),
                "holds": kinds.count("held"), "pauses": kinds.count("frozen"),
                "evictions": kinds.count("evicted"), "line_bytes": self.line, "oom_kills": 0,
                "system_samples": [{"t_ns": self.end * i // 200, "cpu": {
                    "user_ns": self.end * i // 200 * 3, "nice_ns": 0, "system_ns": 0,
                    "idle_ns": self.end * i // 200, "iowait_ns": 0, "irq_ns": 0, "softirq_ns": 0,
                    "steal_ns": 0, "guest_ns": 0, "guest_nice_ns": 0},
                    "pressure": {"cpu": {"some_ns": self.end * i // 500}}} for i in range(201)]}

    def write(self, folder):
        folder.mkdir(parents=True)
        meta = {"schema": "plimsoll.meta/1", "run": folder.name, "state": "finished",
                "command_line": ["plimsoll", "batch", "jobs.txt"], "started_unix_ns": START,
                "jobs": len(self.reports), "line_bytes": self.line, "cores": 4}
        (folder / "meta.json").write_text(json.dumps(meta))
        (folder / "summary.json").write_text(json.dumps(self.summary()))
        for name, lines in ("events", self.events), ("jobs", self.reports):
            (folder / f"{name}.jsonl").write_text("".join(
                json.dumps(line, separators=(",", ":")) + "\n" for line in lines))


def main():
    place = Path(sys.argv[1])
    for name, jobs, slots, samples in (("empty", 0, 1, 0), ("one", 1, 1, 40), ("mixed", 60, 6, 40),
                                       ("thousand", 1000, 16, 30), ("many", 10_000, 48, 8)):
        Run(jobs, slots, samples).write(place / name)
    Run(240, 6, 20, random.Random(1)).write(place / "before")
    changed = {"compile": (1, 1.25), "link": (0.6, 1)}
    Run(240, 6, 20, random.Random(2), changed).write(place / "after")


if __name__ == "__main__":
    main()

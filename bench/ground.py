"""Cgroups for those that a benchmark measures, on pure v2 as on hybrid hosts. As root."""

import os
import signal
import time
from pathlib import Path

CONTROLLERS = "+memory +cpu +pids +io"
# On hosts that have v1 hierarchies.
KINDS = ["memory", "cpu", "cpuacct", "freezer", "pids", "blkio", "unified"]


class Ground:
    """Groups beside each other, so that each gets an equal share of the cores, below one that only
    this process makes. Removed at the end, with what is left in them."""

    def __init__(self, names):
        top = Path("/sys/fs/cgroup")
        self.pure_v2 = (top / "cgroup.controllers").exists()
        roots = [top] if self.pure_v2 else [top / kind for kind in KINDS if (top / kind).is_dir()]
        self.path = f"/plimsoll-bench-{os.getpid()}"
        self.bases = [root / self.path[1:] for root in roots]
        self.names = list(names)
        if self.pure_v2:
            (top / "cgroup.subtree_control").write_text(CONTROLLERS)
        for base in self.bases:
            base.mkdir()
            if self.pure_v2:
                (base / "cgroup.subtree_control").write_text(CONTROLLERS)
            for name in self.names:
                (base / name).mkdir()

    def memory(self, name):
        """The group's directory that counts memory."""
        return self.bases[0] / name

    def bound(self, name, mib):
        limit = "memory.max" if self.pure_v2 else "memory.limit_in_bytes"
        (self.memory(name) / limit).write_text(str(int(mib) << 20))

    def enter(self, name):
        """Moves this process."""
        for base in self.bases:
            (base / name / "cgroup.procs").write_text("0")

    def kernel_kills(self, name):
        """Processes that the kernel has killed in the group for want of memory."""
        file = self.memory(name) / ("memory.events" if self.pure_v2 else "memory.oom_control")
        counts = dict(line.split()[:2] for line in file.read_text().splitlines())
        return int(counts.get("oom_kill", 0))

    def processes(self, name):
        """Of the group and of all below it."""
        found = set()
        for base in self.bases:
            for file in (base / name).rglob("cgroup.procs"):
                try:
                    found.update(int(word) for word in file.read_text().split())
                except OSError:  # gone meanwhile
                    continue
        return found

    def end_all(self, name):
        """Kills what is in the group, and returns how many that were at first."""
        first = left = self.processes(name)
        for _ in range(100):
            if not left:
                break
            for pid in left:
                try:
                    os.kill(pid, signal.SIGKILL)
                except ProcessLookupError:
                    continue
            time.sleep(0.05)
            left = self.processes(name)
        return len(first)

    def remove(self):
        for name in self.names:
            self.end_all(name)
        for base in self.bases:
            for path in [*(base / name for name in self.names), base]:
                for _ in range(100):
                    try:
                        path.rmdir()
                        break
                    except FileNotFoundError:
                        break
                    except OSError:
                        time.sleep(0.05)

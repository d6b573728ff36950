#!/usr/bin/env python3
"""Where the CPU time of a job that does nothing goes: bench/profile.py [JOBS] [-- OPTION...]

Runs so many times /bin/true (6,000) with `plimsoll batch -j2`, OPTIONs added, and the same with
`xargs -P2`, and tells in microseconds a job what each thread of Plimsoll took, what the commands
took (each from its birth), and what is left of two processors: interrupts, work that the kernel
does later, such as on groups that are gone, and idleness.

Plimsoll is two processes: the guardian, from which the commands are born, and the supervisor. Its
first thread decides, makes groups and reads their files; the others remove groups, take in output
and write records.
"""

import argparse
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PLIMSOLL = os.environ.get("PLIMSOLL", str(ROOT / "build/plimsoll"))
LOOK_S = 0.1
PROCESSORS = 2
MICRO = 1e6


def children(pid: int) -> list[int]:
    return [int(one) for one in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


def thread_seconds(pid: int) -> dict[int, float]:
    """CPU time of each thread of a process by now; of one that has ended nothing."""
    seconds = {}
    for thread in Path(f"/proc/{pid}/task").iterdir():
        try:
            seconds[int(thread.name)] = int((thread / "schedstat").read_text().split()[0]) / 1e9
        except OSError:
            continue
    return seconds


def supervisor_of(pid: int) -> int | None:
    for child in children(pid):
        if Path(f"/proc/{child}/comm").read_text().strip() == "pl-supervisor":
            return child
    return None


def watch(run: subprocess.Popen) -> dict[tuple[str, int], float]:
    """The CPU time of Plimsoll's threads as it was seen last, at most LOOK_S before their end."""
    seen: dict[tuple[str, int], float] = {}
    while run.poll() is None:
        time.sleep(LOOK_S)
        try:
            supervisor = supervisor_of(run.pid)
            for name, pid in ("guardian", run.pid), ("supervisor", supervisor):
                for thread, seconds in thread_seconds(pid).items() if pid else ():
                    seen[name, thread] = seconds
        except OSError:
            continue
    return seen


def cpu_of_children() -> float:
    times = os.times()
    return times.children_user + times.children_system


def tell(name: str, seconds: float, jobs: int) -> None:
    print(f"  {name:40} {seconds / jobs * MICRO:6.0f} us")


def profile(title: str, command: list[str], jobs: int, numbers: Path) -> None:
    before, begun = cpu_of_children(), time.monotonic()
    with numbers.open() as stdin:
        run = subprocess.Popen(command, stdin=stdin, stdout=subprocess.DEVNULL,
                               stderr=subprocess.DEVNULL)
        seen = watch(run)
    if run.returncode:
        sys.exit(f"profile: {' '.join(command)} ended with {run.returncode}")
    wall, all_cpu = time.monotonic() - begun, cpu_of_children() - before
    print(f"{title}: {wall / jobs * MICRO:.0f} us a job")
    own = 0.0
    is_plimsoll = any(name == "supervisor" for name, _ in seen)
    for (name, _), seconds in sorted(seen.items(), key=lambda one: -one[1]) if is_plimsoll else ():
        own += seconds
        tell(f"a thread of the {name}", seconds, jobs)
    tell("the commands" if own else "xargs and the commands", all_cpu - own, jobs)
    tell(f"the rest of {PROCESSORS} processors", wall * PROCESSORS - all_cpu, jobs)


def main() -> int:
    parser = argparse.ArgumentParser(prog="bench/profile.py", description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("jobs", nargs="?", type=int, default=6000, metavar="JOBS")
    parser.add_argument("option", nargs="*", metavar="OPTION", help="of plimsoll batch")
    options = parser.parse_args()
    if options.jobs < 1:
        parser.error(f"found {options.jobs} jobs, expected 1 or more")
    with tempfile.TemporaryDirectory() as folder:
        numbers = Path(folder) / "numbers"
        numbers.write_text("".join(f"{number}\n" for number in range(options.jobs)))
        os.environ["PLIMSOLL_STATE_DIR"] = folder
        profile("plimsoll batch", [PLIMSOLL, "batch", "-j2", "-q", *options.option, "-a",
                                   str(numbers), "--", "/bin/true", "{}"], options.jobs, numbers)
        profile("xargs", ["xargs", "-P2", "-n1", "/bin/true"], options.jobs, numbers)
    return 0


if __name__ == "__main__":
    sys.exit(main())

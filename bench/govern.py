#!/usr/bin/env python3
"""Figures of `plimsoll govern`, `session` and `exec`, beside what people use in their place."""

import argparse
import os
import resource
import shutil
import signal
import sys
import tempfile
from pathlib import Path

import govern_agents
import govern_build
import govern_small
from ground import Ground

PARTS = {
    "build": govern_build.build,
    "cost": govern_small.cost,
    "launcher": govern_small.launcher,
    "tokens": govern_small.tokens,
    "agents": govern_agents.agents,
}
ABOUT = """
  build     a C++ tree with large links at a high -j in little memory: under govern, without and
            with `plimsoll exec`; bare, with a link pool, with -l, with earlyoom, all in a memory
            group of that size; and with small numbers, the best of which is the measure
  cost      with memory enough: a build, what an exec and a step cost, and many steps of `true`
  launcher  what `plimsoll exec` adds to a command
  tokens    clients of the jobserver that are killed at random points, and what that costs
  agents    agents that start test suites again and again, each in a session; beside a memory group
            for each of them, and beside one for all

  earlyoom is measured if it is installed; it is told of the group's memory as if that were the
  machine's. steve, oomstaller and memstop are not: they are in no package registry.

The defaults are for a look at whether it works. A full measurement:
  ./dev bench govern build --units 320 --programs 4 --line 2048 --jobs 16 --rounds 3
  ./dev bench govern cost --units 60 --steps 10000 --rounds 5
  ./dev bench govern launcher --steps 1000
  ./dev bench govern tokens --kills 200
  ./dev bench govern agents --agents 8 --suites 4 --scale 1 --line 4096
"""


def options_of(words):
    cache = Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache")) / "plimsoll-bench"
    parser = argparse.ArgumentParser(
        prog="./dev bench govern", description=__doc__, epilog=ABOUT,
        formatter_class=argparse.RawDescriptionHelpFormatter)
    add = parser.add_argument
    add("parts", nargs="*", metavar="PART", help=f"of {' '.join(PARTS)}; default all")
    add("--cache", type=Path, default=cache, help="where the C++ tree is kept (%(default)s)")
    add("--line", type=int, default=2048, metavar="MIB", help="memory for all (%(default)s)")
    add("--rounds", type=int, default=1, help="of which medians are printed (%(default)s)")
    add("--units", type=int, default=24, help="sources of the C++ tree (%(default)s)")
    add("--programs", type=int, default=2, help="links of all units (%(default)s)")
    add("--jobs", type=int, default=16, help="-j of the builds (%(default)s)")
    add("--rules", help="how `build` builds, as words; default all, as listed when one is unknown")
    add("--fixed", default="1:1 2:1 3:1 4:1 2:2 3:2 4:2", metavar="J:P...",
        help="small numbers that `build` tries: -j and link pool (%(default)s)")
    add("--seconds-max", type=float, default=1200, help="time for a peer (%(default)s)")
    add("--results", type=Path, help="file that `build` adds to, and whose table it prints")
    add("--keep-logs", type=Path, metavar="DIRECTORY", help="where the output of builds stays")
    add("--steps", type=int, default=200, help="of `true`, in cost and launcher (%(default)s)")
    add("--kills", type=int, default=20, help="of jobserver clients (%(default)s)")
    add("--seed", type=int, default=1, help="of what is random (%(default)s)")
    add("--agents", type=int, default=3, help="(%(default)s)")
    add("--suites", type=int, default=1, help="test suites of each agent (%(default)s)")
    add("--only", default="", metavar="TEXT", help="ways of `agents` whose names have this text")
    add("--scale", type=float, default=0.1,
        help="of their memory, of 1 to 3 GiB at a line of 4 GiB (%(default)s)")
    options = parser.parse_args(words)
    for part in options.parts:
        if part not in PARTS:
            parser.error(f"there is no part \"{part}\"")
    return options


def main():
    options = options_of(sys.argv[1:])
    if os.geteuid() != 0:
        sys.exit("govern: this makes groups, as root")
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, min(hard, 65536)), hard))
    options.cache.mkdir(parents=True, exist_ok=True)
    work = Path(tempfile.mkdtemp(prefix="plimsoll-govern."))
    options.results = options.results or work / "results"
    # Nobody else's daemon, runs and past.
    os.environ["PLIMSOLL_RUNTIME_DIR"] = str(work / "runtime")
    os.environ["PLIMSOLL_STATE_DIR"] = str(work / "state")
    os.environ.pop("PLIMSOLL_SOCKET", None)
    # Compilers themselves are measured, even where a cache for them is first on PATH.
    os.environ["CCACHE_DISABLE"] = "1"
    for name in ("MAKEFLAGS", "MAKELEVEL", "CARGO_MAKEFLAGS"):
        os.environ.pop(name, None)
    scopes = [f"scope{number}" for number in range(options.agents)]
    ground = Ground(["peer", "own", *scopes])
    try:
        for part in options.parts or PARTS:
            print(f"--- govern {part}", flush=True)
            PARTS[part](options, ground, work)
    finally:
        ground.remove()
        shutil.rmtree(work, ignore_errors=True)


if __name__ == "__main__":
    main()

"""`./dev bench govern agents`: agents that start test suites again and again in little memory."""

import json
import os
import random
import shlex
import shutil
import subprocess
import sys
import time
from pathlib import Path

from govern_build import plimsoll

HERE = Path(__file__).resolve().parent
# A suite at --scale 1, in a line of 4 GiB.
LEAST_MIB, MOST_MIB = 1024, 3072
GROWS_SECONDS, COMPUTES_SECONDS, KEEPS_SECONDS = 2, 0.5, 2
SCOPE_MIB = 512
TRIES = 5  # of a suite that was killed


def plan(options):
    """For each agent the MiB of its suites; the suites of one agent are about as large as each
    other."""
    chance = random.Random(options.seed)
    sizes = []
    for _ in range(options.agents):
        middle = chance.uniform(LEAST_MIB * 1.1, MOST_MIB / 1.1) * options.scale
        sizes.append([int(middle * chance.uniform(0.95, 1.05)) for _ in range(options.suites)])
    return sizes


def lower_bound(options, sizes):
    """Seconds that no order of the suites could do with less."""
    each = GROWS_SECONDS / 2 + COMPUTES_SECONDS + KEEPS_SECONDS
    longest = GROWS_SECONDS + COMPUTES_SECONDS + KEEPS_SECONDS
    suites = sum(len(mibs) for mibs in sizes)
    return max(sum(map(sum, sizes)) * each / options.line, longest * options.suites,
               suites * COMPUTES_SECONDS / os.cpu_count())


class Agents:
    def __init__(self, options, ground, work):
        self.options = options
        self.ground = ground
        self.work = work
        self.sizes = plan(options)
        load = plimsoll().parent / "load"
        for number in range(options.agents):
            # Each project's suite is a program of its own.
            shutil.copy(load, work / f"suite{number}")

    def agent(self, number):
        phases = (f"cpu={COMPUTES_SECONDS}", f"keep={KEEPS_SECONDS}")
        suites = [[str(self.work / f"suite{number}"), "phases", f"grow={mib}@{mib / GROWS_SECONDS}",
                   *phases] for mib in self.sizes[number]]
        told = self.work / f"agent{number}.json"
        told.unlink(missing_ok=True)
        return [sys.executable, HERE / "agent.py", told, str(TRIES), json.dumps(suites)]

    def session(self, number, words):
        return [plimsoll(), "session", "-q", "--line", f"{self.options.line}M",
                "--cgroup", self.ground.path + "/own", "--driver", Path(sys.executable).name,
                "--report", self.work / f"report{number}", "--", *words]

    def run(self, commands, group_of):
        """All at once, to their ends."""
        groups = sorted({group_of(number) for number in range(len(commands))} - {None})
        kills = sum(self.ground.kernel_kills(group) for group in groups)
        begin = time.monotonic()

        def enter(number):
            if group_of(number) is not None:
                self.ground.enter(group_of(number))

        processes = [
            subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                             stderr=subprocess.DEVNULL, start_new_session=True,
                             preexec_fn=lambda number=number: enter(number))
            for number, words in enumerate(commands)]
        for process in processes:
            process.wait()
        seconds = time.monotonic() - begin
        time.sleep(1)  # for who ends a little later
        figures = {"seconds": seconds, "left": sum(map(self.ground.end_all, groups or ["own"])),
                   "kernel": sum(map(self.ground.kernel_kills, groups)) - kills,
                   "agents_killed": sum(process.returncode != 0 for process in processes)}
        told = [json.loads(path.read_text()) for path in self.work.glob("agent*.json")]
        figures["failed"] = sum(one["failed"] for one in told)
        figures["given_up"] = sum(map(len, self.sizes)) - sum(one["done"] for one in told)
        figures["quick"] = sorted(time for one in told for time in one["quick"])
        return figures

    def agents(self):
        return [self.agent(number) for number in range(self.options.agents)]

    def governed(self, commands):
        """Each command in a session of its own."""
        figures = self.run([self.session(*pair) for pair in enumerate(commands)], lambda _: None)
        reports = [json.loads((self.work / f"report{number}").read_text().splitlines()[-1])
                   for number in range(len(commands))]
        figures["kernel"] = sum(report.get("oom_kills", 0) for report in reports)
        figures["killed"] = sum(report["command"]["killed_steps"] for report in reports)
        return figures

    def in_one_session(self):
        script = self.work / "all.sh"
        starts = [f"{shlex.join(map(str, words))} & pids=\"$pids $!\"\n" for words in self.agents()]
        waits = "failed=0; for pid in $pids; do wait $pid || failed=1; done; exit $failed\n"
        script.write_text("pids=\n" + "".join(starts) + waits)
        return self.governed([["sh", script]])


COLUMNS = "{:32} {:>8} {:>6} {:>7} {:>7} {:>7} {:>9} {:>8} {:>5} {:>9} {:>9}"


def agents(options, ground, work):
    ground.bound("peer", options.line)
    for number in range(options.agents):
        ground.bound(f"scope{number}", max(int(SCOPE_MIB * options.line / 4096), 8))
    all_of_them = Agents(options, ground, work)
    least = lower_bound(options, all_of_them.sizes)
    print(f"{options.agents} agents, {options.suites} suites each, {options.line} MiB, "
          f"lower bound {least:.1f} s, seed {options.seed}:")
    print(COLUMNS.format("", "", "over", "kernel", "killed", "agents", "suites", "given", "left",
                         "quick ms", "quick ms"))
    print(COLUMNS.format("", "seconds", "bound", "kills", "by us", "killed", "failed", "up", "",
                         "p50", "p95"))
    ways = {
        "session for each, nothing known": lambda: all_of_them.governed(all_of_them.agents()),
        "session for each, second run": lambda: all_of_them.governed(all_of_them.agents()),
        "one session for all": all_of_them.in_one_session,
        f"a group of {SCOPE_MIB * options.line // 4096} MiB for each": lambda: all_of_them.run(
            all_of_them.agents(), lambda number: f"scope{number}"),
        "one group for all": lambda: all_of_them.run(
            all_of_them.agents(), lambda _: "peer"),
    }
    shutil.rmtree(os.environ["PLIMSOLL_STATE_DIR"], ignore_errors=True)
    for name, way in ways.items():
        if options.only not in name:
            continue
        figures = way()
        quick = figures["quick"] or [0]
        print(COLUMNS.format(
            name, f"{figures['seconds']:.1f}", f"{figures['seconds'] / least:.2f}",
            figures["kernel"], figures.get("killed", "-"), figures["agents_killed"],
            figures["failed"], figures["given_up"], figures["left"],
            *(f"{quick[int(len(quick) * share)] * 1e3:.1f}" for share in (0.5, 0.95))), flush=True)

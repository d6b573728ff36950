"""What governing costs where memory is no question, and what becomes of the jobserver's tokens:
the parts `cost`, `launcher` and `tokens` of `./dev bench govern`."""

import json
import os
import shutil
import statistics
import subprocess
import sys
import time
from pathlib import Path

from govern_build import Rule, Tree, plimsoll

HERE = Path(__file__).resolve().parent
BUILD_JOBS = 4
LARGE_MIB = 40  # more than a step may have that runs without a group
DAEMON_PATIENCE = 30


def govern_words(ground, *options):
    return [plimsoll(), "govern", "-q", "--cgroup", ground.path + "/own", *options, "--"]


def seconds_of(words, **more):
    more = {"stdin": subprocess.DEVNULL, **more}
    begin = time.monotonic()
    subprocess.run(words, stdout=subprocess.DEVNULL, check=True, **more)
    return time.monotonic() - begin


def in_turns(rounds, ways):
    """Medians of each way's seconds, which are measured one after the other in each round."""
    seconds = {name: [] for name in ways}
    for _ in range(rounds):
        for name, way in ways.items():
            seconds[name].append(way())
    return {name: statistics.median(values) for name, values in seconds.items()}


def cost_of_build(options, ground, work):
    """Objects only; each time from nothing."""
    tree = Tree(options.cache)
    build = work / "tree"
    tree.configure(build, options.units, 1, Rule("", BUILD_JOBS))
    state = work / "cost-state"

    def clean():
        subprocess.run(["ninja", "-t", "clean"], cwd=build, stdout=subprocess.DEVNULL, check=True)

    def one(words, **more):
        clean()
        return seconds_of([*words, "ninja", f"-j{BUILD_JOBS}", "units"], cwd=build,
                          stderr=subprocess.DEVNULL, **more)

    def unknown():
        shutil.rmtree(state, ignore_errors=True)
        return known()

    def known():
        return one(govern_words(ground), env={**os.environ, "PLIMSOLL_STATE_DIR": str(state)})

    one([])  # the compiler and the sources are in memory then
    took = in_turns(options.rounds, {"bare": lambda: one([]), "unknown": unknown, "known": known})
    print(f"{options.units} compilations, ninja -j{BUILD_JOBS}: bare {took['bare']:.2f} s")
    for name in ("unknown", "known"):
        print(f"  under govern, needs {name}: {took[name]:.2f} s, "
              f"{took[name] / took['bare']:.3f} x bare")


def cost(options, ground, work):
    cost_of_steps(options, ground, work)
    cost_of_build(options, ground, work)


def cost_of_steps(options, ground, work):
    count = options.steps
    numbers = work / "numbers"

    def difference(title, lines, each, words):
        """What reads so many lines; one run under govern before, so that the steps are known."""
        numbers.write_text("".join(f"{i}\n" for i in range(lines)))

        def run(*before):
            with open(numbers, encoding="ascii") as file:
                return seconds_of([*before, *words], stdin=file)

        run(*govern_words(ground))
        took = in_turns(options.rounds, {"bare": run, "own": lambda: run(*govern_words(ground))})
        print(f"{title}: bare {took['bare']:.2f} s, under govern {took['own']:.2f} s, "
              f"{(took['own'] - took['bare']) / each * 1e6:.0f} us more for each", flush=True)

    tries = 1 + os.environ["PATH"].split(":").index(os.path.dirname(shutil.which("true")))
    difference(f"{count} x true, {tries} execs each, xargs -P8", count, count,
               "xargs -P8 -n1 true".split())
    difference(f"{count} x /bin/true, xargs -P8", count, count, "xargs -P8 -n1 /bin/true".split())
    difference(f"{count} x /bin/true one after the other", count, count,
               "xargs -n1 /bin/true".split())
    large = max(count // 10, 10)
    load = plimsoll().parent / "load"
    difference(f"{large} steps of {LARGE_MIB} MiB one after the other, each in a group", large,
               large, ["xargs", "-I{}", load, "phases", f"grow={LARGE_MIB}@100000"])
    loop = f"i=0; while [ $i -lt {count} ]; do /bin/true; i=$((i+1)); done"
    difference(f"{count} execs within one step", 1, count, ["xargs", "-n1", "sh", "-c", loop])


def with_daemon(work, words):
    """Beside a daemon of its own."""
    socket = work / "daemon-socket"
    config = work / "daemon.toml"
    config.write_text("")
    log = work / "daemon-log"
    with open(log, "w", encoding="utf-8") as file:
        daemon = subprocess.Popen([plimsoll(), "serve", "--config", config, "--socket", socket],
                                  stdout=file, stderr=file)
    for _ in range(DAEMON_PATIENCE * 10):
        if "ready" in log.read_text() or daemon.poll() is not None:
            break
        time.sleep(0.1)
    try:
        subprocess.run(words, check=True, env={**os.environ, "PLIMSOLL_SOCKET": str(socket)})
    finally:
        daemon.terminate()
        daemon.wait()


def launcher(options, ground, work):
    result = work / "launcher"
    timer = [sys.executable, HERE / "time_launcher.py", plimsoll(), str(options.steps), result]
    group = ["--cgroup", ground.path + "/own"]
    job = work / "job"
    job.write_text(" ".join(str(word) for word in timer) + "\n")
    ways = {
        "nobody there": lambda: subprocess.run(timer, check=True),
        "below govern": lambda: subprocess.run([plimsoll(), "govern", "-q", *group, "--", *timer],
                                               check=True),
        "below batch": lambda: subprocess.run([plimsoll(), "batch", "-q", *group, job], check=True),
        "with the daemon": lambda: with_daemon(work, timer),
    }
    print(f"{options.steps} x `true`, ms: alone, with `plimsoll exec`, and more than alone")
    columns = "{:16} {:>14} {:>14} {:>14}"
    print(columns.format("", "p50", "p99", "more p50, p99"))
    for name, way in ways.items():
        way()
        times = json.loads(result.read_text())
        alone, launched = (percentiles(times[key]) for key in ("alone", "launched"))
        print(columns.format(name, *(f"{a:.2f} {b:.2f}" for a, b in zip(alone, launched)),
                             " ".join(f"{b - a:.2f}" for a, b in zip(alone, launched))))


def percentiles(values):
    """50 and 99, in ms."""
    values = sorted(values)
    return [values[min(len(values) - 1, int(len(values) * share))] * 1e3 for share in (0.5, 0.99)]


def tokens(options, ground, work):
    result = work / "tokens"
    clients = [sys.executable, HERE / "jobserver_clients.py", str(options.kills),
               str(options.seed), result]
    report = work / "tokens-report"
    print(f"{options.kills} kills, seed {options.seed}")
    for name, words in {
        "a pipe of make's kind": clients,
        "plimsoll govern": [plimsoll(), "govern", "-q", "--standalone", "--cores", "8",
                            "--jobserver=pipe", "--cgroup", ground.path + "/own",
                            "--report", report, "--", *clients],
    }.items():
        subprocess.run(words, check=True, cwd=work)
        told = json.loads(result.read_text())
        more = ""
        if report.exists():
            summary = json.loads(report.read_text().splitlines()[-1])
            more = f", {summary['command']['tokens_recovered']} replaced meanwhile"
        print(f"  {name}: {told['lost']} of {told['tokens']} tokens lost{more}; "
              f"{told['seconds']:.1f} s after the last kill")

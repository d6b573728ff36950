"""`./dev bench govern build`: a C++ tree at a high -j in little memory, beside what people do."""

import json
import os
import re
import shutil
import statistics
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import NamedTuple

HERE = Path(__file__).resolve().parent
PACKAGE = "geos"  # small, without dependencies of its own, 375 sources


class Rule(NamedTuple):
    """How the tree is built."""

    name: str
    jobs: int
    pool: int = 0  # links at once; 0: no pool
    tool: str = "ninja"
    load: float | None = None
    under: str = "group"  # or govern, again (with what a run before has learnt), launcher, earlyoom


def rules_of(options):
    """By the name that --rules takes."""
    jobs = options.jobs
    rules = {
        "govern": Rule("govern, nothing known", jobs, under="govern"),
        "again": Rule("govern, second run", jobs, under="again"),
        "launcher": Rule("govern with the launcher", jobs, under="launcher"),
        "bare": Rule(f"ninja -j{jobs}", jobs),
        "pool": Rule(f"ninja -j{jobs}, link pool 1", jobs, pool=1),
        "ninja-load": Rule(f"ninja -j{jobs} -l2", jobs, load=2),
        "make-load": Rule(f"make -j{jobs} -l2", jobs, load=2, tool="make"),
        "earlyoom": Rule(f"earlyoom, ninja -j{jobs}", jobs, under="earlyoom"),
    }
    for word in options.fixed.split():
        number, pool = (int(part) for part in word.split(":"))
        rules[f"fixed:{word}"] = Rule(f"ninja -j{number}, link pool {pool}", number, pool=pool)
    return rules


class Tree:
    """The sources, fetched once into the cache."""

    def __init__(self, cache):
        self.source = cache / PACKAGE
        self.headers = cache / f"{PACKAGE}-configured"
        if not self.headers.is_dir():
            self.fetch(cache)

    def fetch(self, cache):
        print(f"govern: fetching the Debian source package {PACKAGE} into {cache}", file=sys.stderr)
        lists = cache / "lists"
        (lists / "partial").mkdir(parents=True, exist_ok=True)
        sources = cache / "sources.list"
        sources.write_text(source_lines())
        apt = ["apt-get", "-qq", "-o", f"Dir::Etc::sourcelist={sources}",
               "-o", "Dir::Etc::sourceparts=-", "-o", f"Dir::State::lists={lists}"]
        subprocess.run([*apt, "update"], check=True)
        shutil.rmtree(self.source, ignore_errors=True)
        subprocess.run([*apt, "--download-only", "source", PACKAGE], cwd=cache, check=True)
        description = next(cache.glob(f"{PACKAGE}_*.dsc"))
        subprocess.run(["dpkg-source", "-x", description.name, self.source.name], cwd=cache,
                       stdout=subprocess.DEVNULL, check=True)
        unfinished = cache / "unfinished"
        shutil.rmtree(unfinished, ignore_errors=True)
        subprocess.run(["cmake", "-S", self.source, "-B", unfinished, "-D", "BUILD_TESTING=OFF"],
                       stdout=subprocess.DEVNULL, check=True)
        unfinished.rename(self.headers)

    def configure(self, build, units, programs, rule):
        words = ["cmake", "-S", HERE / "govern_tree", "-B", build, f"-DTREE={self.source}",
                 f"-DHEADERS={self.headers}", f"-DUNITS={units}", f"-DPROGRAMS={programs}",
                 "-G", "Ninja" if rule.tool == "ninja" else "Unix Makefiles"]
        if rule.pool:
            words += [f"-DCMAKE_JOB_POOLS=link={rule.pool}", "-DCMAKE_JOB_POOL_LINK=link"]
        if rule.under == "launcher":
            words += [f"-DCMAKE_CXX_{kind}_LAUNCHER={plimsoll()};exec;--"
                      for kind in ("COMPILER", "LINKER")]
        shutil.rmtree(build, ignore_errors=True)
        subprocess.run(words, stdout=subprocess.DEVNULL, check=True)


def source_lines():
    """deb-src lines for where this system's packages come from."""
    files = [Path("/etc/apt/sources.list"), *Path("/etc/apt/sources.list.d").glob("*.list"),
             *Path("/etc/apt/sources.list.d").glob("*.sources")]
    lines, uri, suites = [], None, None
    for file in files:
        for line in file.read_text().splitlines() if file.exists() else []:
            words = line.split()
            if words[:1] == ["deb"]:
                lines.append("deb-src " + line.split(None, 1)[1])
            elif words[:1] == ["URIs:"]:
                uri = words[1]
            elif words[:1] == ["Suites:"]:
                suites = words[1:]
            if uri and suites:
                signed = "[signed-by=/usr/share/keyrings/debian-archive-keyring.gpg]"
                lines += [f"deb-src {signed} {uri} {suite} main" for suite in suites]
                uri = suites = None
    return "".join(line + "\n" for line in lines)


def plimsoll():
    return Path(os.environ.get("PLIMSOLL", HERE.parent / "build/plimsoll")).resolve()


class FakeMeminfo:
    """The memory of a group as that of a machine, for a program that knows no groups: a file that
    is bound over /proc/meminfo in a namespace, and written twenty times a second."""

    EVERY = 0.05

    def __init__(self, ground, name, mib, path):
        self.group = ground.memory(name)
        self.v2 = ground.pure_v2
        self.total = mib << 10
        self.file = open(path, "w", encoding="ascii")
        self.real = [line.split(":") for line in Path("/proc/meminfo").read_text().splitlines()]
        self.over = threading.Event()
        self.write()
        self.thread = threading.Thread(target=self.repeat)
        self.thread.start()

    def write(self):
        usage = "memory.current" if self.v2 else "memory.usage_in_bytes"
        used = int((self.group / usage).read_text()) >> 10
        stat = dict(line.split() for line in (self.group / "memory.stat").read_text().splitlines())
        prefix = "" if self.v2 else "total_"
        files = sum(int(stat[f"{prefix}{kind}_file"]) >> 10 for kind in ("active", "inactive"))
        told = {"MemTotal": self.total, "MemFree": self.total - used, "Cached": files,
                "MemAvailable": self.total - used + files, "SwapTotal": 0, "SwapFree": 0}
        text = "".join(f"{key + ':':<16}{told.get(key, 0):>12} kB\n" for key, _ in self.real)
        os.pwrite(self.file.fileno(), text.encode(), 0)

    def repeat(self):
        while not self.over.wait(self.EVERY):
            self.write()

    def close(self):
        self.over.set()
        self.thread.join()
        self.file.close()


def command_of(rule, target="programs"):
    load = [] if rule.load is None else ["-l", f"{rule.load:g}"]
    go_on = ["-k0"] if rule.tool == "ninja" else ["-k"]
    return [rule.tool, f"-j{rule.jobs}", *load, *go_on, target]


def failures_in(rule, log):
    """Steps that failed, of all that were tried."""
    pattern = r"^FAILED: " if rule.tool == "ninja" else r"\*\*\* \[\S*build\.make:"
    return len(re.findall(pattern, log, re.MULTILINE))


def missing(rule, build):
    """Steps that are still to be done."""
    ran = subprocess.run([rule.tool, "-n", "programs"], cwd=build, check=False, text=True,
                         capture_output=True)
    pattern = r"^\[\d+/" if rule.tool == "ninja" else r"Building CXX|Linking CXX"
    return len(re.findall(pattern, ran.stdout, re.MULTILINE))


class Builds:
    def __init__(self, options, ground, work):
        self.options = options
        self.ground = ground
        self.work = work
        self.tree = Tree(options.cache)
        self.build = work / "tree"
        ground.bound("peer", options.line)

    def governed(self, rule, log):
        state = self.work / "state"
        if rule.under != "again":
            shutil.rmtree(state, ignore_errors=True)
        report = self.work / "report"
        words = [plimsoll(), "govern", "--standalone", "--line", f"{self.options.line}M",
                 "--cgroup", self.ground.path + "/own", "--report", report, "--",
                 *command_of(rule)]
        begin = time.monotonic()
        subprocess.run(words, cwd=self.build, stdout=log, stderr=log, check=False,
                       env={**os.environ, "PLIMSOLL_STATE_DIR": str(state)})
        seconds = time.monotonic() - begin
        told = json.loads(report.read_text().splitlines()[-1])
        command = told["command"]
        if "why_whole" in command:
            sys.exit(f"govern: the build was not governed: {command['why_whole']}")
        return {"seconds": seconds, "kernel": told.get("oom_kills", 0),
                "killed": command["killed_steps"],
                "again": command.get("steps_again", 0) + command.get("reruns", 0),
                "pauses": told["pauses"], "peak_mib": told["used_peak_bytes"] >> 20}

    def beside_earlyoom(self, rule):
        """The rule's command and earlyoom, in a namespace of processes of their own."""
        script = ('mount --bind "$1" /proc/meminfo || exit 99; shift; earlyoom -r 0 & '
                  '"$@"; kill $!')
        return ["unshare", "--pid", "--fork", "--mount-proc", "--kill-child", "sh", "-c", script,
                "sh", self.work / "meminfo", *command_of(rule)]

    def in_group(self, rule, log):
        kills = self.ground.kernel_kills("peer")
        words = command_of(rule)
        meminfo = None
        if rule.under == "earlyoom":
            meminfo = FakeMeminfo(self.ground, "peer", self.options.line, self.work / "meminfo")
            words = self.beside_earlyoom(rule)
        begin = time.monotonic()
        process = subprocess.Popen(words, cwd=self.build, stdin=subprocess.DEVNULL, stdout=log,
                                   stderr=log, preexec_fn=lambda: self.ground.enter("peer"))
        try:
            process.wait(self.options.seconds_max)
        except subprocess.TimeoutExpired:
            self.ground.end_all("peer")
            process.wait()
        seconds = time.monotonic() - begin
        if meminfo:
            meminfo.close()
        return {"seconds": seconds, "kernel": self.ground.kernel_kills("peer") - kills}

    def run(self, key, rule):
        self.tree.configure(self.build, self.options.units, self.options.programs, rule)
        path = self.work / "log"
        with open(path, "w", encoding="utf-8") as log:
            under = self.in_group if rule.under in ("group", "earlyoom") else self.governed
            figures = under(rule, log)
        text = path.read_text(errors="replace")
        if rule.under == "earlyoom":
            figures["killed"] = len(re.findall("sending SIG(?:TERM|KILL) to process", text))
        figures |= {"rule": key, "name": rule.name, "failed": failures_in(rule, text),
                    "missing": missing(rule, self.build)}
        if self.options.keep_logs:
            shutil.copy(path, self.options.keep_logs / f"{key.replace(':', '-')}.log")
        return figures


COLUMNS = "{:28} {:>8} {:>7} {:>7} {:>9} {:>8} {:>7} {:>7} {:>7} {:>5}"
HEADER = COLUMNS.format("rule", "seconds", "ratio", "failed", "not done", "kernel", "killed",
                        "again", "pauses", "runs")


def table(rows):
    """Medians of each rule, over the fastest fixed number that has built everything."""
    rules = {}
    for row in rows:
        rules.setdefault(row["rule"], []).append(row)

    def middle(runs, key):
        values = [run[key] for run in runs if key in run]
        return statistics.median(values) if values else None

    whole = [middle(runs, "seconds") for key, runs in rules.items()
             if key.startswith("fixed") or key == "pool"
             if all(run["missing"] == 0 and run["failed"] == 0 for run in runs)]
    print(HEADER)
    for runs in rules.values():
        seconds = middle(runs, "seconds")
        counts = [middle(runs, key) for key in ("failed", "missing", "kernel", "killed", "again",
                                                "pauses")]
        print(COLUMNS.format(runs[0]["name"], f"{seconds:.1f}",
                             f"{seconds / min(whole):.2f}" if whole else "-",
                             *("-" if count is None else f"{count:g}" for count in counts),
                             len(runs)))


def build(options, ground, work):
    rules = rules_of(options)
    chosen = options.rules.split() if options.rules else list(rules)
    for word in chosen:
        if word not in rules:
            sys.exit(f"govern: there is no rule \"{word}\"; there are: {' '.join(rules)}")
    if "earlyoom" in chosen and shutil.which("earlyoom") is None:
        print("govern: earlyoom is not installed", file=sys.stderr)
        chosen.remove("earlyoom")
    kept = options.results.read_text().splitlines() if options.results.exists() else []
    rows = [json.loads(line) for line in kept]
    builds = Builds(options, ground, work)
    print(f"{options.units} units, {options.programs} links, {options.line} MiB:", flush=True)
    for _ in range(options.rounds):
        for key in chosen:
            row = builds.run(key, rules[key])
            rows.append(row)
            print(f"    {row}", file=sys.stderr, flush=True)
            with open(options.results, "a", encoding="utf-8") as file:
                file.write(json.dumps(row) + "\n")
    table(rows)

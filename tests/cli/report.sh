#!/bin/bash
# plimsoll report, and run --report-format, from outside: what other programs read; its last line
# counts. Each case has a state directory of its own.
set -uo pipefail
source "$(dirname "$(realpath "$0")")/cases.bash"

# usage_is_right FILE: the document of --report-format buildkit keeps the rules of
# docs/formats/buildkit.md: keys in their order, types, what may be null, how many.
usage_is_right() {
  "$python" - "$1" <<'END' >told || wrong "$1: $(cat told)"
import json, re, sys

SAMPLE = "timestamp cpuStat memoryStat ioStat pidsStat netStat".split()
CPU = "usageNanos userNanos systemNanos nrPeriods nrThrottled throttledNanos pressure".split()
MEMORY = """swapBytes anon file kernel kernelStack pageTables sock vmalloc shmem fileMapped fileDirty
    fileWriteback slab pgscan pgsteal pgfault pgmajfault peak lowEvents highEvents maxEvents oomEvents
    oomKillEvents pressure""".split()
IO = "readBytes writeBytes discardBytes readIOs writeIOs discardIOs pressure".split()
NET = "rxBytes rxPackets txBytes txPackets".split()
TIMES = "user nice system idle iowait irq softirq steal guest guestNice".split()
SYSTEM = "timestamp cpuStat procStat memoryStat cpuPressure memoryPressure ioPressure".split()
PROCESSES = "contextSwitches processCreated processesRunning".split()
KIB = "total free available buffers cached active inactive swap dirty writeback slab".split()


def ordered(name, value, keys, whole=False):
    """An object whose keys are among `keys`, in their order; all of them if `whole`."""
    assert type(value) is dict, name
    found = list(value)
    assert found == [key for key in keys if key in value] and (not whole or found == keys), (name, found)


def counts(name, value, least=0):
    for key, count in value.items():
        if key != "pressure":
            assert type(count) is int and count >= least, (name, key, count)


def pressure(value):
    ordered("pressure", value, ["some", "full"], whole=True)
    for line in filter(None, value.values()):
        ordered("pressure line", line, ["avg10", "avg60", "avg300", "total"], whole=True)
        assert type(line["total"]) is int
        assert all(value is None or 0 <= value <= 100 for value in list(line.values())[:3]), line


def times(value):
    ordered("times", value, TIMES, whole=True)
    assert all(seconds == round(seconds, 3) for seconds in value.values()), value


def moment(value):
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{0,8}[1-9])?Z", value), value


def sample(one):
    ordered("sample", one, SAMPLE)
    moment(one["timestamp"])
    for key, keys in ("cpuStat", CPU), ("memoryStat", MEMORY), ("ioStat", IO), ("pidsStat", ["current"]):
        value = one.get(key, {})
        ordered(key, value, keys)
        counts(key, value)
        if "pressure" in value:
            pressure(value["pressure"])
    assert "pidsStat" in one
    ordered("netStat", one.get("netStat", {}), NET)
    counts("netStat", one.get("netStat", {}), least=1)
    counts("events", {k: v for k, v in one.get("memoryStat", {}).items() if k.endswith("Events")}, least=1)


def system(one):
    ordered("system sample", one, SYSTEM)
    moment(one["timestamp"])
    times(one["cpuStat"])
    ordered("procStat", one["procStat"], PROCESSES, whole=True)
    counts("procStat", one["procStat"])
    ordered("memoryStat", one["memoryStat"], KIB, whole=True)
    kib = int(re.search(r"MemTotal: *(\d+) kB", open("/proc/meminfo").read())[1])
    assert one["memoryStat"]["total"] == kib, "memory of the machine is not in KiB"
    for key in "cpuPressure", "memoryPressure", "ioPressure":
        if key in one:
            pressure(one[key])


text = open(sys.argv[1]).read()
report = json.loads(text)
ordered("report", report, ["resourceUsage", "sysUsage"], whole=True)
usage = report["resourceUsage"]
ordered("resourceUsage", usage, ["samples", "sysCPUStat"])
assert 1 <= len(usage["samples"]) <= 10, len(usage["samples"])
for one in usage["samples"]:
    sample(one)
times(usage["sysCPUStat"])
assert 2 <= len(report["sysUsage"]) <= 20, len(report["sysUsage"])
for one in report["sysUsage"]:
    system(one)
for name, series in ("samples", usage["samples"]), ("sysUsage", report["sysUsage"]):
    moments = [one["timestamp"].rstrip("Z").ljust(19, ".").ljust(29, "0") for one in series]
    assert moments == sorted(moments), (name, "are not in order")
assert not re.search(r"[0-9]\.0\b|[0-9]e-0", text), "a number is not in its shortest form"
END
}

case_usage_of_one_that_exited() {
  run 5 --report usage.json --report-format buildkit -- sh -c 'i=0; while [ $i -lt 50000 ]; do i=$((i+1)); done; sleep 1.2; exit 5'
  usage_is_right usage.json
  # Nanoseconds of a loop that takes some hundredths of a second, and what the machine had besides.
  told usage.json '10**6 < r["resourceUsage"]["samples"][-1]["cpuStat"]["usageNanos"] < 10**11' \
    '1 < sum(r["resourceUsage"]["sysCPUStat"][k] for k in ("user", "nice", "system", "idle", "iowait")) < 10**6' \
    'r["resourceUsage"]["samples"][-1]["pidsStat"].get("current", 0) == 0' \
    'any(s["pidsStat"].get("current", 0) > 0 for s in r["resourceUsage"]["samples"])' \
    'len(r["sysUsage"]) >= 3'
}

case_usage_of_one_ended_by_a_signal() {
  run 143 --report usage.json --report-format buildkit -- sh -c 'kill -TERM $$'
  usage_is_right usage.json
  told usage.json 'r["resourceUsage"]["samples"][-1]["cpuStat"]["usageNanos"] > 0'
}

case_usage_of_one_timed_out() {
  run 124 --report usage.json --report-format buildkit --timeout 300ms -- sleep 1000
  usage_is_right usage.json
}

case_usage_of_one_over_its_limit() {
  run 137 --memory-max 32M --report usage.json --report-format buildkit -- sh -c 'tail /dev/zero; exit 0'
  usage_is_right usage.json
  told usage.json 'r["resourceUsage"]["samples"][-1]["memoryStat"]["oomKillEvents"] >= 1' \
    '16 << 20 < r["resourceUsage"]["samples"][-1]["memoryStat"]["peak"] <= 33 << 20'
}

case_usage_of_one_that_was_not_found() {
  run 127 --report usage.json --report-format buildkit -- ./no-such-program
  told usage.json 'list(r) == ["resourceUsage", "sysUsage"]' 'r["resourceUsage"]["sysCPUStat"]["irq"] >= 0'
}

case_usage_in_process_mode() {
  run 0 --cgroup none --report usage.json --report-format buildkit -- sleep 0.1
  usage_is_right usage.json
  told usage.json 'r["resourceUsage"]["samples"][-1]["cpuStat"]["usageNanos"] >= 0' \
    '"pressure" not in r["resourceUsage"]["samples"][-1]["cpuStat"]'
}

case_format_is_ours_unless_asked() {
  run 0 --report report.json -- true
  told report.json 'r["schema"] == "plimsoll.job/1"' 'len(r["machine"]["cpu"]) == 10'
  run 0 --report report.json --report-format plimsoll -- true
  told report.json 'r["schema"] == "plimsoll.job/1"'
  run 0 --report - --report-format buildkit -- true
  usage_is_right out
  run 125 --report report.json --report-format docker -- touch started
  has err '--report-format'
  has err 'found "docker", expected plimsoll or buildkit'
  run 125 --report-format buildkit -- touch started
  has err '--report'
  [[ ! -e started ]] || wrong 'the command was started'
}

# Three jobs of which the second in order of input ends last.
make_run() {
  state
  cat >jobs.jsonl <<'END'
{"id": "first", "argv": ["sh", "-c", "exit 3"]}
{"id": "slow", "shell": "sleep 0.5; echo done", "cwd": "/"}
{"id": "late", "argv": ["true"]}
{"id": "never", "argv": ["true"], "needs": ["first"]}
END
  gives 2 "$plimsoll" batch -q jobs.jsonl
}

case_provenance_of_a_run() {
  make_run
  gives 0 "$plimsoll" report last --provenance
  empty err
  told out 'r["_type"] == "https://in-toto.io/Statement/v1"' 'r["subject"] == []' \
    'r["predicateType"] == "https://slsa.dev/provenance/v1"' \
    'list(r["predicate"]) == ["buildDefinition", "runDetails"]' \
    'r["predicate"]["buildDefinition"]["buildType"] == "urn:plimsoll:run:1"' \
    'r["predicate"]["buildDefinition"]["externalParameters"]["commandLine"][1:] == ["batch", "-q", "jobs.jsonl"]' \
    'r["predicate"]["runDetails"]["metadata"]["finishedOn"].endswith("Z")'
  "$python" - <<'END' || wrong 'could not be taken apart'
import json
statement = json.load(open("out"))["predicate"]
steps = statement["buildDefinition"]["internalParameters"]["buildConfig"]["llbDefinition"]
json.dump(steps, open("steps", "w"))
json.dump({"resourceUsage": steps[1]["resourceUsage"],
           "sysUsage": statement["runDetails"]["metadata"]["buildkit_metadata"]["sysUsage"]},
          open("slow", "w"))
END
  "$python" - <<'END' >told || wrong "steps: $(cat told)"
import json
r = json.load(open("steps"))
assert [s["id"] for s in r] == ["step0", "step1", "step2", "step3"]
assert [s["plimsoll"]["id"] for s in r] == ["first", "slow", "late", "never"]
assert r[0]["op"] == {"Op": {"exec": {"meta": {"args": ["sh", "-c", "exit 3"], "cwd": r[0]["op"]["Op"]["exec"]["meta"]["cwd"]}}}}, r[0]
assert r[1]["op"] == {"Op": {"exec": {"meta": {"args": ["/bin/sh", "-c", "sleep 0.5; echo done"], "cwd": "/"}}}}, r[1]
assert r[0]["plimsoll"]["exit_code"] == 3 and r[0]["resourceUsage"]["samples"], "a failed job keeps its usage"
assert r[3]["plimsoll"]["outcome"] == "skipped" and "resourceUsage" not in r[3]
END
  usage_is_right slow
}

case_provenance_of_a_job() {
  make_run
  gives 0 "$plimsoll" report last --provenance slow
  told out '[s["plimsoll"]["id"] for s in r["predicate"]["buildDefinition"]["internalParameters"]["buildConfig"]["llbDefinition"]] == ["slow"]' \
    'r["predicate"]["runDetails"]["metadata"]["buildkit_metadata"]["sysUsage"]'
  cp out by_id
  gives 0 "$plimsoll" report last 2 --provenance
  same "$(cat by_id)" "$(cat out)" 'by number'
  gives 125 "$plimsoll" report last --provenance nosuch
  has err 'has no job "nosuch"'
  empty out
}

case_reports_as_recorded() {
  make_run
  gives 0 "$plimsoll" report last --json
  cmp out state/runs/*/jobs.jsonl >told || wrong "$(cat told)"
  same 4 "$(wc -l <out)" 'reports'
  gives 0 "$plimsoll" report last --json late
  same 1 "$(wc -l <out)" 'report'
  told out 'r["schema"] == "plimsoll.job/1"' 'r["id"] == "late"'
  # The last line of a run that was killed is cut off.
  printf '{"schema":"plimsoll.job/1","id":"cu' >>"$(echo state/runs/*/jobs.jsonl)"
  gives 0 "$plimsoll" report last --json
  same 4 "$(wc -l <out)" 'reports without the cut one'
}

case_a_run_that_died() {
  make_run
  rm state/runs/*/summary.json
  sed -i 's/"finished"/"running"/' state/runs/*/meta.json
  head -n 1 state/runs/*/jobs.jsonl >one && cp one "$(echo state/runs/*/jobs.jsonl)"
  gives 0 "$plimsoll" report last --provenance
  told out '"finishedOn" not in r["predicate"]["runDetails"]["metadata"]' \
    '"buildkit_metadata" not in r["predicate"]["runDetails"]["metadata"]' \
    'len(r["predicate"]["buildDefinition"]["internalParameters"]["buildConfig"]["llbDefinition"]) == 1'
  gives 125 "$plimsoll" report last --provenance slow
  has err 'job "slow" of run'
  has err 'has not ended, or its report was not recorded'
  gives 0 "$plimsoll" report last
  has out '1 of its 4 jobs had ended when it died; the others were killed or never started.'
  : >"$(echo state/runs/*/jobs.jsonl)"
  gives 0 "$plimsoll" report last
  has out '0 of its 4 jobs had ended when it died'
  lacks out 'jobs succeeded'
}

case_a_page_is_told_with_its_place() {
  state
  make_run
  gives 0 "$plimsoll" report last --html run.html
  empty out
  same "plimsoll: the page is in $PWD/run.html" "$(<err)"
}

case_wrong_calls() {
  state
  gives 125 "$plimsoll" report last --json
  has err 'no run is recorded'
  make_run
  gives 125 "$plimsoll" report last --json --provenance
  has err '--json'
  gives 125 "$plimsoll" report --json
  gives 125 "$plimsoll" report 1999 --json
  has err 'there is no run "1999"'
  gives 125 "$plimsoll" report last --html
  has err '--html'
  gives 125 eval '"$plimsoll" report last --json >/dev/full'
}

case_help() {
  gives 0 "$plimsoll" report --help
  has out 'Examples:'
  has out '--provenance'
  gives 0 "$plimsoll" run --help
  has out 'plimsoll run --report usage.json --report-format buildkit -- make'
  gives 0 "$plimsoll" --help
  has out 'plimsoll report last --html'
}

run_cases "${1:-}"

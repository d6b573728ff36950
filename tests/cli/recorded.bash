# Recorded runs made by hand, for scripts that look at what is told of them; sourced.
# shellcheck shell=bash

# record NAME [OPTION=VALUE...]: a run below runs/ of the state directory with twelve jobs of the class
# `link`, each paused for a second, of which the first was evicted and waited for the second; jobs that run
# for 4 s and have peaks of 40, 80 ... MiB. OPTIONs: `peak` and `time` are factors, `failed` is how many
# jobs failed, `jobs` how many there are, `class` their class, `known` how many attempts of it were known.
record() {
  state
  "$python" - "$PLIMSOLL_STATE_DIR/runs/$1" "${@:2}" <<'END'
import json, os, sys

directory, options = sys.argv[1], dict(word.split("=") for word in sys.argv[2:])
peak, time = float(options.get("peak", 1)), float(options.get("time", 1))
count, failed = int(options.get("jobs", 12)), int(options.get("failed", 0))
job_class = options.get("class", "link")
known = {"attempts_known": int(options["known"])} if "known" in options else {}
SECOND, MIB, BEGUN = 10**9, 1 << 20, 1_700_000_000 * 10**9
os.makedirs(directory, mode=0o700)
events, reports, now = [], [], 0


def event(t, kind, job=None, reason=None, **numbers):
    one = {"schema": "plimsoll.event/1", "t_ns": int(t), "kind": kind}
    if job is not None:
        one |= {"job": f"j{job}", "number": job}
    events.append(one | ({"reason": reason} if reason else {}) | ({"numbers": numbers} if numbers else {}))


for job in range(1, count + 1):
    event(0, "queued", job)
event(0, "started", 1)
event(SECOND, "evicted", 1, "memory is short")
event(SECOND, "requeued", 1, "was evicted")
for job in range(1, count + 1):
    held, start = now, now + SECOND
    event(held, "held", job, "needs more memory than is free", mean_bytes=40 * MIB)
    event(start, "admitted", job, **known)
    event(start, "started", job)
    event(start + SECOND, "frozen", job, "it grows")
    event(start + 2 * SECOND, "thawed", job)
    wall, used = int((4 * time + 1) * SECOND), int(40 * job * peak * MIB)
    now = start + wall
    event(now, "ended", job, "exited with code 0")

    def sample(seconds, share, cpu, start=start):
        return {"t_ns": int(seconds * SECOND), "unix_ns": BEGUN + start + int(seconds * SECOND), "state": "running",
                "cpu_usage_ns": int(cpu * SECOND), "memory_bytes": int(used * share), "used_bytes": int(used * share)}

    reports.append({
        "schema": "plimsoll.job/1", "id": f"j{job}", "class": job_class, "argv": ["link", str(job)], "cwd": "/",
        "outcome": "exited", "exit_code": 1 if job <= failed else 0, "left_behind": [],
        "attempts": [{"outcome": "exited", "started_unix_ns": BEGUN + start, "wall_ns": wall}],
        "times": {"queued_unix_ns": BEGUN, "started_unix_ns": BEGUN + start, "ended_unix_ns": BEGUN + now,
                  "wall_ns": wall, "held_ns": SECOND, "paused_ns": SECOND},
        "cpu": {"usage_ns": int(2 * time * SECOND)}, "memory": {"peak_bytes": used + MIB, "max_bytes": 2048 * MIB},
        "samples": [sample(0.5, 0.5, 0.2), sample(3, 1, 1.5 * time), sample(4 * time + 1, 0, 2 * time)],
        "host": {"cpus": 2}})
events.sort(key=lambda one: one["t_ns"])
summary = {"schema": "plimsoll.run/1", "run": os.path.basename(directory), "makespan_ns": now, "jobs": count,
           "outcomes": {"exited": count}, "succeeded": count - failed, "holds": count, "pauses": count,
           "evictions": 1, "line_bytes": 1024 * MIB, "used_peak_bytes": int(40 * count * peak * MIB)}
meta = {"schema": "plimsoll.meta/1", "run": os.path.basename(directory), "state": "finished",
        "command_line": ["plimsoll", "batch"], "started_unix_ns": BEGUN, "jobs": count, "line_bytes": 1024 * MIB,
        "cores": 2}
for name, documents in ("events.jsonl", events), ("jobs.jsonl", reports), ("summary.json", [summary]), ("meta.json", [meta]):
    with open(f"{directory}/{name}", "w") as file:
        for one in documents:
            file.write(json.dumps(one) + "\n")
END
}

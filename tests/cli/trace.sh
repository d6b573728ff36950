#!/bin/bash
# plimsoll report --trace and --csv, from outside, read by readers of their own; its last line counts.
set -uo pipefail
source "$(dirname "$(realpath "$0")")/cases.bash"
source "$(dirname "$(realpath "$0")")/recorded.bash"

# totals FILE RUN: a trace in Perfetto's protobuf says the same as the events of the run: as many attempts,
# pauses, evictions, and the time that attempts ran. Fields by Perfetto's .proto files.
totals() {
  "$python" - "$1" "$PLIMSOLL_STATE_DIR/runs/$2/events.jsonl" <<'END' >told || wrong "$1: $(cat told)"
import json, struct, sys


def varint(data, at):
    value = shift = 0
    while True:
        byte = data[at]
        value |= (byte & 0x7F) << shift
        at, shift = at + 1, shift + 7
        if byte < 0x80:
            return value, at


def fields(data):
    """Numbers, eight bytes or bytes by the number of the field, in order."""
    found, at = {}, 0
    while at < len(data):
        key, at = varint(data, at)
        kind = key & 7
        if kind == 0:
            value, at = varint(data, at)
        elif kind == 1:
            value, at = struct.unpack_from("<Q", data, at)[0], at + 8
        elif kind == 2:
            size, at = varint(data, at)
            value, at = data[at:at + size], at + size
            assert len(value) == size, "a message that is cut off"
        else:
            raise AssertionError(f"a field of kind {kind}")
        found.setdefault(key >> 3, []).append(value)
    return found


tracks, opened, ran, marks, names, last = {}, {}, {}, {}, {}, {}
flows_out, flows_in = [], []
for packet in map(fields, fields(open(sys.argv[1], "rb").read())[1]):
    assert packet[10] == [1], packet
    if 60 in packet:
        track = fields(packet[60][0])
        assert track[1][0] not in tracks
        tracks[track[1][0]] = track
        if 2 in track:
            names[track[1][0]] = track[2][0].decode()
        if 5 in track:
            assert track[5][0] in tracks, "a track whose parent is not described before it"
        continue
    event, at = fields(packet[11][0]), packet[8][0]
    kind, track = event[9][0], event[11][0]
    assert track in tracks, "an event on a track that is not described before it"
    if kind == 4:
        assert 8 in tracks[track] and 44 in event
        assert last.get(track, 0) <= at, "a counter that goes back in time"
        last[track] = at
        continue
    name = names[track]
    if kind == 1:
        assert track not in opened, "stretches overlap in a lane"
        opened[track] = at
        flows_out += event.get(47, [])
        flows_in += event.get(48, [])
    elif kind == 2:
        start = opened.pop(track)
        assert at >= start
        if name.startswith("slot "):
            ran[name] = ran.get(name, 0) + at - start
    else:
        assert kind == 3
        text = event[23][0].decode()
        marks[text] = marks.get(text, 0) + 1
        assert {fields(note)[10][0] for note in event[4]} >= {b"reason"}
assert not opened, "a stretch does not end"
assert sorted(flows_out) == sorted(flows_in) and len(set(flows_in)) == len(flows_in), "arrows without an end"

kinds, running, start = {}, 0, {}
for event in map(json.loads, open(sys.argv[2])):
    kinds[event["kind"]] = kinds.get(event["kind"], 0) + 1
    t, job = event["t_ns"], event.get("job")
    if event["kind"] in ("started", "thawed"):
        start[job] = t
    elif event["kind"] in ("frozen", "requeued", "ended") and job in start:
        running += t - start.pop(job)
assert sum(ran.values()) == running, (sum(ran.values()), running)
assert marks.get("paused", 0) == kinds.get("frozen", 0), (marks, kinds)
assert marks.get("evicted", 0) == kinds.get("evicted", 0), (marks, kinds)
assert len(flows_out) >= kinds.get("evicted", 0)
END
}

case_totals_of_a_trace_are_those_of_the_run() {
  record a
  gives 0 "$plimsoll" report a --trace a.pftrace
  empty out
  same "plimsoll: the trace is in $PWD/a.pftrace" "$(<err)"
  totals a.pftrace a
  same 600 "$(stat -c %a a.pftrace)"
}

case_of_a_run_that_was_run() {
  state
  gives 0 "$plimsoll" batch -q -j3 -- 'sleep 0.0{}' ::: 1 2 3 4 5 6 7 8
  gives 0 "$plimsoll" report last --trace last.pftrace
  totals last.pftrace "$(basename "$PLIMSOLL_STATE_DIR"/runs/*)"
}

case_chrome_has_the_same_stretches() {
  record a
  gives 0 "$plimsoll" report a --trace - --trace-format chrome
  # Twelve of 4 s and the second before the eviction, without pauses; one lane, as no two overlap much.
  told out 'sum(e["dur"] for e in r["traceEvents"] if e["ph"] == "X" and e["cat"] == "job") == 49e6' \
    'sum(e["ph"] == "i" and e["name"] == "paused" for e in r["traceEvents"]) == 12' \
    '[e["args"]["reason"] for e in r["traceEvents"] if e["ph"] == "i" and e["name"] == "evicted"] == ["memory is short"]' \
    '{e["id"] for e in r["traceEvents"] if e["ph"] == "s"} == {e["id"] for e in r["traceEvents"] if e["ph"] == "f"}' \
    'max(e["args"]["value"] for e in r["traceEvents"] if e["ph"] == "C" and e["name"] == "memory used by jobs") >= 480 << 20' \
    'all(e["ts"] >= 0 for e in r["traceEvents"])'
}

case_tables_are_csv() {
  record a
  gives 0 "$plimsoll" report a --csv jobs
  "$python" - <<'END' >told || wrong "$(cat told)"
import csv
rows = list(csv.DictReader(open("out", newline="")))
assert len(rows) == 12, len(rows)
assert all(len(row) == 21 and None not in row for row in rows), rows[0]
assert rows[0]["id"] == "j1" and rows[0]["ran_ns"] == "4000000000" and rows[0]["paused_ns"] == "1000000000", rows[0]
assert rows[11]["used_peak_bytes"] == str(480 << 20) and rows[11]["peak_bytes"] == str(481 << 20), rows[11]
END
  gives 0 "$plimsoll" report a --csv samples
  same 37 "$(wc -l <out)"
  gives 0 "$plimsoll" report a --csv events
  "$python" -c 'import csv, json
rows = list(csv.DictReader(open("out", newline="")))
events = [json.loads(line) for line in open("state/runs/a/events.jsonl")]
assert [(r["t_ns"], r["kind"], r["job"]) for r in rows] == [(str(e["t_ns"]), e["kind"], e.get("job", "")) for e in events]
assert {r["mean_bytes"] for r in rows if r["kind"] == "held"} == {str(40 << 20)}' >told 2>&1 || wrong "$(cat told)"
}

case_mistakes_are_told() {
  record a
  gives 125 "$plimsoll" report a --csv tables
  has err '--csv: found "tables", expected jobs, samples or events'
  gives 125 "$plimsoll" report a --trace x --trace-format pdf
  has err '--trace-format: found "pdf", expected perfetto or chrome'
  gives 125 "$plimsoll" report a --trace-format chrome
  gives 125 "$plimsoll" report a --trace x --csv jobs
  gives 125 "$plimsoll" report a j1 --csv jobs
  gives 125 "$plimsoll" report a --json --csv jobs
  gives 125 "$plimsoll" report a --trace nowhere/x
  has err nowhere/x
}

run_cases "$@"

#!/usr/bin/python3
"""Watches the pool of a run from outside: watch_pool.py MEMORY_BASE V2_BASE LINE_BYTES END_FILE

Every 2 ms, until END_FILE is there: what the pool can't drop, and the state of its jobs. Then
prints one JSON object: the peak, how often the line was crossed, how long each crossing went on
before a job was frozen or gone (or the pool was back below), and how long all of the pool stood
still for memory.
"""

import glob
import json
import os
import sys
import time

memory_base, v2_base, line, end = sys.argv[1], sys.argv[2], int(sys.argv[3]), sys.argv[4]
# v1 counts a group with those below it as total_*; v2 always does.
KEYS = {"total_rss": 1, "total_shmem": 1, "total_dirty": 1, "total_writeback": 1,
        "anon": 1, "shmem": 1, "kernel": 1, "slab_reclaimable": -1,
        "file_dirty": 1, "file_writeback": 1}


def text_of(path):
    try:
        with open(path) as file:
            return file.read()
    except OSError:
        return ""


def used_of(pools):
    total = 0
    for pool in pools:
        for entry in text_of(pool + "/memory.stat").splitlines():
            key, _, value = entry.partition(" ")
            total += KEYS.get(key, 0) * int(value)
    return total


def settled_of(pools):
    """Jobs that are frozen whole or have no process; those that are there."""
    there, settled = set(), set()
    for pool in pools:
        for events in glob.glob(pool + "/job-*/cgroup.events"):
            text = text_of(events)
            there.add(events)
            if "frozen 1" in text or "populated 0" in text:
                settled.add(events)
    return there, settled


def stalled_us(pools):
    for pool in pools:
        for entry in text_of(pool + "/memory.pressure").splitlines():
            if entry.startswith("full"):
                return int(entry.rpartition("=")[2])
    return 0


peak = stalled = crossings = 0
taken_ms = []
since = before = None
while not os.path.exists(end):
    now = time.monotonic()
    used = used_of(glob.glob(memory_base + "/plimsoll-*/pool"))
    pools = glob.glob(v2_base + "/plimsoll-*/pool")
    peak = max(peak, used)
    if used > line and since is None:
        crossings += 1
        since, before = now, settled_of(pools)
    elif since is not None and before is not None:
        there, settled = settled_of(pools)
        if settled - before[1] or before[0] - there or used <= line:
            taken_ms.append((time.monotonic() - since) * 1000)
            before = None
    if used <= line:
        since = None
    stalled = max(stalled, stalled_us(pools))
    time.sleep(0.002)
json.dump({"peak": peak, "crossings": crossings, "taken_ms": sorted(taken_ms),
           "stalled_us": stalled}, sys.stdout)

#!/usr/bin/env python3
"""alloc.py MIB SECONDS: grows to MIB in the first half of SECONDS, and keeps it for the second."""

import sys
import time

mib, seconds = int(sys.argv[1]), float(sys.argv[2])
kept = []
begun = time.monotonic()
for step in range(1, mib + 1):
    kept.append(bytearray(b"x") * (1 << 20))  # written to, so that the kernel provides it
    time.sleep(max(0.0, begun + seconds / 2 * step / mib - time.monotonic()))
time.sleep(seconds / 2)

#!/usr/bin/env python3
"""jobserver_clients.py KILLS SEED FILE: makes that share a jobserver, some of which are killed.

The jobserver is that of MAKEFLAGS, or a pipe of its own if there is none. Three makes run at a
time; again and again one of them is killed at a random point: make alone, one of its jobs, or make
with all of its jobs. When all others have come to their ends, the pipe should have all tokens.
"""

import array
import fcntl
import json
import os
import random
import re
import signal
import subprocess
import sys
import termios
import time

OWN_TOKENS = 7
CLIENTS = 3
JOBS = 12
LONGEST_JOB = 0.2
LONGEST_WAIT = 0.25
PATIENCE = 150  # tokens may take two minutes to be replaced


def jobserver():
    """Its two descriptors, and MAKEFLAGS."""
    flags = os.environ.get("MAKEFLAGS", "")
    found = re.search(r"--jobserver-auth=(\d+),(\d+)", flags)
    if found:
        return int(found[1]), int(found[2]), flags
    read, write = os.pipe()
    os.write(write, b"+" * OWN_TOKENS)
    return read, write, f" -j{OWN_TOKENS + 1} --jobserver-auth={read},{write}"


def tokens_in(read):
    count = array.array("i", [0])
    fcntl.ioctl(read, termios.FIONREAD, count)
    return count[0]


def children(pid):
    try:
        with open(f"/proc/{pid}/task/{pid}/children", encoding="ascii") as file:
            return [int(word) for word in file.read().split()]
    except OSError:
        return []


def family(pid):
    return [pid] + [member for child in children(pid) for member in family(child)]


def kill(pids):
    for pid in pids:
        try:
            os.kill(pid, signal.SIGKILL)
        except ProcessLookupError:
            continue


def start(chance, pipe):
    """A make with some jobs. It goes on when one of them is killed."""
    read, write, flags = pipe
    jobs = "".join(f"{i}: ; @sleep {chance.uniform(0, LONGEST_JOB):.3f}; :\n" for i in range(JOBS))
    text = f"all: {' '.join(str(i) for i in range(JOBS))}\n{jobs}"
    process = subprocess.Popen(["make", "-s", "-k", "-f", "-"], stdin=subprocess.PIPE,
                               stderr=subprocess.DEVNULL, pass_fds=(read, write),
                               env={**os.environ, "MAKEFLAGS": flags})
    process.stdin.write(text.encode())
    process.stdin.close()
    return process


def main():
    kills, seed, file = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3]
    chance = random.Random(seed)
    pipe = jobserver()
    tokens = int(re.search(r"-j(\d+)", pipe[2])[1]) - 1
    running = []
    for _ in range(kills):
        running = [process for process in running if process.poll() is None]
        while len(running) < CLIENTS:
            running.append(start(chance, pipe))
        time.sleep(chance.uniform(0, LONGEST_WAIT))
        client = chance.choice(running)
        if client.poll() is not None:
            continue
        way = chance.choice(("make", "job", "all"))
        if way == "all":
            kill(family(client.pid))
        elif way == "job" and children(client.pid):
            kill(family(chance.choice(children(client.pid))))
        else:
            kill([client.pid])
    begin = time.monotonic()
    for process in running:
        process.wait()
    while tokens_in(pipe[0]) != tokens and time.monotonic() - begin < PATIENCE:
        time.sleep(0.05)
        if "MAKEFLAGS" not in os.environ and time.monotonic() - begin > 2 * JOBS * LONGEST_JOB:
            break  # what is not back by now does not come
    with open(file, "w", encoding="ascii") as out:
        json.dump({"tokens": tokens, "lost": tokens - tokens_in(pipe[0]),
                   "seconds": time.monotonic() - begin}, out)


if __name__ == "__main__":
    main()

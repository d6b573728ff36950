#!/usr/bin/env python3
"""agent.py FILE TRIES SUITES: what a coding agent starts, without the agent. SUITES is a JSON list
of commands. Before each suite there are a few quick commands, whose times are told. A suite that
fails is started again, TRIES times in all. A server is left running, as agents do."""

import json
import subprocess
import sys
import time

QUICK = ["ls /usr/bin | wc -l", "cat /etc/passwd | head -n 1", "date", "grep -c root /etc/passwd",
         "sleep 0.02; true"]
THINKS_SECONDS = 0.2
SERVER = "sleep 1000 >/dev/null 2>&1 &"


def main():
    file, tries, suites = sys.argv[1], int(sys.argv[2]), json.loads(sys.argv[3])
    told = {"quick": [], "failed": 0, "done": 0}
    subprocess.run(["sh", "-c", SERVER], check=False)
    for suite in suites:
        for _ in range(tries):
            for command in QUICK:
                begin = time.monotonic()
                subprocess.run(["sh", "-c", command], check=False, stdout=subprocess.DEVNULL)
                told["quick"].append(time.monotonic() - begin)
            time.sleep(THINKS_SECONDS)
            if subprocess.run(suite, check=False).returncode == 0:
                told["done"] += 1
                break
            told["failed"] += 1
        with open(file, "w", encoding="ascii") as out:
            json.dump(told, out)


if __name__ == "__main__":
    main()

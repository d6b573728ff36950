#!/usr/bin/env python3
"""Makes BUILD/compile_commands.json have an entry for every source, as clangd and clang-tidy want.

Where several sources are compiled at once (cmake/Unity.cmake), CMake writes entries for the units
only: each gives way to entries for the sources that it includes, with its flags.

Usage: tools/compile_commands.py BUILD
"""

import json
import re
import sys
from pathlib import Path

UNIT = re.compile(r"/Unity/unity_\d+_cxx\.cxx$")


def sources_of(unit):
    return re.findall(r'^#include "(.+\.cc)"$', unit.read_text(encoding="utf-8"), re.MULTILINE)


def expanded(entries):
    for entry in entries:
        if not UNIT.search(entry["file"]):
            yield entry
            continue
        for source in sources_of(Path(entry["file"])):
            yield entry | {"file": source,
                           "command": entry["command"].replace(entry["file"], source)}


def main():
    database = Path(sys.argv[1], "compile_commands.json")
    entries = list(expanded(json.loads(database.read_text(encoding="utf-8"))))
    whole = database.with_suffix(".whole")  # a reader sees the old one or the new one
    whole.write_text(json.dumps(entries, indent=1) + "\n", encoding="utf-8")
    whole.replace(database)


if __name__ == "__main__":
    main()

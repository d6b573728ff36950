#!/usr/bin/env python3
"""Tells whether the pages in page/stored/ were built of the sources in page/ now; needs no npm.

Status 1 if one was not; `./dev page` builds them.
"""

import hashlib
import re
import sys
from pathlib import Path

PAGE = Path(__file__).resolve().parent.parent / "page"
FILES = ["dashboard.html", "index.html", "package.json", "package-lock.json", "tsconfig.json",
         "vite.config.js"]
PAGES = ["page.html", "dashboard.html"]


def sources_hash(page):
    """As page/vite.config.js has it: of each file the name and the contents, in order of names."""
    names = sorted(FILES + [f"src/{path.name}" for path in (page / "src").iterdir()])
    digest = hashlib.sha256()
    for name in names:
        digest.update(name.encode() + b"\0" + (page / name).read_bytes() + b"\0")
    return digest.hexdigest()


def is_current(name, expected):
    stored = (PAGE / "stored" / name).read_text(encoding="utf-8")
    found = re.search(r'<meta name="plimsoll-sources" content="(\w+)">', stored)
    return found is not None and found.group(1) == expected


def main():
    expected = sources_hash(PAGE)
    old = [name for name in PAGES if not is_current(name, expected)]
    for name in old:
        print(f"page/stored/{name}: was built of other sources than those in page/; run ./dev page")
    return 1 if old else 0


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/env python3
"""Tells whether page/stored/page.html was built of the sources that are in page/ now; needs no npm.

Status 1 if it was not; `./dev page` builds it.
"""

import hashlib
import re
import sys
from pathlib import Path

PAGE = Path(__file__).resolve().parent.parent / "page"
FILES = ["index.html", "package.json", "package-lock.json", "tsconfig.json", "vite.config.js"]


def sources_hash(page):
    """As page/vite.config.js has it: of each file the name and the contents, in order of names."""
    names = sorted(FILES + [f"src/{path.name}" for path in (page / "src").iterdir()])
    digest = hashlib.sha256()
    for name in names:
        digest.update(name.encode() + b"\0" + (page / name).read_bytes() + b"\0")
    return digest.hexdigest()


def main():
    stored = (PAGE / "stored/page.html").read_text(encoding="utf-8")
    found = re.search(r'<meta name="plimsoll-sources" content="(\w+)">', stored)
    if found and found.group(1) == sources_hash(PAGE):
        return 0
    print("page/stored/page.html: was built of other sources than those in page/; run ./dev page")
    return 1


if __name__ == "__main__":
    sys.exit(main())

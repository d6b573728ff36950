#!/usr/bin/env python3
"""House rules that neither the compiler nor clang-tidy knows; docs/style.md gives their reasons.

tools/tidy.py [ROOT] prints each breach as file:line: what, and what to do instead; status 1 if any.
"""

import re
import sys
from pathlib import Path
from typing import NamedTuple

FUNCTION_LINES_MAX = 70  # not clang-tidy's, which would have to parse all (docs/testing.md)
LINE_COLUMNS_MAX = 100
FILE_LINES_MAX = 400
EXCUSED_LINES_MAX = 600

# Longer files, with the reason why each holds one idea all the same; EXCUSED_LINES_MAX at most.
EXCUSED_FILES: dict[str, str] = {
    "tests/cli/api.sh": "one daemon's API, a case for each promise",
    "tests/cli/users.sh": "what one user can do to another, a case for each way",
}


class Ban(NamedTuple):
    """A phrase that may stand only in some places."""

    phrase: str  # regular expression
    where: str  # of the path: where the ban holds
    instead: str
    allowed: tuple[str, ...] = ()  # beginnings of paths
    raw: bool = False  # looks into comments and literals too


BANS = [
    # tests/programs/ has no library of ours.
    Ban(r"\bsto(i|l|ll|ul|ull|f|d|ld)\(|\bato(i|l|ll|f)\(|\bstrto\w+\(",
        r"^(src|tests/(unit|host|fuzz))/",
        "to_u64, to_i64 or to_double of base/text.h: they take the whole text or nothing"),
    Ban(r"\b(u|nano|clock_nano)?sleep(_for|_until)?\(", r"^tests/unit/",
        "simulated time; a unit test never sleeps"),
    Ban(r"\bsteady_clock::now\b|\bclock_gettime\(|\bgettimeofday\(", r"^src/",
        "a parameter `now`, or loop::now() where a turn begins",
        ("src/base/loop/", "src/guardian/clock.cc")),  # the guardian has no loop
    Ban(r"\bsystem_clock::now\b", r"^src/",
        "a WallTime parameter: records get the time of day from supervisor/ and cli/",
        ("src/supervisor/", "src/cli/", "src/daemon/grpc/", "src/daemon/api/",
         "src/daemon/runner/")),  # deadlines of gRPC
    Ban(r"(?<!\w)::(kill|waitpid)\(|\bkill\([^,;{}]*, *SIG|(?<![\w.>:])waitpid\(", r"^src/",
        "kernel/reap/ to end a job; a pid may belong to another process by now",
        ("src/guardian/", "src/kernel/cgroup/kill")),
    Ban(r"\bclone3\b", r"^src/", "guardian/: only it starts processes", ("src/guardian/",)),
    Ban(r"\bsd_event_", r"^src/", "base/loop/, the only room that knows sd-event",
        ("src/base/loop/",)),
    Ban(r"\bspdlog\b", r"^src/", "a Result: libraries never log", ("src/supervisor/", "src/cli/")),
    # Right in an owner's parentheses it is the way to a private constructor.
    Ban(r"(?<!\()\bnew\s+\w", r"\.(cc|h)$", "std::make_unique"),
    Ban(r"\bdelete\s*(\[\]|\w|\()", r"\.(cc|h)$", "an owner with a destructor"),
    Ban(r"\bthrow\b", r"\.(cc|h)$", "fail() and Result (base/result.h)"),
    Ban(r"\b(TODO|FIXME|XXX)\b", r"", "do it now, or leave it out", raw=True),
    Ban(r"(?<![\w.\-])/(work|home/\w)", r"", "a path relative to the tree", raw=True),
]

TEXT_SUFFIXES = {".cc", ".h", ".py", ".sh", ".bash", ".cmake", ".txt", ".md", ".json", ""}
SKIPPED_FOLDERS = re.compile(
    r"^(\.git|\.cache|build[^/]*|page/node_modules|tests/fuzz/corpus)(/|$)")


class Breach(NamedTuple):
    path: str
    line: int
    text: str

    def __str__(self):
        return f"{self.path}:{self.line}: {self.text}"


def blank_out(text):
    """`text` with comments and the insides of literals as spaces: same length, same lines."""
    pattern = re.compile(
        r'R"(?P<tag>[^(\s]*)\(.*?\)(?P=tag)"|//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"'
        r"|(?<![0-9a-fA-F])'(?:\\.|[^'\\\n])+'", re.DOTALL)

    def blank(match):
        found = match.group()
        inner = re.sub(r"[^\n]", " ", found)
        return found[0] + inner[1:-1] + found[-1] if found[0] in "\"'" else inner

    # #include "x/y.h" is kept: it is looked at as code.
    kept = re.compile(r"^#include .*$", re.MULTILINE)
    result, start = [], 0
    for include in kept.finditer(text):
        result += [pattern.sub(blank, text[start:include.start()]), include.group()]
        start = include.end()
    return "".join(result) + pattern.sub(blank, text[start:])


def functions(code):
    """(first line, number of lines) of each function in blanked-out, formatted C++."""
    depth, head, opened = 0, 0, None  # `opened`: depth, head, start of the function we are in
    container = re.compile(r"\b(namespace|class|struct|enum|union|concept|extern)\b[^()]*$")
    for match in re.finditer(r"[{};]", code):
        at = match.start()
        if match.group() == "{":
            text = code[head:at]
            initialiser = at > 0 and not code[at - 1].isspace()
            if not opened and not initialiser and "(" in text and not container.search(text):
                start = head + len(text) - len(text.lstrip())
                opened = (depth, head, start)
            depth += 1
            if not initialiser:
                head = at + 1
        else:
            # After the end of an initialiser or of a lambda among arguments the statement goes on.
            goes_on = code[at:at + 2] in ("},", "})")
            if match.group() == "}":
                depth -= 1
                if opened and opened[0] == depth:
                    head, start = opened[1:]
                    if not goes_on:
                        first = code.count("\n", 0, start) + 1
                        yield first, code.count("\n", start, at) + 1
                    opened = None
            if not goes_on:
                head = at + 1


class Tree:
    """The files of a source tree as text, and what the build says of them."""

    def __init__(self, root):
        self.texts = {}
        for path in sorted(Path(root).rglob("*")):
            name = path.relative_to(root).as_posix()
            if SKIPPED_FOLDERS.match(name) or path.is_symlink() or not path.is_file():
                continue
            if path.suffix in TEXT_SUFFIXES or re.search(r"\.[1-8]$", name):
                self.texts[name] = path.read_text(encoding="utf-8", errors="replace")
        self.root = Path(root)
        self.code = {n: blank_out(t) for n, t in self.texts.items() if n.endswith((".cc", ".h"))}
        table = self.texts.get("cmake/Dependencies.cmake", "")
        self.uses = {name: names.split() for name, names in
                     re.findall(r"^set\(ALLOWED_([\w/]+)([^)]*)\)", table, re.MULTILINE)}
        # A room is a folder of src/ that has sources.
        self.rooms = sorted({room_of(n) for n in self.code if n.startswith("src/")})


def room_of(name):
    """src/kernel/cgroup/group.h is of kernel/cgroup."""
    return name.removeprefix("src/").rpartition("/")[0]


def find(pattern, text):
    """The line number and match of each occurrence."""
    for match in re.finditer(pattern, text, re.MULTILINE):
        yield text.count("\n", 0, match.start()) + 1, match


def sizes(tree):
    for name, text in tree.texts.items():
        if not name.endswith((".cc", ".h", ".py", ".bash", ".sh", ".cmake", "CMakeLists.txt")):
            continue
        lines = text.split("\n")
        most = EXCUSED_LINES_MAX if name in EXCUSED_FILES else FILE_LINES_MAX
        if len(lines) - 1 > most:
            yield Breach(name, 1, f"{len(lines) - 1} lines, {most} at most: "
                                  "which two ideas does it hold?")
        if not name.endswith((".sh", ".bash")):
            for number, line in enumerate(lines, 1):
                if len(line) > LINE_COLUMNS_MAX:
                    yield Breach(name, number, f"{len(line)} columns, {LINE_COLUMNS_MAX} at most")
    for name, code in tree.code.items():
        for first, length in functions(code):
            if length > FUNCTION_LINES_MAX:
                yield Breach(name, first, f"a function of {length} lines, {FUNCTION_LINES_MAX} at "
                                          "most: keep the branches, move the leaves out")


def bans(tree):
    for name, text in tree.texts.items():
        if name.startswith(("tools/tidy", "tests/tidy/")):
            continue
        for ban in BANS:
            if not re.search(ban.where, name) or name.startswith(ban.allowed):
                continue
            for line, match in find(ban.phrase, text if ban.raw else tree.code.get(name, "")):
                yield Breach(name, line, f"`{match.group().strip()}`: use {ban.instead}")


def includes(tree):
    protos = {path.name for path in tree.root.glob("src/daemon/proto/*")}
    for name, code in tree.code.items():
        if not name.startswith("src/"):
            continue
        room = room_of(name)
        for line, match in find(r'^#include "([\w/]+)/\w+(\.\w+)*"', code):
            used = match.group(1)
            if room.startswith("daemon/") and used.split("/")[0] in protos:
                continue  # generated
            if used != room and used not in tree.uses.get(room, []):
                yield Breach(name, line, f"{room}/ may not use {used}/: the table is "
                                         "cmake/Dependencies.cmake")


def words(text):
    return set(re.findall(r"[\w./]+", text))


def built(tree):
    """Every source file is part of the build."""
    rooms = words(tree.texts.get("src/CMakeLists.txt", ""))
    named = " ".join(text for name, text in tree.texts.items()
                     if name.startswith("tests/") and name.endswith("CMakeLists.txt"))
    for name in tree.code:
        part = name.split("/")
        if part[0] == "src":
            room = room_of(name)
            listed = words(tree.texts.get(f"src/{room}/CMakeLists.txt", ""))
            if room not in rooms:
                yield Breach(name, 1, f"is not built: name {room} in src/CMakeLists.txt")
            elif name.endswith(".cc") and part[-1] not in listed:
                yield Breach(name, 1, f"is not built: name it in src/{room}/CMakeLists.txt")
            if room not in tree.uses:
                yield Breach(name, 1, f"{room}/ is not in cmake/Dependencies.cmake")
        elif name.startswith("tests/") and name.endswith("_test.cc"):
            if not re.fullmatch(r"tests/(unit|host)/[\w/]+/\w+_test\.cc", name):
                yield Breach(name, 1, "ctest finds tests/unit/ROOM/*_test.cc and tests/host/...")
            elif not re.search(r"^(TYPED_)?TEST(_F|_P)?\(|^RC_GTEST", tree.code[name], re.M):
                yield Breach(name, 1, "has no test")
        elif name.startswith("tests/") and name.endswith("_fuzz.cc"):
            if not re.fullmatch(r"tests/fuzz/\w+_fuzz\.cc", name):
                yield Breach(name, 1, "fuzz targets are found as tests/fuzz/NAME_fuzz.cc")
        elif name.endswith(".cc") and re.fullmatch(r"tests/programs/\w+\.cc", name):
            continue  # every source there is built
        elif name.startswith("tests/") and name.endswith(".cc") and part[-1] not in named:
            yield Breach(name, 1, "is not built: name it in a CMakeLists.txt of tests/")


def headers(tree):
    for name, text in tree.texts.items():
        if name.endswith(".h") and not text.startswith("#pragma once\n"):
            yield Breach(name, 1, "a header begins with #pragma once")


def types(tree):
    """The linker takes the members of one type for those of another that has its full name."""
    marks = (r"^(?:namespace ?(?P<opened>[\w:]*) \{|(?P<closed>\})|"
             r"(?:class|struct|enum class|union) (?P<type>[\w:]+)(?: final)?"
             r"(?: ?:[^:;{][^;{]*)? \{)")
    first = {}
    for name in sorted(tree.code):
        spaces = []
        for line, mark in find(marks, tree.code[name]) if name.startswith("src/") else ():
            if mark["opened"] is not None:
                spaces.append(mark["opened"])
            elif mark["closed"]:
                if "namespace" in tree.texts[name].splitlines()[line - 1]:
                    spaces.pop()
            elif "" not in spaces:
                other = first.setdefault("::".join([*spaces, mark["type"]]), name)
                if other != name:
                    yield Breach(name, line, f"{mark['type']} is a type of {other} as well")


def scripts(tree):
    """A test script that is not executable would be passed over."""
    for name, text in tree.texts.items():
        if re.fullmatch(r"tests/(cli|vm)/[^/]+\.sh", name) and text.startswith("#!"):
            if not (tree.root / name).stat().st_mode & 0o100:
                yield Breach(name, 1, "is not executable; what is only sourced has no #! line")


def documents(tree):
    for room in tree.rooms:
        name = f"src/{room}/README.md"
        text = tree.texts.get(name)
        if text is None:
            yield Breach(name, 1, "is missing: ten lines, what the room is and where to start")
        elif text.count("\n") > 20 or "tart at" not in text:
            yield Breach(name, 1, "at most 20 lines, one of them `Start at ...`")
    name = "docs/architecture.md"
    rows = {}
    for line, match in find(r"^\| `([\w/]+)/` \|[^|\n]*\|([^|\n]*)\|$", tree.texts.get(name, "")):
        rows[match.group(1)] = (line, sorted(re.findall(r"`([\w/]+?)/?`", match.group(2))))
    for room in sorted(rows.keys() | tree.uses.keys()):
        line, used = rows.get(room, (1, None))
        if used != (sorted(tree.uses[room]) if room in tree.uses else None):
            yield Breach(name, line, f"what {room}/ may use: not as in cmake/Dependencies.cmake")


RULES = (sizes, bans, includes, built, headers, types, scripts, documents)


def main():
    root = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).resolve().parent.parent
    tree = Tree(root)
    breaches = [breach for rule in RULES for breach in rule(tree)]
    for breach in breaches:
        print(breach)
    return 1 if breaches else 0


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/env python3
"""What the simulator says of other values of one of the governor's constants, or of other builds:
tables in Markdown.

  bench/sweep.py kCushion 0.005 0.02
  bench/sweep.py kDwell 'std::chrono::milliseconds(250)' 'std::chrono::seconds(1)'
  bench/sweep.py --source src/policy/governor/waiting.cc kTogether 0.25
  bench/sweep.py --program ../before/build/plimsoll

CONSTANT is defined with constexpr in one file below src/policy, and each VALUE is C++ that may
stand in its definition. A copy of the tracked files, as they are now, is made in build/sweep, and
built there with each value. The jobs are those of bench/simulate.py: families, or curves.

The first table has the makespan as it is now, in units of the lower bound, and how much longer or
shorter it is with each of the others; the second the same of the work that is lost, in points. The
lines below them say where each of the others is best and worst: a constant is a good one if no
other value is better for some jobs without being much worse for others.
"""

import argparse
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from simulated import Case, Figures, add_job_options, cases_of, joined, submit_own, table, title

ROOT = Path(__file__).resolve().parent.parent
SWEEP = ROOT / "build/sweep"

PLIMSOLL = os.environ.get("PLIMSOLL", str(ROOT / "build/plimsoll"))
AS_IT_IS = "as it is"

Rows = dict[str, Figures]  # by set of jobs and what is known


def copy_tree() -> Path:
    """The tracked files as they are. What has not changed is left alone, with what was built of
    it."""
    tree = SWEEP / "tree"
    listed = subprocess.run(["git", "-C", ROOT, "ls-files", "-z"], check=True, capture_output=True)
    for name in filter(None, listed.stdout.decode().split("\0")):
        source, target = ROOT / name, tree / name
        if not source.is_file() or source.is_symlink():
            continue
        target.parent.mkdir(parents=True, exist_ok=True)
        if not target.exists() or target.read_bytes() != source.read_bytes():
            target.write_bytes(source.read_bytes())
            target.chmod(source.stat().st_mode)
    return tree


def definition(constant: str) -> re.Pattern:
    return re.compile(rf"(constexpr [\w:]+ {constant}(?: = |\{{))([^;]*?)(\}}?;)")


def find(options: argparse.Namespace) -> Path:
    """The file that defines the constant, below ROOT."""
    names = [options.source] if options.source else sorted(
        path.relative_to(ROOT) for path in (ROOT / "src/policy").rglob("*.[hc]*"))
    defines = definition(options.constant).search
    found = [name for name in names if defines((ROOT / name).read_text())]
    if len(found) != 1:
        places = ", ".join(map(str, found)) or "no file"
        sys.exit(f"sweep: {options.constant} is defined in {places}, expected one file"
                 f"{'; choose it with --source' if found else ' below src/policy'}")
    return found[0]


def build(tree: Path, file: Path, constant: str, value: str) -> str:
    """A plimsoll with this value of the constant."""
    text = (ROOT / file).read_text()
    (tree / file).write_text(definition(constant).sub(
        lambda found: found[1] + value + found[3], text, count=1))
    if not (tree / "build/build.ninja").exists():
        subprocess.run(["cmake", "--preset", "release"], cwd=tree, check=True,
                       stdout=subprocess.DEVNULL)
    built = subprocess.run(["ninja", "-C", tree / "build", "plimsoll"], check=False, text=True,
                           capture_output=True)
    if built.returncode:
        sys.exit(f"sweep: with {constant} as {value}:\n{built.stdout}")
    # Whoever is simulated while the next one is built keeps its own.
    program = SWEEP / f"plimsoll-{len(list(SWEEP.glob('plimsoll-*')))}"
    program.write_bytes((tree / "build/plimsoll").read_bytes())
    program.chmod(0o755)
    return str(program)


def simulate(program: str, cases: list[Case], pool: ThreadPoolExecutor) -> Rows:
    submitted = {(title(case), name): (case, futures) for case in cases
                 for name, futures in submit_own(pool, program, case).items()}
    return {f"{jobs}, {name.removeprefix('plimsoll, ')}": joined(case, futures)
            for (jobs, name), (case, futures) in submitted.items()}


def change(row: Figures, other: Figures) -> float | None:
    """Of the makespan; nothing if either did not finish."""
    if row.makespan is None or other.makespan is None:
        return None
    return other.makespan / row.makespan - 1


def change_text(row: Figures, other: Figures) -> str:
    part = change(row, other)
    return "unfinished" if part is None else f"{part * 100:+.1f} %"


def killed_text(row: Figures) -> str:
    return f", {row.killed} killed" if row.killed else ""


def tables(rows: dict[str, Rows]) -> str:
    """What is now comes first."""
    (now, own_rows), *others = rows.items()
    header = ["jobs", now, *(name for name, _ in others)]
    spans, lost = [], []
    for jobs, row in own_rows.items():
        own = "unfinished" if row.makespan is None else f"{row.makespan:.3f}"
        each = [other[jobs] for _, other in others]
        spans.append([jobs, own + killed_text(row),
                      *(change_text(row, one) + killed_text(one) for one in each)])
        lost.append([jobs, f"{row.lost * 100:.1f} %",
                     *(f"{(one.lost - row.lost) * 100:+.1f}" for one in each)])
    ends = []
    for name, other in others:
        changes = {jobs: part for jobs, row in own_rows.items()
                   if (part := change(row, other[jobs])) is not None}
        if changes:
            best, worst = min(changes, key=changes.get), max(changes, key=changes.get)
            ends.append(f"- {name}: at best {changes[best] * 100:+.1f} % ({best}), "
                        f"at worst {changes[worst] * 100:+.1f} % ({worst})\n")
    return (f"Makespan:\n\n{table(header, spans)}\nWork lost:\n\n{table(header, lost)}\n"
            f"{''.join(ends)}")


def parsed() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="bench/sweep.py", description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("constant", nargs="?", metavar="CONSTANT")
    parser.add_argument("value", nargs="*", metavar="VALUE")
    parser.add_argument("--source", type=Path, metavar="FILE",
                        help="that defines the constant, if several do")
    parser.add_argument("--program", action="append", default=[], metavar="FILE",
                        help="another plimsoll, in place of a constant; may be repeated")
    parser.add_argument("--curves", dest="file", action="append", metavar="FILE",
                        help="simulate this file of curves, in place of the families; may be "
                        "repeated")
    add_job_options(parser)
    options = parser.parse_args()
    if bool(options.program) == bool(options.value):
        parser.error("expected a CONSTANT and VALUEs, or --program")
    return options


def programs(options: argparse.Namespace) -> Iterator[tuple[str, str]]:
    """Names of columns, and the plimsoll of each; what is now comes first."""
    if options.program:
        yield AS_IT_IS, PLIMSOLL
        yield from ((f"`{program}`", program) for program in options.program)
        return
    file, constant = find(options), options.constant
    now = definition(constant).search((ROOT / file).read_text())[2]
    SWEEP.mkdir(parents=True, exist_ok=True)
    for old in SWEEP.glob("plimsoll-*"):
        old.unlink()
    tree = copy_tree()
    yield f"`{constant}` = `{now}`, {AS_IT_IS}", build(tree, file, constant, now)
    for value in options.value:
        yield f"`{value}`", build(tree, file, constant, value)


def main() -> int:
    options = parsed()
    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(os.cpu_count()) as pool:
        try:
            cases = cases_of(options, Path(folder))
            print(tables({name: simulate(program, cases, pool)
                          for name, program in programs(options)}))
        except OSError as error:
            sys.exit(f"sweep: {error.filename}: {error.strerror}")
    return 0


if __name__ == "__main__":
    sys.exit(main())

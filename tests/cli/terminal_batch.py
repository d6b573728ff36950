#!/usr/bin/env python3
"""`plimsoll batch` under a terminal: what it draws there, and what it says."""

import re
import sys
import time

sys.dont_write_bytecode = True  # nothing is left in the tree

from terminal import PROMPT, cases_of, main

BATCH = '"$PLIMSOLL" batch -j2 --'
FRAME = r"\d/2 done.*?\x1b\[K"  # its first line


def batch_draws_in_place_and_goes_away(t):
    job = "until [ -e go{} ]; do sleep 0.05; done; echo said {}; echo oh >&2"
    t.type_line(f"{BATCH} '{job}' ::: 1 2")
    t.expect(FRAME)
    t.write("go1", "")
    # What a job says on standard error may come with the next frame.
    for said in ("said 1\r\n", "oh\r\n"):
        before, _ = t.expect(said)
        is_clear = before == "" or before.endswith("\r\x1b[J")
        assert is_clear, f"the frame was not taken away: {before[-200:]!r}"
    t.expect(FRAME)
    t.write("go2", "")
    t.expect("\r\x1b\\[Jsaid 2\r\n")
    before, _ = t.expect("2 of 2 jobs succeeded")
    assert "\x1b[J" in before, "the frame stands still"
    t.expect(PROMPT)


def batch_draws_nothing_for_a_dumb_terminal(t):
    seen = t.command(f"TERM=dumb {BATCH} 'sleep 0.3; echo said {{}}' ::: 1 2")
    assert "said 1\r\n" in seen and re.search(r"\[2/2\] job \d done in ", seen), seen
    assert "\x1b[" not in seen, seen


def batch_draws_without_colours_if_they_are_not_wanted(t):
    job = "until [ -e go ]; do sleep 0.05; done; echo said {}"
    t.type_line(f"NO_COLOR=1 {BATCH} '{job}' ::: 1 2")
    before, frame = t.expect(FRAME)
    t.write("go", "")
    seen = before + frame.group() + t.expect(PROMPT)[0]
    # A frame begins by turning off what a job's text may have left on.
    assert set(re.findall(r"\x1b\[([0-9;]*)m", seen)) <= {"0"}, seen


# Each stop finds jobs at another moment of theirs: being born, ending, being removed.
def small_jobs_are_stopped_again_and_again(t):
    t.write("numbers", "".join(f"{number}\n" for number in range(20000)))
    t.type_line('"$PLIMSOLL" batch -q -j2 --progress none -a numbers -- true')
    t.wait_for_foreground()
    for _ in range(12):
        time.sleep(0.1)
        t.send("\x1a")
        t.expect("Stopped")
        t.expect(PROMPT)
        t.foreground()
    t.send("\x03")
    t.expect(PROMPT)
    assert t.status() == 130


def batch_says_that_it_reads_the_terminal(t):
    t.type_line('"$PLIMSOLL" batch')
    t.expect("reading commands from the terminal, one per line; Ctrl-D ends the input")
    t.send("echo sa''id\n\x04")
    t.expect("said\r\n")
    t.expect("1 of 1 jobs succeeded")
    t.expect(PROMPT)


def batch_names_what_differs(t):
    long = "/usr/bin/env " + " ".join(f"A{i}=an-equal-word" for i in range(8))
    seen = t.command(f"TERM=dumb {BATCH} {long} sh -c 'exit 3' {{}} ::: clip1 clip2")
    assert re.search(r"job 1 exited with code 3 in [^:]*: \.\.clip1\r\n", seen), seen
    assert all(len(line) <= 80 for line in seen.split("\r\n")), seen


def batch_in_the_background_draws_nothing(t):
    seen = t.command(f"{BATCH} 'sleep 0.5; echo said {{}}' ::: 1 2 & wait")
    assert "said 1\r\n" in seen and " running" not in seen, seen


if __name__ == "__main__":
    sys.exit(main(cases_of(globals())))

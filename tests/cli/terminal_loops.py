#!/usr/bin/env python3
"""Ctrl-C while a shell runs Plimsoll in a loop or in the background of a script, on a terminal."""

import os
import sys

sys.dont_write_bytecode = True  # beside the sources
from terminal import PROMPT, RUN, main, same, wait_for

BATCH = '"$PLIMSOLL" batch -q --'


def a_loop_ends(t, command, times):
    for loop in (f"for i in 1 2 3; do echo round $i; {command}; done", "bash loop.sh"):
        t.write("loop.sh", f"for i in 1 2 3; do echo round $i\n{command}\ndone\n")
        t.command("rm -f pid")
        t.type_line(loop)
        t.wait_for_file("pid")
        seen = ""
        for _ in range(times - 1):
            t.send("\x03")
            seen += t.expect("interrupted")[0]  # of two at once the kernel may make one
        t.send("\x03")
        seen += t.expect(PROMPT)[0]
        same(130, t.status(), loop)
        assert "round 2" not in seen, f"{loop}: {seen!r}"


def ctrl_c_ends_a_loop_of_runs(t):
    a_loop_ends(t, f"{RUN} sh -c 'echo $$ >pid; exec sleep 1000'", times=1)


def ctrl_c_ends_a_loop_of_batches(t):
    a_loop_ends(t, f"{BATCH} 'echo $$ >pid; sleep 1; : {{}}' ::: 1 2", times=1)
    a_loop_ends(t, f"{BATCH} 'echo $$ >pid; sleep 1000; : {{}}' ::: 1", times=2)


# A script has what it starts with `&` ignore Ctrl-C.
def ctrl_c_does_not_reach_the_background_of_a_script(t):
    t.write("script.sh", f"{RUN} sh -c 'echo $$ >pid; sleep 1; echo alive >end' &\n"
            "echo $! >run\nsleep 1000\n")
    t.type_line("bash script.sh")
    t.wait_for_file("pid")
    t.send("\x03")
    t.expect(PROMPT)
    same("alive", t.wait_for_file("end"))
    run = t.wait_for_file("run")
    wait_for(lambda: not os.path.exists(f"/proc/{run}"), "the end of the run")


if __name__ == "__main__":
    sys.exit(main([ctrl_c_ends_a_loop_of_runs, ctrl_c_ends_a_loop_of_batches,
                   ctrl_c_does_not_reach_the_background_of_a_script]))

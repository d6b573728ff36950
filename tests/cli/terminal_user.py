#!/usr/bin/env python3
"""`plimsoll run --uid` under a terminal: it types nothing there, and Ctrl-C and Ctrl-Z reach it."""

import os
import sys
import time

sys.dont_write_bytecode = True  # nothing is left in the tree

from terminal import PROMPT, cases_of, has_ended, main, same, wait_for

PYTHON = "/usr/bin/python3" if os.path.exists("/usr/bin/python3") else sys.executable  # anybody's
AS_NOBODY = '"$PLIMSOLL" run -q --uid 65534:65534 --'


def for_another_user(terminal):
    """Whether there can be one; then he may write files here."""
    os.chmod(terminal.directory, 0o777)
    return os.geteuid() == 0


def another_user_does_not_type_into_the_terminal(t):
    if not for_another_user(t):
        return
    t.write("type.py", """
import fcntl, os, termios
for fd in (0, 1, 2):
    for key in "echo typed >typed\\n":
        try:
            fcntl.ioctl(fd, termios.TIOCSTI, key)
        except OSError as error:
            refused = error
    try:
        print("read", os.read(fd, 1))
    except OSError as error:
        print("not read", error.errno)
    print("terminal", os.isatty(fd))
try:
    os.open("/dev/tty", os.O_RDWR)
except OSError as error:
    print("no tty", refused.errno, error.errno)
print("session", os.getsid(0) == os.getpid())
""")
    seen = t.command(f"{AS_NOBODY} {PYTHON} type.py")
    for line in ("read b''\r\nterminal False\r\n" + 2 * "not read 9\r\nterminal True\r\n",
                 "no tty 1 6", "session True"):
        assert line in seen, seen
    t.command("true")
    assert not os.path.exists(os.path.join(t.directory, "typed")), "it has typed"


def ctrl_c_ends_the_command_of_another_user(t):
    if not for_another_user(t):
        return
    t.type_line(f"{AS_NOBODY} sh -c 'sleep 1000 & echo $! >child; echo $$ >pid; wait'")
    pid, child = t.wait_for_file("pid"), t.wait_for_file("child")
    t.send("\x03")
    t.expect(PROMPT)
    same(130, t.status())
    has_ended(pid)
    has_ended(child)


def ctrl_c_reaches_the_children_of_another_users_command(t):
    if not for_another_user(t):
        return
    t.type_line(f"{AS_NOBODY} bash -c 'trap \"echo of parent\" INT; set -m; "
                "bash -c \"trap \\\"echo of child; exit\\\" INT; echo x >pid; "
                "while :; do sleep 0.05; done\" & wait; wait; exit 3'")
    t.wait_for_file("pid")
    t.send("\x03")
    before = t.expect(PROMPT)[0]
    assert "of parent" in before and "of child" in before, before
    same(3, t.status())


def ctrl_z_then_fg_of_another_users_command(t):
    if not for_another_user(t):
        return
    t.write("clock.py", """
import time
while True:
    with open("now", "w") as file: file.write(str(time.time()))
    time.sleep(0.01)
""")
    t.type_line(f"{AS_NOBODY} {PYTHON} clock.py")
    t.wait_for_file("now")
    for _ in range(3):
        t.send("\x1a")
        t.expect("Stopped")
        t.expect(PROMPT)

        def stands():
            before = open(os.path.join(t.directory, "now")).read()
            time.sleep(0.2)
            return before == open(os.path.join(t.directory, "now")).read()
        wait_for(stands, "the command to stand")
        t.foreground()
        wait_for(lambda: not stands(), "the command to go on")
    t.send("\x03")
    t.expect(PROMPT)
    same(130, t.status())


if __name__ == "__main__":
    sys.exit(main(cases_of(globals())))

#!/usr/bin/env python3
"""`plimsoll run` and `batch` under a terminal and a shell with job control, as someone types."""

import fcntl
import os
import pty
import re
import select
import shutil
import signal
import struct
import sys
import tempfile
import termios
import time
import traceback

PLIMSOLL = os.path.realpath(
    os.environ.get("PLIMSOLL") or os.path.dirname(__file__) + "/../../build/plimsoll")
PATIENCE, PROMPT = 60, "ready> "  # as long as anything may take on a loaded machine


class Terminal:
    """A pseudo terminal with an interactive bash in it, whose own settings are left out."""

    def __init__(self, directory):
        self.directory = directory
        self.seen = ""  # since the last expect()
        self.log = ""
        self.pid, self.fd = pty.fork()
        if self.pid == 0:
            signal.signal(signal.SIGPIPE, signal.SIG_DFL)  # Python ignores it
            os.chdir(directory)
            env = dict(os.environ, PS1=PROMPT, PLIMSOLL=PLIMSOLL, TERM="xterm", HISTFILE="",
                       PLIMSOLL_STATE_DIR=directory + "/.s", PLIMSOLL_RUNTIME_DIR=directory + "/.r")
            env.pop("PROMPT_COMMAND", None)
            os.execve("/bin/bash", ["bash", "--norc", "--noprofile", "--noediting", "-i"], env)
        self.resize(24, 80)
        self.expect(PROMPT)

    def resize(self, rows, columns):
        fcntl.ioctl(self.fd, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))

    def send(self, text):
        os.write(self.fd, text.encode())

    def expect(self, pattern, seconds=PATIENCE):
        """Reads until the pattern is there; returns what came before it and the match."""
        end = time.monotonic() + seconds
        while True:
            match = re.search(pattern, self.seen)
            if match:
                before = self.seen[:match.start()]
                self.seen = self.seen[match.end():]
                return before, match
            left = end - time.monotonic()
            if left <= 0 or not select.select([self.fd], [], [], left)[0]:
                raise AssertionError(f"waited in vain for {pattern!r}; since then: {self.seen!r}")
            try:
                text = os.read(self.fd, 65536).decode(errors="replace")
            except OSError:
                raise AssertionError(f"closed before {pattern!r}: {self.seen!r}") from None
            self.seen += text
            self.log += text

    def type_line(self, line):
        """Types a line whose command does not end by itself."""
        self.send(line + "\n")
        self.expect(re.escape(line) + "\r\n")

    def wait_for_foreground(self):
        """Until keys are signals to the command: until then they are to the shell, which ignores
        Ctrl-Z, and sees to Ctrl-C when the command has ended."""
        wait_for(lambda: os.tcgetpgrp(self.fd) != self.pid, "the shell to give the terminal away")

    def foreground(self):
        """Types fg."""
        self.type_line("fg")
        self.wait_for_foreground()

    def command(self, line):
        """Types a line; returns what was printed until the next prompt."""
        self.type_line(line)
        return self.expect(PROMPT)[0]

    def status(self):
        return int(re.search(r"status=(\d+)", self.command('echo "status=$?"')).group(1))

    def modes(self):
        return termios.tcgetattr(self.fd)[:4]

    def wait_for_file(self, name):
        path = os.path.join(self.directory, name)
        wait_for(lambda: os.path.exists(path) and os.path.getsize(path), name)
        return open(path).read().strip()

    def write(self, name, text):
        with open(os.path.join(self.directory, name), "w") as file:
            file.write(text)

    def close(self):
        os.close(self.fd)
        for _ in range(200):
            if os.waitpid(self.pid, os.WNOHANG)[0]:
                return
            time.sleep(0.05)
        os.kill(self.pid, signal.SIGKILL)
        os.waitpid(self.pid, 0)


def wait_for(holds, what):
    end = time.monotonic() + PATIENCE
    while not holds():
        assert time.monotonic() < end, f"waited in vain for {what}"
        time.sleep(0.02)


def state(pid):
    try:
        return open(f"/proc/{pid}/stat").read().rsplit(")", 1)[1].split()[0]
    except OSError:
        return "gone"


def has_ended(pid):
    """Waits for it. Whoever is to take note of its end may not have come to it."""
    wait_for(lambda: state(pid) in ("gone", "Z"), f"the end of process {pid}")


# A run whose terminal is gone may still write its record there.
def remove(directory):
    def is_removed():
        shutil.rmtree(directory, ignore_errors=True)
        return not os.path.exists(directory)

    wait_for(is_removed, f"the removal of {directory}")


def same(expected, seen, what=""):
    assert expected == seen, f"{what}: expected {expected!r}, saw {seen!r}"


RUN = '"$PLIMSOLL" run -q --'
WAITER = "sh -c 'mkfifo go; echo $$ >pid; read word <go; exit 5'"  # in vfork() it would be D, not T


def ctrl_c_ends_the_command(t):
    t.type_line(f"{RUN} sh -c 'echo $$ >pid; exec sleep 1000'")
    pid = t.wait_for_file("pid")
    t.send("\x03")
    t.expect(PROMPT)
    same(130, t.status())
    has_ended(pid)


def ctrl_c_arrives_once(t):
    t.write("count.py", """
import signal, time
got = []
signal.signal(signal.SIGINT, lambda *_: got.append(1))
open("pid", "w").write("x")
while not got: time.sleep(0.01)
time.sleep(0.5)
print("got", len(got))
""")
    t.type_line(f"{RUN} {sys.executable} count.py")
    t.wait_for_file("pid")
    t.send("\x03")
    same("1", t.expect(r"got (\d+)")[1].group(1))
    t.expect(PROMPT)
    same(0, t.status())


def a_command_that_survives_ctrl_c_goes_on(t):
    t.type_line(f"{RUN} sh -c 'trap \"touch trapped\" INT; echo $$ >pid;"
                " until [ -e trapped ]; do sleep 0.05; done; exit 4'")
    t.wait_for_file("pid")
    t.send("\x03")
    t.expect(PROMPT)
    same(4, t.status())


def ctrl_backslash_quits(t):
    t.command("ulimit -c 0")
    t.type_line(f"{RUN} sh -c 'echo $$ >pid; exec sleep 1000'")
    t.wait_for_file("pid")
    t.send("\x1c")
    t.expect(PROMPT)
    same(131, t.status())


def ctrl_z_then_fg(t):
    t.type_line(f"{RUN} {WAITER}")
    pid = t.wait_for_file("pid")
    t.send("\x1a")
    t.expect("Stopped")
    t.expect(PROMPT)
    assert t.status() in (128 + signal.SIGTSTP, 128 + signal.SIGSTOP)
    wait_for(lambda: state(pid) == "T", "the command to stop")
    assert "Stopped" in t.command("jobs")
    t.foreground()
    t.write("go", "go\n")
    t.expect(PROMPT)
    same(5, t.status())


def ctrl_z_then_bg(t):
    t.type_line(f"{RUN} sh -c 'echo $$ >pid; while [ ! -e go ]; do sleep 0.05; done;"
                " echo done >end; exit 6'")
    pid = t.wait_for_file("pid")
    t.send("\x1a")
    t.expect("Stopped")
    t.expect(PROMPT)
    t.command("bg")
    wait_for(lambda: state(pid) in "SR", "the command to go on")
    assert "Running" in t.command("jobs")
    t.command("touch go")
    t.wait_for_file("end")
    t.command("wait %1 2>/dev/null; echo \"status=$?\" >status")
    same("status=6", t.wait_for_file("status"))


def ctrl_z_many_times(t):
    t.type_line(f"{RUN} {WAITER}")
    pid = t.wait_for_file("pid")
    for _ in range(5):
        t.send("\x1a")
        t.expect("Stopped")
        t.expect(PROMPT)
        wait_for(lambda: state(pid) == "T", "the command to stop")  # perhaps the last to
        t.foreground()
        wait_for(lambda: state(pid) in "SR", "the command to go on")
    t.write("go", "go\n")
    t.expect(PROMPT)
    same(5, t.status())


def killed_while_stopped(t):
    t.type_line(f"{RUN} sh -c 'echo $$ >pid; exec sleep 1000'")
    pid = t.wait_for_file("pid")
    t.send("\x1a")
    t.expect("Stopped")
    t.expect(PROMPT)
    t.command("kill %1; fg")
    has_ended(pid)


def a_program_of_the_whole_screen(t):
    """Raw mode, its own Ctrl-Z, and the terminal as it was afterwards: like an editor."""
    t.write("screen.py", """
import os, signal, sys, termios, tty
assert os.tcgetpgrp(0) == os.getpgrp(), "not in the foreground"
before = termios.tcgetattr(0)
def start():
    tty.setraw(0)
    os.write(1, b"SCREEN ")
start()
while True:
    key = os.read(0, 1)
    if key == b"q": break
    if key == b"\\x1a":
        termios.tcsetattr(0, termios.TCSADRAIN, before)
        os.kill(0, signal.SIGTSTP)
        start()
    elif key == b"w":
        size = os.get_terminal_size()
        os.write(1, b"SIZE %dx%d " % (size.columns, size.lines))
    else:
        os.write(1, b"KEY %r " % key)
termios.tcsetattr(0, termios.TCSADRAIN, before)
""")
    before = t.modes()
    t.type_line(f"{RUN} {sys.executable} screen.py")
    t.expect("SCREEN ")
    t.send("\x03")
    t.expect(r"KEY b'\\x03' ")
    t.send("\x1a")
    t.expect("Stopped")
    t.expect(PROMPT)
    same(before, t.modes(), "modes while stopped")
    t.resize(30, 100)
    t.foreground()
    t.expect("SCREEN ")
    t.send("w")
    t.expect("SIZE 100x30 ")
    t.send("q")
    t.expect(PROMPT)
    same(0, t.status())
    same(before, t.modes(), "modes at the end")


def the_size_of_the_window(t):
    t.type_line(f"{RUN} bash -c 'trap \"echo size \\$(stty size)\" WINCH; echo x >pid; "
                "while [ ! -e go ]; do sleep 0.05; done'")
    t.wait_for_file("pid")
    t.resize(40, 120)
    t.expect("size 40 120")
    open(os.path.join(t.directory, "go"), "w").close()
    t.expect(PROMPT)


def an_editor(t):
    editor = shutil.which("vim") or shutil.which("vi")
    if not editor:
        return
    t.type_line(f"{RUN} {editor} -u NONE text")
    t.expect(r"\x1b\[")
    t.send("ihello\x1b\x1a")
    t.expect("Stopped")
    t.expect(PROMPT)
    t.foreground()
    t.expect(r"\x1b\[")
    t.send(":wq\r")
    t.expect(PROMPT)
    same(0, t.status())
    same("hello", t.wait_for_file("text"))


def into_a_pager(t):
    if not shutil.which("less"):
        return
    t.type_line(f"{RUN} seq 100000 | less")
    t.expect("10\r\n")
    t.send("q")
    t.expect(PROMPT)
    assert "141 0" in t.command('echo "${PIPESTATUS[@]}"')
    t.type_line(f"seq 100000 | {RUN} less")
    t.expect("10\r\n")
    t.send("q")
    t.expect(PROMPT)


def in_the_background_of_a_terminal_with_tostop(t):
    t.command("stty tostop")
    t.command(f'"$PLIMSOLL" run -- sh -c "exit 7" & wait $!; echo "status=$?" >status')
    same("status=7", t.wait_for_file("status"))
    t.command("stty -tostop")


def reading_in_the_background_stops_it(t):
    t.command(f"{RUN} sh -c 'echo $$ >pid; read line; echo \"read $line\" >read' &")
    pid = t.wait_for_file("pid")
    wait_for(lambda: state(pid) == "T", "SIGTTIN")
    # The shell has to know of it: what it takes to be running it does not continue.
    wait_for(lambda: "Stopped" in t.command("jobs"), "the shell to see it stopped")
    t.foreground()
    t.send("typed\n")
    same("read typed", t.wait_for_file("read"))
    t.expect(PROMPT)


def the_terminal_goes_away(t):
    t.type_line(f"{RUN} sh -c 'echo $$ >pid; exec sleep 1000'")
    pid = t.wait_for_file("pid")
    t.close()
    has_ended(pid)
    t.closed = True


def coloured_only_on_a_terminal(t):
    assert "\x1b[" in t.command('TERM=xterm "$PLIMSOLL" run -- sh -c "exit 3"')
    assert "\x1b[" not in t.command('NO_COLOR=1 "$PLIMSOLL" run -- sh -c "exit 3"')


def cases_of(names):
    """The cases among what a script defines: functions of a terminal."""
    return [value for value in list(names.values())
            if callable(value) and getattr(value, "__code__", None)
            and value.__code__.co_varnames[:1] == ("t",)]


def run_case(case):
    directory = tempfile.mkdtemp()
    terminal = None
    try:
        terminal = Terminal(directory)
        case(terminal)
        return True
    except Exception as error:
        print(f"FAILED: {case.__name__}: {error}")
        if not isinstance(error, AssertionError):
            traceback.print_exc(file=sys.stdout)
        print(f"  on the terminal: {terminal.log if terminal else ''!r}")
        return False
    finally:
        if terminal and not getattr(terminal, "closed", False):
            terminal.close()
        remove(directory)


def main(cases):
    wanted = sys.argv[1] if len(sys.argv) > 1 else ""
    results = [run_case(case) for case in cases if wanted in case.__name__]
    print(f"{results.count(True)} passed, {results.count(False)} failed")
    return 0 if all(results) else 1


if __name__ == "__main__":
    sys.exit(main(cases_of(globals())))

"""filtered.py HOW COMMAND...: executes the command under a seccomp filter, as a container has one.

  refuse NAME     the system call fails with EPERM
  old-flags       seccomp(2) knows no SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV, as before Linux 5.19
  listen          somebody else listens already to calls that nobody makes
"""

import ctypes
import errno
import os
import platform
import struct
import sys

CALLS = {"x86_64": {"seccomp": 317, "process_vm_readv": 310, "acct": 163},
         "aarch64": {"seccomp": 277, "process_vm_readv": 270, "acct": 89}}[platform.machine()]
ARGUMENTS = 16  # of struct seccomp_data
WAIT_KILLABLE = 1 << 5
LOAD, IF_EQUAL, IF_BITS, RETURN = 0x20, 0x15, 0x45, 0x06
ALLOW, FAIL, NOTIFY = 0x7FFF0000, 0x00050000, 0x7FC00000


def install(filter_lines, flags):
    program = b"".join(struct.pack("HBBI", *line) for line in filter_lines)
    kept = ctypes.create_string_buffer(program)
    fields = struct.pack("HP", len(filter_lines), ctypes.addressof(kept))
    fprog = ctypes.create_string_buffer(fields)
    libc = ctypes.CDLL(None, use_errno=True)
    if os.geteuid() != 0 and libc.prctl(38, 1, 0, 0, 0) != 0:  # PR_SET_NO_NEW_PRIVS
        sys.exit("no_new_privs")
    done = libc.syscall(CALLS["seccomp"], 1, flags, fprog)  # SECCOMP_SET_MODE_FILTER
    if done < 0:
        sys.exit("seccomp: " + os.strerror(ctypes.get_errno()))
    return done


how = sys.argv[1]
command = sys.argv[2:]
if how == "refuse":
    name, *command = command
    install([(LOAD, 0, 0, 0), (IF_EQUAL, 0, 1, CALLS[name]), (RETURN, 0, 0, FAIL | errno.EPERM),
             (RETURN, 0, 0, ALLOW)], 0)
elif how == "old-flags":
    install([(LOAD, 0, 0, 0), (IF_EQUAL, 0, 3, CALLS["seccomp"]), (LOAD, 0, 0, ARGUMENTS + 8),
             (IF_BITS, 0, 1, WAIT_KILLABLE), (RETURN, 0, 0, FAIL | errno.EINVAL),
             (RETURN, 0, 0, ALLOW)], 0)
else:
    listener = install([(LOAD, 0, 0, 0), (IF_EQUAL, 0, 1, CALLS["acct"]), (RETURN, 0, 0, NOTIFY),
                        (RETURN, 0, 0, ALLOW)], 1 << 3)  # SECCOMP_FILTER_FLAG_NEW_LISTENER
    os.set_inheritable(listener, True)
os.execvp(command[0], command)

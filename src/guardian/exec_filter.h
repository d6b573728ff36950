#pragma once

// The seccomp filter by which the supervisor hears of every program that a job's processes execute
// (seccomp(2), seccomp_unotify(2)).
namespace plimsoll::guardian {

// From now on each execve(2) and execveat(2) of this process, its threads and its descendants
// stands in the kernel until whoever holds the listener has answered; every other call goes its
// way. The listener goes over `socket` as one byte with a descriptor, and is closed here. When the
// last descriptor of it is closed, those calls fail with ENOSYS: nothing may outlive its holder.
//
// Without CAP_SYS_ADMIN the kernel wants no_new_privs (prctl(2)), which is set then: set-user-ID
// programs run without their privilege.
//
// False, with errno set: EBUSY if a filter with a listener is there already. Safe between fork and
// exec.
[[nodiscard]] bool install_exec_filter(int socket);

// Whether a signal ends the wait of a call that the holder has heard of, be it not fatal: before
// Linux 5.19 it does, and the call begins anew afterwards.
[[nodiscard]] bool signals_interrupt_execs();

// The errno of an installation here and now, 0 if it would succeed: tried in a child process.
[[nodiscard]] int try_exec_filter();

}  // namespace plimsoll::guardian

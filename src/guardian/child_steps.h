#pragma once

// Steps of a child between its birth and its exec that the kernel has no single call for. The rest
// is in spawner.cc.
namespace plimsoll::guardian {

// Marks every descriptor above 2 close-on-exec: by close_range(2), and where the kernel has not got
// that for marking (before Linux 5.11) or a filter refuses it, one by one as /proc/self/fd lists
// them. False, with errno set: some may be open.
[[nodiscard]] bool mark_descriptors();

// Around the change to another user. The kernel takes root's capabilities away with the uid 0, but
// not those of a caller who has another uid (ambient ones, say of a service), nor the inheritable
// ones; and with the securebits of capabilities(7) it takes away none.
void forget_securebits();  // before: as far as they are not locked
// After. False, with errno set: some may be left.
[[nodiscard]] bool drop_capabilities();

}  // namespace plimsoll::guardian

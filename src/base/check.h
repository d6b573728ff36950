#pragma once

#include <cstdio>
#include <cstdlib>

// Stops the program when `condition` does not hold. Only for mistakes of our own: whatever a user,
// a kernel or another process can cause travels as a Result instead.
#define PLIMSOLL_CHECK(condition)                                                                 \
  do {                                                                                            \
    if (!(condition)) [[unlikely]] {                                                              \
      std::fprintf(stderr, "plimsoll: internal error at %s:%d: assertion failed: %s\n", __FILE__, \
                   __LINE__, #condition);                                                         \
      std::abort();                                                                               \
    }                                                                                             \
  } while (false)

#pragma once

#include <cstddef>
#include <cstdint>

// What the user's input may be at most.
namespace plimsoll::jobfile {

// One run: far beyond what a machine gets done in a month, and a slip such as three crossed lists
// of ten thousand values is told instead of filling the memory.
inline constexpr std::uint64_t kJobsMax = 10'000'000;

// One word of a command, and thus a shell command, which is one word of `/bin/sh -c`: the kernel
// takes 32 pages with the ending NUL (MAX_ARG_STRLEN in linux/binfmts.h).
inline constexpr std::size_t kWordBytesMax = 131'071;

// One input file or standard input: kJobsMax lines of a hundred bytes.
inline constexpr std::size_t kInputBytesMax = std::size_t{1} << 30;

}  // namespace plimsoll::jobfile

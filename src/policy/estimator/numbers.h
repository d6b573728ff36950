#pragma once

#include <cstddef>
#include <vector>

#include "policy/job/job.h"

namespace plimsoll::policy {

// So many numbers of one command are looked at: what people vary comes early.
inline constexpr std::size_t kNumbersMax = 8;

// The numbers among the arguments of the program that does the work, in their order: words such as
// `800`, `-0.5`, `1e6` and `2G`, and the values of `--size=800`, `count=800` and `-n800`. They are
// what the signature leaves out, so jobs of one class differ by them. Not among them are names of
// files and levels such as -O2, which the signature keeps. Pure and total.
[[nodiscard]] std::vector<double> numbers_of(const Command& command);

}  // namespace plimsoll::policy

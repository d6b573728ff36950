#pragma once

#include <string>

#include "base/result.h"

namespace plimsoll::jobfile {

// What errors call the input "-".
inline constexpr char kStandardInputName[] = "standard input";

// The whole text of the file `name`, or of the descriptor `standard_input` where `name` is "-".
// Reads regular files, pipes and terminals to their end and blocks until then. Errors name the
// file; more than kInputBytesMax is one.
[[nodiscard]] Result<std::string> read_input(const std::string& name, int standard_input);

}  // namespace plimsoll::jobfile

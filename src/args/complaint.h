#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace plimsoll::args {

// One line on standard error: "plimsoll: TEXT".
void complain(std::string_view text);

// "; did you mean MEANT?" for the one of `known` most similar to `word`; nothing where none is.
std::string did_you_mean(std::string_view word, const std::vector<std::string>& known);

}  // namespace plimsoll::args

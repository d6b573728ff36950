#pragma once

#include <string>
#include <string_view>

namespace plimsoll::daemon {

// What is wrong with a document, in the words of our other messages: "global.setUmask.umask: found
// \"abc\", expected a whole number, not negative". `told` is what protobuf's parser of JSON says of
// it; what is not known comes back as it is. Lines are not to be had: protobuf does not tell them,
// and what Jsonnet has evaluated has none.
[[nodiscard]] std::string mistake_in_words(std::string_view told);

}  // namespace plimsoll::daemon

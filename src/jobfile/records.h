#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace plimsoll::jobfile {

// What ends a record of the input: `-0` says NUL.
enum class Separator { newline, nul };

// One line, or one NUL-terminated record. Points into the text that it was cut from.
struct Record {
  std::size_t number = 1;  // from 1, empty ones counted
  std::string_view text;   // without its separator
};

// All records of `text`, empty ones too; a missing last separator is the end of the last record.
// `file` is what errors call the text. A NUL byte in a line is an error, since no command and no
// argument can hold one.
[[nodiscard]] Result<std::vector<Record>> split_records(std::string_view text,
                                                        std::string_view file, Separator separator);

}  // namespace plimsoll::jobfile

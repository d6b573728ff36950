#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "jobfile/combinations.h"
#include "jobfile/template.h"

// `--header :`: the first row of each source names its columns.
namespace plimsoll::jobfile {

// Cuts the first row off `source` and appends it to `names`. `place` is where that row stands.
// Errors: there is no row; a name that an earlier column has.
[[nodiscard]] Result<void> take_names(Source& source, std::string_view place,
                                      std::vector<std::string>& names);

// An error where `row` has more or fewer columns than the first row of `source`, if there is one:
// the names of what follows it would be shifted.
[[nodiscard]] Result<void> check_width(const Source& source, const Row& row);

// An error where a word has a `{NAME}` that no column is called. `${NAME}` is the shell's, and
// braces around what is no name, such as `{ print }`, are text.
[[nodiscard]] Result<void> check_names(std::span<const std::string> words,
                                       const TemplateWords& called);

}  // namespace plimsoll::jobfile

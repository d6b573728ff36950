#pragma once

#include <cstddef>
#include <regex>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace plimsoll::jobfile {

// The values that one record of a source gives: one, or one per column.
using Row = std::vector<std::string>;

// The longest record that is cut into columns: the standard library's matcher recurses for each
// character of a match, and its stack must last; an expression that backtracks much takes time that
// grows with the square of the length or worse.
inline constexpr std::size_t kColumnsBytesMax = 8 << 10;

// `--colsep`: cuts a record where a regular expression matches.
class ColumnSplitter {
 public:
  // An ECMAScript regular expression.
  [[nodiscard]] static Result<ColumnSplitter> parse(std::string_view expression);

  // At least one column; blanks around each are dropped. A match of nothing separates nothing. An
  // error where the record is beyond kColumnsBytesMax or too hard for the expression.
  [[nodiscard]] Result<Row> split(std::string_view record) const;

 private:
  std::regex separator_;
};

}  // namespace plimsoll::jobfile

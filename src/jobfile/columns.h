#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace re2 {
class RE2;
}

namespace plimsoll::jobfile {

// The values that one record of a source gives: one, or one per column.
using Row = std::vector<std::string>;

// `--colsep`: cuts a record where a regular expression matches.
class ColumnSplitter {
 public:
  // An expression of RE2: Perl's, but for back references and looking around, without which each
  // search takes time in proportion to the length of the record, whatever the expression. One that
  // is not UTF-8 is taken byte by byte.
  [[nodiscard]] static Result<ColumnSplitter> parse(std::string_view expression);

  // At least one column; blanks around each are dropped. A match of nothing separates nothing.
  [[nodiscard]] Row split(std::string_view record) const;

 private:
  explicit ColumnSplitter(std::shared_ptr<const re2::RE2> separator);

  std::shared_ptr<const re2::RE2> separator_;
};

}  // namespace plimsoll::jobfile

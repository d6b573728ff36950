#include "jobfile/columns.h"

#include <re2/re2.h>

#include <cstddef>
#include <utility>

#include "base/text.h"

namespace plimsoll::jobfile {

ColumnSplitter::ColumnSplitter(std::shared_ptr<const re2::RE2> separator)
    : separator_(std::move(separator)) {}

Result<ColumnSplitter> ColumnSplitter::parse(std::string_view expression) {
  const re2::StringPiece pattern(expression.data(), expression.size());
  re2::RE2::Options options;
  options.set_log_errors(false);
  auto separator = std::make_shared<const re2::RE2>(pattern, options);
  if (separator->error_code() == re2::RE2::ErrorBadUTF8) {
    options.set_encoding(re2::RE2::Options::EncodingLatin1);
    separator = std::make_shared<const re2::RE2>(pattern, options);
  }
  if (!separator->ok()) {
    return fail("--colsep: found \"" + std::string(expression) +
                "\", expected a regular expression (RE2): " + separator->error());
  }
  return ColumnSplitter(std::move(separator));
}

Row ColumnSplitter::split(std::string_view record) const {
  const re2::StringPiece text(record.data(), record.size());
  Row row;
  std::size_t column = 0;  // where it begins
  std::size_t from = 0;    // where the next match is looked for
  re2::StringPiece found;
  while (from <= text.size() &&
         separator_->Match(text, from, text.size(), re2::RE2::UNANCHORED, &found, 1)) {
    const auto at = static_cast<std::size_t>(found.data() - text.data());
    from = at + found.size();
    if (found.empty()) {
      ++from;  // in a character of several bytes nothing but nothing can match
      continue;
    }
    row.emplace_back(trim(record.substr(column, at - column)));
    column = from;
  }
  row.emplace_back(trim(record.substr(column)));
  return row;
}

}  // namespace plimsoll::jobfile

#include "jobfile/columns.h"

#include "base/text.h"

namespace plimsoll::jobfile {

Result<ColumnSplitter> ColumnSplitter::parse(std::string_view expression) {
  ColumnSplitter splitter;
  try {
    splitter.separator_.assign(expression.begin(), expression.end(), std::regex::ECMAScript);
  } catch (const std::regex_error& error) {
    return fail("--colsep: found \"" + std::string(expression) +
                "\", expected a regular expression (ECMAScript): " + error.what());
  }
  return splitter;
}

Result<Row> ColumnSplitter::split(std::string_view record) const {
  if (record.size() > kColumnsBytesMax) {
    return fail("found " + std::to_string(record.size()) + " bytes, expected at most " +
                std::to_string(kColumnsBytesMax) + " where --colsep cuts columns");
  }
  Row row;
  try {
    const char* begin = record.data();
    const char* const end = begin + record.size();
    using Matches = std::cregex_iterator;
    for (Matches match(begin, end, separator_, std::regex_constants::match_not_null);
         match != Matches(); ++match) {
      const auto& found = (*match)[0];
      row.emplace_back(trim({begin, static_cast<std::size_t>(found.first - begin)}));
      begin = found.second;
    }
    row.emplace_back(trim({begin, static_cast<std::size_t>(end - begin)}));
  } catch (const std::regex_error& error) {
    return fail("--colsep: the expression is too hard for this line: " + std::string(error.what()));
  }
  return row;
}

}  // namespace plimsoll::jobfile

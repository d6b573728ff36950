#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

// Aligned text for people: tables, and labelled lines that wrap.
namespace plimsoll::report {

enum class Align : std::uint8_t { left, right };

// One column: its heading and a cell for each row, all printable().
struct Column {
  std::string heading;
  Align align = Align::right;
  std::vector<std::string> cells;
};

// What becomes of a cell of the last column that does not fit.
enum class LastColumn : std::uint8_t { cut, wrapped };

// The columns side by side, each as wide as its widest cell, two spaces between. The last one gets
// what is left of `width`. All columns have equally many cells.
[[nodiscard]] std::string table_text(const std::vector<Column>& columns, std::size_t width,
                                     LastColumn last = LastColumn::cut);

// The width that the last one has then, if its cells are yet to be filled in.
[[nodiscard]] std::size_t last_column_width(const std::vector<Column>& columns, std::size_t width);

// "  label     item, item," and so on in lines of at most `width` columns where the items allow it;
// further lines start below the first item. Nothing if there are no items.
[[nodiscard]] std::string labelled_text(const std::string& label,
                                        const std::vector<std::string>& items, std::size_t width);

}  // namespace plimsoll::report

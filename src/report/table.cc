#include "report/table.h"

#include <algorithm>

#include "report/plain.h"

namespace plimsoll::report {
namespace {

constexpr std::string_view kColumnGap = "  ";
// As wide as the longest label with two spaces after it; the summaries' labels all fit.
constexpr std::size_t kLabelWidth = 15;
constexpr std::size_t kLastColumnMin = 8;  // less says nothing; then lines get longer than `width`

void append_padded(std::string& line, std::string_view cell, std::size_t width, Align align) {
  const std::size_t columns = columns_of(cell);
  const std::string padding(width > columns ? width - columns : 0, ' ');
  if (align == Align::right) line += padding;
  line += cell;
  if (align == Align::left) line += padding;
}

void append_line(std::string& out, std::string line) {
  line.erase(line.find_last_not_of(' ') + 1);
  out += line + '\n';
}

std::vector<std::size_t> widths_of(const std::vector<Column>& columns, std::size_t width) {
  std::vector<std::size_t> widths;
  std::size_t used = 0;
  for (std::size_t c = 0; c + 1 < columns.size(); ++c) {
    std::size_t widest = columns_of(columns[c].heading);
    for (const std::string& cell : columns[c].cells) widest = std::max(widest, columns_of(cell));
    widths.push_back(widest);
    used += kColumnGap.size() + widest;
  }
  used += kColumnGap.size();
  widths.push_back(std::max(kLastColumnMin, width > used ? width - used : 0));
  return widths;
}

}  // namespace

std::size_t last_column_width(const std::vector<Column>& columns, std::size_t width) {
  return columns.empty() ? width : widths_of(columns, width).back();
}

std::string table_text(const std::vector<Column>& columns, std::size_t width, LastColumn last) {
  if (columns.empty()) return {};
  const std::vector<std::size_t> widths = widths_of(columns, width);
  std::string out;
  for (std::size_t row = 0; row <= columns.back().cells.size(); ++row) {
    std::string line;
    for (std::size_t c = 0; c < columns.size(); ++c) {
      const std::string& cell = row == 0 ? columns[c].heading : columns[c].cells[row - 1];
      line += kColumnGap;
      if (last == LastColumn::wrapped && c + 1 == columns.size()) {
        const std::size_t indent = columns_of(line);
        append_wrapped(line, cell, indent, indent + widths[c]);
        line.pop_back();
      } else {
        append_padded(line, fitted(cell, widths[c]), widths[c], columns[c].align);
      }
    }
    append_line(out, std::move(line));
  }
  return out;
}

std::string labelled_text(const std::string& label, const std::vector<std::string>& items,
                          std::size_t width) {
  if (items.empty()) return {};
  std::string out;
  std::string line(kColumnGap);
  append_padded(line, label, kLabelWidth - kColumnGap.size(), Align::left);
  bool first_in_line = true;
  for (std::size_t i = 0; i < items.size(); ++i) {
    const bool last = i + 1 == items.size();
    const std::size_t needs = columns_of(items[i]) + (first_in_line ? 0 : 1) +
                              (last ? 0 : 1);  // space before, comma after
    if (!first_in_line && columns_of(line) + needs > width) {
      append_line(out, std::move(line));
      line = std::string(kLabelWidth, ' ');
      first_in_line = true;
    }
    if (!first_in_line) line += ' ';
    line += items[i];
    if (!last) line += ',';
    first_in_line = false;
  }
  append_line(out, std::move(line));
  return out;
}

}  // namespace plimsoll::report

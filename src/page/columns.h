#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/units.h"
#include "report/json_text.h"

// The small forms in which a page's data is written: whole numbers in coarse units, each as its
// difference from the one before, and texts by their place in a list.
namespace plimsoll::page {

using report::Json;

// A time as a whole number of ticks.
class Ticks {
 public:
  // A tick is a power of ten nanoseconds, at least a microsecond and at most a millionth of what is
  // to be shown: a screen has some thousand pixels, and a zoom of a hundred is to show no steps.
  explicit Ticks(Duration shown);

  [[nodiscard]] Duration length() const { return length_; }
  // The nearest.
  [[nodiscard]] std::int64_t of(Duration time) const;

 private:
  Duration length_{1000};
};

// Memory is told in these: pages are no smaller than four.
[[nodiscard]] std::int64_t kibibytes(Bytes bytes);

// A list of whole numbers, written as differences; null where there is none.
class DeltaColumn {
 public:
  void add(std::optional<std::int64_t> value);
  [[nodiscard]] Json take() { return std::move(list_); }

 private:
  Json list_ = Json::array();
  std::int64_t last_ = 0;
};

// Texts that occur often, each kept once.
class TextTable {
 public:
  // The place of `text` in the list.
  std::size_t place_of(std::string_view text);
  [[nodiscard]] Json take();

 private:
  std::map<std::string, std::size_t, std::less<>> places_;
  std::vector<std::string> texts_;
};

// A sentence taken apart into what is said again and again, and the numbers in it: "needs \n MiB"
// and "12.5". The text does not contain newlines but for these, which stand for the numbers.
struct Sentence {
  std::string frame;
  std::vector<std::string> numbers;  // digits, with points between them
};
[[nodiscard]] Sentence sentence_of(std::string_view text);

// Four digits, which is one more than people are shown: "6.816e+08", "12.5".
[[nodiscard]] std::string rounded(double number);

}  // namespace plimsoll::page

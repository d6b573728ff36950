#include "page/columns.h"

#include <fmt/format.h>

#include "base/text.h"

namespace plimsoll::page {
namespace {

// Of the number at the front: digits, and points between them; 0 if there is none.
std::size_t number_size(std::string_view text) {
  const auto digit_at = [text](std::size_t at) { return at < text.size() && is_digit(text[at]); };
  std::size_t size = 0;
  while (digit_at(size)) {
    ++size;
    if (size < text.size() && text[size] == '.' && digit_at(size + 1)) ++size;
  }
  return size;
}

}  // namespace

Ticks::Ticks(Duration shown) {
  constexpr Duration::rep kTicksMin = 1'000'000;
  while (shown / (length_ * 10) >= kTicksMin) length_ *= 10;
}

std::int64_t Ticks::of(Duration time) const {
  const Duration half = length_ / 2;
  return (time + (time < Duration{} ? -half : half)) / length_;
}

std::int64_t kibibytes(Bytes bytes) {
  constexpr Bytes kHalf{512};
  return static_cast<std::int64_t>((bytes + kHalf).count / 1024);
}

void DeltaColumn::add(std::optional<std::int64_t> value) {
  if (!value) {
    list_.push_back(nullptr);
    return;
  }
  list_.push_back(*value - last_);
  last_ = *value;
}

std::size_t TextTable::place_of(std::string_view text) {
  const auto found = places_.find(text);
  if (found != places_.end()) return found->second;
  texts_.emplace_back(text);
  return places_.emplace(text, texts_.size() - 1).first->second;
}

Json TextTable::take() {
  Json list = Json::array();
  for (std::string& text : texts_) list.push_back(std::move(text));
  return list;
}

Sentence sentence_of(std::string_view text) {
  Sentence sentence;
  while (!text.empty()) {
    const std::size_t size = number_size(text);
    if (size > 0) {
      sentence.frame += '\n';
      sentence.numbers.emplace_back(text.substr(0, size));
      text.remove_prefix(size);
    } else {
      sentence.frame += text.front() == '\n' ? ' ' : text.front();
      text.remove_prefix(1);
    }
  }
  return sentence;
}

std::string rounded(double number) { return fmt::format("{:.4g}", number); }

}  // namespace plimsoll::page

#include "report/shared_text.h"

#include <algorithm>

#include "report/plain.h"

namespace plimsoll::report {
namespace {

constexpr std::string_view kLeftOut = "..";

}  // namespace

void SharedText::add(std::string_view text) {
  if (texts_++ == 0) {
    first_ = text;
    shortest_ = front_ = back_ = text.size();
    return;
  }
  shortest_ = std::min(shortest_, text.size());
  const std::string_view first = first_;
  const auto front =
      std::mismatch(first.begin(), first.begin() + static_cast<long>(std::min(front_, text.size())),
                    text.begin());
  front_ = static_cast<std::size_t>(front.first - first.begin());
  const auto back = std::mismatch(first.rbegin(),
                                  first.rbegin() + static_cast<long>(std::min(back_, text.size())),
                                  text.rbegin());
  back_ = static_cast<std::size_t>(back.first - first.rbegin());
}

std::string SharedText::distinct_part(std::string_view text) const {
  const std::string_view first = first_;
  // Texts that are all the same have nothing of their own; two that repeat a piece share it once.
  if (front_ == shortest_ && back_ == shortest_) return printable(text);
  const std::size_t front_end = first.substr(0, front_).find_last_of(" /");
  const std::size_t front = front_end == std::string_view::npos ? 0 : front_end + 1;
  const std::string_view shared_end =
      first.substr(first.size() - std::min(back_, shortest_ - front));
  const std::size_t back_begin = shared_end.find(' ');
  const std::size_t back =
      back_begin == std::string_view::npos ? 0 : shared_end.size() - back_begin;
  if (front + back >= text.size()) return printable(text);
  std::string own = printable(text.substr(front, text.size() - front - back));
  if (front > kLeftOut.size()) {
    own.insert(0, kLeftOut);
  } else {
    own.insert(0, printable(text.substr(0, front)));
  }
  if (back > 0) own += " " + std::string(kLeftOut);
  return own;
}

std::string SharedText::fitted(std::string_view text, std::size_t width) const {
  std::string whole = printable(text);
  if (columns_of(whole) <= width) return whole;
  return fitted_in_the_middle(distinct_part(text), width);
}

}  // namespace plimsoll::report

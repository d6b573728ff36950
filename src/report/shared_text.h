#pragma once

#include <cstddef>
#include <string>
#include <string_view>

// The commands of a run mostly begin alike, and often end alike: where there is no room for a whole
// one, what it has of its own says which it is.
namespace plimsoll::report {

// What all texts that were added have in common at their ends. Any bytes.
class SharedText {
 public:
  void add(std::string_view text);

  // One of the texts as printable() text of `width` columns or fewer: whole if it fits; else
  // without what all share, as far as that is whole words or directories; else the middle is cut,
  // too. ".." stands for what is left out.
  [[nodiscard]] std::string fitted(std::string_view text, std::size_t width) const;

  // The same without what all share, of whatever length.
  [[nodiscard]] std::string distinct_part(std::string_view text) const;

 private:
  std::string first_;
  std::size_t texts_ = 0;
  std::size_t shortest_ = 0;          // bytes of the shortest
  std::size_t front_ = 0, back_ = 0;  // bytes that all begin, and end, with
};

}  // namespace plimsoll::report

#include "base/words.h"

#include <algorithm>

namespace plimsoll {

Words::Words(std::initializer_list<std::string_view> words) {
  std::size_t bytes = 0;
  for (const std::string_view word : words) bytes += word.size();
  WordsBuilder builder;
  builder.reserve(words.size(), bytes);
  for (const std::string_view word : words) builder.add(word);
  *this = builder.take();
}

Words::Words(const std::vector<std::string>& words) {
  std::size_t bytes = 0;
  for (const std::string& word : words) bytes += word.size();
  WordsBuilder builder;
  builder.reserve(words.size(), bytes);
  for (const std::string& word : words) builder.add(word);
  *this = builder.take();
}

std::vector<std::string> Words::first(std::size_t words_max) const {
  std::vector<std::string> found;
  found.reserve(std::min(size_, words_max));
  for (auto at = begin(); at != end() && found.size() < words_max; ++at) found.emplace_back(*at);
  return found;
}

Words Words::within(std::size_t bytes_max) const {
  if (block().size() <= bytes_max) return *this;
  WordsBuilder kept;
  std::size_t bytes = 0;
  for (const std::string_view word : *this) {
    bytes += word.size() + kAround;
    if (bytes > bytes_max && kept.size() > 0) break;
    kept.add(word);
  }
  return kept.take();
}

Words WordsBuilder::take() {
  Words made;
  if (size_ == 0) return made;
  block_.shrink_to_fit();
  made.size_ = std::exchange(size_, 0);
  made.block_ = std::make_shared<const std::string>(std::exchange(block_, {}));
  return made;
}

}  // namespace plimsoll

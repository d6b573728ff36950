#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <iterator>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace plimsoll {

// The words of a command, or the variables of an environment: made once and never changed, in one
// block that all copies share. So a copy costs the same however many words there are, and so does
// the end of one.
//
// In the block each word has its size before it and a NUL byte after it, as it goes to the guardian
// (guardian/spawn_request.h): word.data() is a C string. A word may hold any byte.
class Words {
 public:
  class Iterator {
   public:
    using iterator_category = std::input_iterator_tag;  // a word is made as it is looked at
    using iterator_concept = std::forward_iterator_tag;
    using difference_type = std::ptrdiff_t;
    using value_type = std::string_view;
    using reference = std::string_view;
    using pointer = const std::string_view*;

    Iterator() = default;
    explicit Iterator(const char* at) : at_(at) {}
    std::string_view operator*() const { return {at_ + sizeof(std::uint32_t), size()}; }
    Iterator& operator++() {
      at_ += kAround + size();
      return *this;
    }
    Iterator operator++(int) {
      const Iterator before = *this;
      ++*this;
      return before;
    }
    bool operator==(const Iterator&) const = default;

   private:
    friend class Words;
    [[nodiscard]] std::uint32_t size() const {
      std::uint32_t size = 0;
      std::memcpy(&size, at_, sizeof size);
      return size;
    }
    const char* at_ = nullptr;
  };
  using iterator = Iterator;
  using const_iterator = Iterator;
  using value_type = std::string_view;

  // What the block has of each word beside its bytes.
  static constexpr std::size_t kAround = sizeof(std::uint32_t) + 1;

  Words() = default;
  Words(std::initializer_list<std::string_view> words);
  Words(const std::vector<std::string>& words);  // NOLINT(google-explicit-constructor): the same

  [[nodiscard]] std::size_t size() const { return size_; }
  [[nodiscard]] bool empty() const { return size_ == 0; }
  [[nodiscard]] std::string_view block() const {
    return block_ == nullptr ? std::string_view() : std::string_view(*block_);
  }
  [[nodiscard]] Iterator begin() const { return Iterator(block().data()); }
  [[nodiscard]] Iterator end() const { return Iterator(block().data() + block().size()); }
  [[nodiscard]] std::string_view front() const { return *begin(); }  // of at least one word

  // The part of the block that begins with this word.
  [[nodiscard]] std::string_view from(Iterator word) const {
    return {word.at_, static_cast<std::size_t>(block().data() + block().size() - word.at_)};
  }

  // Its first words, as strings of their own.
  [[nodiscard]] std::vector<std::string> first(std::size_t words_max) const;
  [[nodiscard]] std::vector<std::string> all() const { return first(size_); }
  // As many of its first words as fit into so many bytes of a block, and at least one.
  [[nodiscard]] Words within(std::size_t bytes_max) const;

  // No word is looked at by itself.
  bool operator==(const Words& other) const {
    return size_ == other.size_ && block() == other.block();
  }

 private:
  friend class WordsBuilder;
  std::shared_ptr<const std::string> block_;
  std::size_t size_ = 0;
};

// Makes Words, one after the other.
class WordsBuilder {
 public:
  // Room for so many words, and so many bytes of them.
  void reserve(std::size_t words, std::size_t bytes) {
    block_.reserve(bytes + words * Words::kAround);
  }
  void add(std::string_view word) {
    add_size(word.size());
    block_.append(word).push_back('\0');
  }
  // One word of these.
  void add(std::string_view first, std::string_view second, std::string_view third = {}) {
    add_size(first.size() + second.size() + third.size());
    block_.append(first).append(second).append(third).push_back('\0');
  }
  void add(const Words& words) {
    block_.append(words.block());
    size_ += words.size();
  }
  [[nodiscard]] std::size_t size() const { return size_; }
  [[nodiscard]] Words take();

 private:
  void add_size(std::size_t size) {
    const auto before = static_cast<std::uint32_t>(size);
    block_.append(reinterpret_cast<const char*>(&before), sizeof before);
    ++size_;
  }

  std::string block_;
  std::size_t size_ = 0;
};

}  // namespace plimsoll

#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

// Reasons that say the same with other numbers, told together.
namespace plimsoll::report {

// A reason with its numbers taken out ("needs ..., only ... is free"): equal for reasons that say
// the same.
[[nodiscard]] std::string without_numbers(std::string_view reason);

// Reasons that are equal without_numbers(), as one sentence.
class MergedReason {
 public:
  explicit MergedReason(std::string_view reason);

  void add(std::string_view reason);

  // Numbers that were always the same as they are, the others from the least to the greatest:
  // "waits for cores: the running jobs want 1.9 to 2.4 and there are 2".
  [[nodiscard]] std::string text() const;

 private:
  // A word, or a number with its unit.
  struct Part {
    std::string text;             // a word; of a number the one that came first
    std::optional<double> least;  // of a number whose size is known
    std::optional<double> greatest;
    std::string least_text, greatest_text;
    std::string unit;         // of all that came; empty: none, or several
    std::string punctuation;  // behind a number
    bool is_number = false;
    bool differs = false;
  };
  static std::vector<Part> parts_of(std::string_view reason);
  friend std::string without_numbers(std::string_view reason);

  std::vector<Part> parts_;
};

}  // namespace plimsoll::report

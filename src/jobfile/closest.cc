#include "jobfile/closest.h"

#include <algorithm>
#include <array>
#include <cstddef>

namespace plimsoll::jobfile {
namespace {

constexpr std::size_t kCompared = 64;

// Damerau and Levenshtein's distance (optimal string alignment) with three rows of its table.
std::size_t distance(std::string_view a, std::string_view b) {
  std::array<std::size_t, kCompared + 1> before{}, last{}, row{};
  for (std::size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    before = last;
    last = row;
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t replaced = last[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      row[j] = std::min({last[j] + 1, row[j - 1] + 1, replaced});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
        row[j] = std::min(row[j], before[j - 2] + 1);
      }
    }
  }
  return row[b.size()];
}

}  // namespace

std::optional<std::string_view> closest(std::string_view word,
                                        std::span<const std::string_view> known) {
  word = word.substr(0, kCompared);
  std::optional<std::string_view> best;
  std::size_t least = 0, of = 1;  // letters of the longer of two
  for (const std::string_view candidate : known) {
    const std::string_view compared = candidate.substr(0, kCompared);
    const std::size_t letters = distance(word, compared);
    const std::size_t longer = std::max(word.size(), compared.size());
    if (letters * 2 > longer || (best && letters * of >= least * longer)) continue;
    best = candidate;
    least = letters;
    of = longer;
  }
  return best;
}

}  // namespace plimsoll::jobfile

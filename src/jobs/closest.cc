#include "jobs/closest.h"

#include <algorithm>
#include <array>
#include <cstddef>

namespace plimsoll::jobs {
namespace {

constexpr std::size_t kCompared = 64;

// Levenshtein's distance with one row of his table.
std::size_t distance(std::string_view a, std::string_view b) {
  std::array<std::size_t, kCompared + 1> row{};
  for (std::size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t replaced = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = row[j];
      row[j] = std::min({row[j] + 1, row[j - 1] + 1, replaced});
    }
  }
  return row[b.size()];
}

}  // namespace

std::optional<std::string_view> closest(std::string_view word,
                                        std::span<const std::string_view> known) {
  word = word.substr(0, kCompared);
  std::optional<std::string_view> best;
  std::size_t least = 0;
  for (const std::string_view candidate : known) {
    const std::string_view compared = candidate.substr(0, kCompared);
    const std::size_t letters = distance(word, compared);
    if (letters * 2 > std::max(word.size(), compared.size())) continue;
    if (best && letters >= least) continue;
    best = candidate;
    least = letters;
  }
  return best;
}

}  // namespace plimsoll::jobs

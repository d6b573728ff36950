#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "page/record.h"

// Runs as the JSON document `plimsoll.page/1` that page/src/data.ts reads.
namespace plimsoll::page {

// A run and what was reckoned of it: documents as docs/ describes them, or empty.
struct ShownRun {
  Record record{};
  std::string advice{};  // plimsoll.advice/1
  std::string whatif{};  // plimsoll.whatif/1
};

// What a page shows.
struct Contents {
  std::vector<ShownRun> runs;  // one, or two that are compared, the earlier first
  std::string comparison{};    // of two: plimsoll.comparison/1
};

// The points of all curves together: at 2 bytes each, what leaves a page of 10,000 jobs below 2 MB
// and one of 1,000 below 300 KB.
inline constexpr std::size_t kCurvePointsMax = 40'000;
// Of one job: the pixels of its picture, nearly.
inline constexpr std::size_t kCurvePointsOfJobMax = 240;
// Of one job in a run of very many: start, end, and two peaks between them.
inline constexpr std::size_t kCurvePointsOfJobMin = 4;
// Of the machine.
inline constexpr std::size_t kSystemPointsMax = 1'000;

// One line of UTF-8; bytes that are none become U+FFFD.
[[nodiscard]] std::string document_of(const Contents& contents);

}  // namespace plimsoll::page

#include "report/thinned.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <array>
#include <optional>

namespace plimsoll::report {
namespace {

struct Dot {
  Duration t{};
  int height = 0;
};

struct DotTraits {
  static Duration time_of(const Dot& dot) { return dot.t; }
  static std::array<std::optional<double>, 1> gauges(const Dot& dot) { return {dot.height}; }
};

std::vector<const Dot*> all_of(const std::vector<Dot>& dots) {
  std::vector<const Dot*> all;
  for (const Dot& dot : dots) all.push_back(&dot);
  return all;
}

TEST(Thinned, FewStayAsTheyAre) {
  const std::vector<Dot> dots(3);
  EXPECT_EQ(thinned<DotTraits>(all_of(dots), 3), all_of(dots));
  EXPECT_TRUE(thinned<DotTraits>(std::vector<const Dot*>(), 3).empty());
}

TEST(Thinned, OfEqualsTheFirstStays) {
  const std::vector<Dot> dots = {{Duration(0)}, {Duration(1), 5}, {Duration(2), 5}, {Duration(3)}};
  const auto kept = thinned<DotTraits>(all_of(dots), 3);
  ASSERT_EQ(kept.size(), 3U);
  EXPECT_EQ(kept[1], &dots[1]);
}

TEST(Thinned, OfOneMomentIsThinnedToo) {
  const std::vector<Dot> dots(50);
  EXPECT_EQ(thinned<DotTraits>(all_of(dots), 10).size(), 3U);
}

RC_GTEST_PROP(Thinned, IsBoundedInOrderAndKeepsEndsAndHeight, ()) {
  const auto gaps = *rc::gen::container<std::vector<int>>(rc::gen::inRange(0, 50));
  std::vector<Dot> dots(1);
  for (const int gap : gaps) {
    dots.push_back({dots.back().t + Duration(gap), *rc::gen::inRange(0, 9)});
  }
  const auto most = *rc::gen::inRange<std::size_t>(3, 25);
  const auto all = all_of(dots);
  const auto kept = thinned<DotTraits>(all, most);
  RC_ASSERT(kept.size() <= most);
  RC_ASSERT(kept.front() == all.front());
  RC_ASSERT(kept.back() == all.back());
  RC_ASSERT(std::ranges::is_sorted(kept));  // by address: a subsequence
  RC_ASSERT(std::ranges::adjacent_find(kept) == kept.end());
  const auto height = [](const Dot* dot) { return dot->height; };
  RC_ASSERT(height(std::ranges::max(kept, {}, height)) ==
            height(std::ranges::max(all, {}, height)));
}

}  // namespace
}  // namespace plimsoll::report

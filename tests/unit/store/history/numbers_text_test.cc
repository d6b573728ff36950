#include "store/history/columns.h"

#include <gtest/gtest.h>

#include "policy/estimator/numbers.h"

namespace plimsoll::history {
namespace {

TEST(NumbersText, ComesBackAsItWas) {
  for (const std::vector<double>& numbers :
       std::vector<std::vector<double>>{{}, {800}, {800, 1}, {-0.1, 1e300, 5e-324, 1.0 / 3}}) {
    EXPECT_EQ(parse_numbers(numbers_text(numbers)), numbers) << numbers_text(numbers);
  }
  EXPECT_EQ(numbers_text({800, 0.5}), "800 0.5");
}

TEST(NumbersText, OfAnotherFormIsNothing) {
  for (const char* text : {" ", "1  2", "x", "1x", "inf", "nan", "1 2 3 4 5 6 7 8 9"}) {
    EXPECT_EQ(parse_numbers(text), std::nullopt) << text;
  }
}

}  // namespace
}  // namespace plimsoll::history

#include "kernel/counters/parse_pressure.h"

#include <gtest/gtest.h>

namespace plimsoll::counters {
namespace {

using namespace std::chrono_literals;

TEST(ParsePressure, ReadsBothLines) {
  const Pressure pressure = parse_pressure(
      "some avg10=12.50 avg60=3.04 avg300=0.91 total=4207183\n"
      "full avg10=7.25 avg60=1.00 avg300=0.20 total=1993007\n");
  EXPECT_EQ(pressure.some, (PressureLine{12.5, 3.04, 0.91, 4'207'183us}));
  EXPECT_EQ(pressure.full, (PressureLine{7.25, 1, 0.2, 1'993'007us}));
}

TEST(ParsePressure, TakesWhatThereIs) {
  struct Case {
    const char* name;
    const char* text;
    bool some, full;
  };
  for (const Case& c : {
           Case{"no final newline", "some avg10=0.00 total=1", true, false},
           Case{"irq.pressure", "full avg10=0.00 avg60=0.00 avg300=0.00 total=9\n", false, true},
           Case{"empty", "", false, false},
           Case{"blank lines", "\n\nsome total=1\n\n", true, false},
           Case{"unknown line", "most avg10=1.00 total=1\nfull total=2\n", false, true},
           Case{"unknown field", "some max10=1.5e3 total=4 jiffies\n", true, false},
           Case{"name alone", "some\nfull \n", false, false},
           Case{"no total", "some avg10=1.00\n", false, false},
           Case{"total without value", "some total=\n", false, false},
           Case{"total beyond 64 bits", "some total=18446744073709551616\n", false, false},
           Case{"negative total", "some total=-1\n", false, false},
       }) {
    const Pressure pressure = parse_pressure(c.text);
    EXPECT_EQ(pressure.some.has_value(), c.some) << c.name;
    EXPECT_EQ(pressure.full.has_value(), c.full) << c.name;
  }
}

TEST(ParsePressure, DamagedAveragesAreZeroAndHugeTotalsDoNotOverflow) {
  const Pressure pressure = parse_pressure("some avg10=nan avg60= total=18446744073709551615\n");
  EXPECT_EQ(pressure.some, (PressureLine{.total = Duration::max()}));
}

}  // namespace
}  // namespace plimsoll::counters

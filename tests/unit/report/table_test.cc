#include "report/table.h"

#include <gtest/gtest.h>

namespace plimsoll::report {
namespace {

const std::vector<Column> kColumns = {
    {.heading = "tool", .align = Align::left, .cells = {"make", "cargo"}},
    {.heading = "how", .align = Align::left, .cells = {"it runs as many jobs as it gets", "so"}}};

TEST(Table, CutsWhatDoesNotFit) {
  EXPECT_EQ(table_text(kColumns, 24),
            "  tool   how\n"
            "  make   it runs as ma..\n"
            "  cargo  so\n");
}

TEST(Table, WrapsWhatDoesNotFitIfAsked) {
  EXPECT_EQ(table_text(kColumns, 35, LastColumn::wrapped),
            "  tool   how\n"
            "  make   it runs as many jobs as it\n"
            "         gets\n"
            "  cargo  so\n");
}

}  // namespace
}  // namespace plimsoll::report

#include "cli/command/meeting.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace plimsoll::cli {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

struct Told : Notices {
  void note(const std::string& text) override { texts.push_back(text); }
  std::vector<std::string> texts;
};

std::vector<std::string> told_of(const Meeting& meeting) {
  Told told;
  tell_missed(meeting, told);
  return told.texts;
}

TEST(Meeting, OneReasonIsToldOnce) {
  EXPECT_THAT(
      told_of({.ledger = fail("/d: found mode 755"), .control = fail("/d: found mode 755")}),
      ElementsAre(AllOf(HasSubstr("the line is not shared"), HasSubstr("plimsoll ctl"),
                        EndsWith(": /d: found mode 755"))));
}

TEST(Meeting, OtherReasonsAreToldApart) {
  EXPECT_THAT(told_of({}), IsEmpty());
  EXPECT_THAT(told_of({.ledger = fail("full"), .control = {}}),
              ElementsAre("the line is not shared: full"));
  EXPECT_THAT(told_of({.ledger = {}, .control = fail("too long")}),
              ElementsAre("`plimsoll ctl` cannot control this run: too long"));
  EXPECT_THAT(told_of({.ledger = fail("full"), .control = fail("too long")}),
              ElementsAre(EndsWith("full"), EndsWith("too long")));
}

}  // namespace
}  // namespace plimsoll::cli

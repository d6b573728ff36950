#include "daemon/api/jobs_messages.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "daemon/grpc/quiet.h"

namespace plimsoll::daemon {
namespace {

using ::testing::HasSubstr;
using namespace std::chrono_literals;

TEST(MessageOf, AnEndHasTheReportAndOnlyWhatIsKnown) {
  report::JobReport report;
  report.outcome = policy::Outcome::signalled;
  report.signal = 11;
  const v1::Ended ended = message_of(report).ended();
  EXPECT_EQ(ended.outcome(), "signalled");
  EXPECT_FALSE(ended.has_exit_code());
  EXPECT_EQ(ended.signal(), 11);
  EXPECT_THAT(ended.report(), HasSubstr("\"outcome\":\"signalled\""));
}

TEST(MessageOf, AStoryKeepsItsNumbers) {
  const JobStory story{.decisions = {{.at = 1500ms,
                                      .kind = policy::EventKind::held,
                                      .reason = "no room",
                                      .numbers = {{"used_bytes", 7}}}},
                       .cut = true};
  const v1::ExplainResponse response = message_of(story);
  ASSERT_EQ(response.decisions_size(), 1);
  EXPECT_EQ(response.decisions(0).at().seconds(), 1);
  EXPECT_EQ(response.decisions(0).at().nanos(), 500'000'000);
  EXPECT_EQ(response.decisions(0).kind(), "held");
  EXPECT_EQ(response.decisions(0).numbers().at("used_bytes"), 7);
  EXPECT_TRUE(response.cut());
}

TEST(KeepLibrariesQuiet, AMessageThatIsWrongIsRefusedAndNothingIsPrinted) {
  const std::string wrong = "\x0a\x01\xff";  // a name that is not UTF-8
  v1::JobSpec job;
  testing::internal::CaptureStderr();
  EXPECT_FALSE(job.ParseFromString(wrong));
  EXPECT_THAT(testing::internal::GetCapturedStderr(), HasSubstr("UTF-8"));
  keep_libraries_quiet();
  testing::internal::CaptureStderr();
  EXPECT_FALSE(job.ParseFromString(wrong));
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
}

}  // namespace
}  // namespace plimsoll::daemon

#include "supervisor/run/run_summary.h"

#include <gtest/gtest.h>

namespace plimsoll::supervisor {
namespace {

TEST(OutputPaths, AreTheJobsOwnElseBelowTheResults) {
  policy::JobSpec job;
  job.name = "a/b";
  EXPECT_EQ(output_paths_of(job, {}).out, "");
  EXPECT_EQ(output_paths_of(job, "/out/").out, "/out/a%2fb/stdout");
  EXPECT_EQ(output_paths_of(job, "/out").err, "/out/a%2fb/stderr");
  job.stderr_path = "/src/log";
  EXPECT_EQ(output_paths_of(job, "/out").out, "/out/a%2fb/stdout");
  EXPECT_EQ(output_paths_of(job, "/out").err, "/src/log");
  EXPECT_EQ(output_paths_of(job, {}).err, "/src/log");
  EXPECT_EQ(output_paths_of(job, {}).out, "");
}

}  // namespace
}  // namespace plimsoll::supervisor

#include "cli/parallel_options.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace plimsoll::cli {
namespace {

TEST(ParallelHint, SaysWhatThereIsInstead) {
  EXPECT_EQ(parallel_hint("--xapply"),
            "it is an option of GNU parallel; here sources are linked by :::+ and ::::+");
  EXPECT_THAT(parallel_hint("-N").value_or(""), testing::HasSubstr("-n N"));
  EXPECT_EQ(parallel_hint("--frobnicate"), std::nullopt);
  EXPECT_EQ(parallel_hint(""), std::nullopt);
}

// An option can't be taken and explained away at once.
TEST(AddParallelOptions, TakesWhatItDoesNotHintAt) {
  BatchOptions options;
  CLI::App app("", "batch");
  add_parallel_options(app, options);
  for (const CLI::Option* option : app.get_options()) {
    for (const std::string& name : option->get_lnames()) {
      EXPECT_EQ(parallel_hint("--" + name), std::nullopt) << name;
    }
    for (const std::string& name : option->get_snames()) {
      EXPECT_EQ(parallel_hint("-" + name), std::nullopt) << name;
    }
  }
  app.parse("-P3 -C , --lb --wd d -r -i --bar --eta --will-cite --dryrun");
  EXPECT_EQ(options.governor.jobs_max, 3u);
  EXPECT_EQ(options.input.colsep, ",");
  EXPECT_EQ(options.order, output::Order::line);
  EXPECT_EQ(options.input.defaults.cwd, "d");
  EXPECT_TRUE(options.dry_run);
}

}  // namespace
}  // namespace plimsoll::cli

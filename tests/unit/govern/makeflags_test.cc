#include "govern/makeflags.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <string>
#include <vector>

namespace plimsoll::govern {
namespace {

TEST(MakeFlags, SaysWhoseJobsThereAre) {
  const struct {
    const char* makeflags;
    MakeJobs expected;
  } cases[] = {
      {"", MakeJobs::nothing},
      {"k", MakeJobs::nothing},
      {" -j", MakeJobs::number},
      {" -j8", MakeJobs::number},
      {"k -j8 -l4", MakeJobs::number},
      {"-kj8", MakeJobs::number},
      {"j8", MakeJobs::number},  // the first word needs no dash
      {"kj8 -l4", MakeJobs::number},
      {" j", MakeJobs::number},
      {"k j8", MakeJobs::nothing},  // a target
      {"j=8", MakeJobs::nothing},
      {" --jobs=8", MakeJobs::number},
      {" -I/usr/obj", MakeJobs::nothing},
      {" -j8 --jobserver-auth=3,4", MakeJobs::jobserver},
      {" -j8 --jobserver-fds=3,4", MakeJobs::jobserver},
      {" --jobserver-auth=-2,-2", MakeJobs::jobserver},  // of a make above that keeps it to itself
      {" -j --jobserver-auth=fifo:/tmp/GmFIFO12", MakeJobs::jobserver},
      {"s -- CFLAGS=-j8", MakeJobs::nothing},
      {"s -- X=\\ --jobserver-auth=3,4", MakeJobs::nothing},
  };
  for (const auto& each : cases) {
    EXPECT_EQ(jobs_in_makeflags(each.makeflags), each.expected) << each.makeflags;
  }
}

TEST(MakeFlags, ANewJobserverStandsAmongTheOptions) {
  EXPECT_EQ(with_jobserver("", "100,101", 4), " -j4 --jobserver-auth=100,101");
  EXPECT_EQ(with_jobserver("ks", "100,101", 4), "ks -j4 --jobserver-auth=100,101");
  EXPECT_EQ(with_jobserver("s -l8 -- A=1 B=2", "fifo:/run/x", 2),
            "s -l8 -j2 --jobserver-auth=fifo:/run/x -- A=1 B=2");
  EXPECT_EQ(with_jobserver("-- A=1", "100,101", 4), " -j4 --jobserver-auth=100,101 -- A=1");
  EXPECT_EQ(with_jobserver(" -- A=1", "100,101", 4), " -j4 --jobserver-auth=100,101 -- A=1");
}

// Whatever stood there still does, and what was added is found.
RC_GTEST_PROP(MakeFlagsProperty, OnlyTheJobserverIsAdded, ()) {
  const auto words = *rc::gen::container<std::vector<std::string>>(
      rc::gen::element<std::string>("k", "-l4", "--", "A=1", "", "-Idir"));
  std::string given;
  for (const std::string& word : words) given += (given.empty() ? "" : " ") + word;
  const std::string made = with_jobserver(given, "100,101", 3);
  const std::string added = " -j3 --jobserver-auth=100,101";
  const auto at = made.find(added);
  RC_ASSERT(at != std::string::npos);
  const std::string before = made.substr(0, at), after = made.substr(at + added.size());
  RC_ASSERT(before + after == given || (before.empty() && after == " " + given));
  RC_ASSERT(jobs_in_makeflags(made) == MakeJobs::jobserver);
}

TEST(MakeFlags, ACommandThatNamesItsJobsIsSeen) {
  const std::vector<std::string> with[] = {
      {"make", "-j64"},
      {"make", "-j", "64"},
      {"make", "-skj8"},
      {"ninja", "-j0"},
      {"cmake", "--build", "build", "--parallel", "32"},
      {"make", "--jobs=4", "all"},
      {"sh", "-c", "cd sub && make -j8;echo done"},
      {"cargo", "build", "-j2"},
  };
  for (const auto& command : with) EXPECT_TRUE(names_jobs(command)) << command.back();
  const std::vector<std::string> without[] = {
      {"make"},
      {"make", "-f", "j8.mk"},
      {"cargo", "build", "--job-x"},
      {"sh", "-c", "make all"},
      {"tar", "-cjf", "x.tar"},
      {"make", "-Cobj"},
      {"./obj-j8"},
  };
  for (const auto& command : without) EXPECT_FALSE(names_jobs(command)) << command.back();
}

}  // namespace
}  // namespace plimsoll::govern

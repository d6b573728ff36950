#include "govern/build_tools.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

namespace plimsoll::govern {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

ToolVerdict verdict(std::string_view name, std::string_view output) {
  const auto tools = build_tools();
  const auto found = std::find_if(tools.begin(), tools.end(),
                                  [name](const BuildTool& tool) { return tool.name == name; });
  EXPECT_NE(found, tools.end()) << name;
  return verdict_of(*found, output);
}

TEST(BuildTools, VersionsAreReadAsToolsPrintThem) {
  EXPECT_EQ(version_in("GNU Make 4.3\nBuilt for x86_64"), (ToolVersion{4, 3}));
  EXPECT_EQ(version_in("1.11.1\n"), (ToolVersion{1, 11}));
  EXPECT_EQ(version_in("gcc (Debian 12.2.0-14+deb12u1) 12.2.0"), (ToolVersion{12, 2}));
  EXPECT_EQ(version_in("go version go1.26.8 linux/amd64"), (ToolVersion{1, 26}));
  EXPECT_EQ(version_in("cargo 1.95.0 (f2d3ce0bd 2026-03-21)"), (ToolVersion{1, 95}));
  EXPECT_EQ(version_in("version 4"), std::nullopt);
  EXPECT_EQ(version_in("4. 3 .5"), std::nullopt);
  EXPECT_EQ(version_in("99999999999999999999.1"), std::nullopt);
  EXPECT_EQ(version_in(""), std::nullopt);
}

TEST(BuildTools, WhatIsReadFollowsFromTheVersion) {
  EXPECT_THAT(verdict("make", "GNU Make 4.3").styles, ElementsAre(TokenStyle::pipe));
  EXPECT_THAT(verdict("make", "GNU Make 4.4.1").styles,
              ElementsAre(TokenStyle::pipe, TokenStyle::fifo));
  EXPECT_THAT(verdict("ninja", "1.11.1").styles, IsEmpty());
  EXPECT_THAT(verdict("ninja", "1.11.1").how, HasSubstr("as many jobs as -j says"));
  EXPECT_THAT(verdict("ninja", "1.13.1").styles, ElementsAre(TokenStyle::fifo));
  EXPECT_THAT(verdict("ninja", "1.13.0.git.kitware.jobserver-pipe-1").styles,
              ElementsAre(TokenStyle::pipe, TokenStyle::fifo));
  EXPECT_THAT(verdict("gcc", "gcc (Debian 12.2.0-14) 12.2.0").styles,
              ElementsAre(TokenStyle::pipe));
  EXPECT_THAT(verdict("gcc", "gcc (Debian 14.2.0-19) 14.2.0").styles,
              ElementsAre(TokenStyle::pipe, TokenStyle::fifo));
  EXPECT_THAT(verdict("go", "go version go1.26.8 linux/amd64").styles, IsEmpty());
}

// One that does not tell its version is an old one.
TEST(BuildTools, SilenceIsAnOldVersion) {
  EXPECT_THAT(verdict("make", "").styles, ElementsAre(TokenStyle::pipe));
  EXPECT_THAT(verdict("ctest", "").styles, IsEmpty());
}

TEST(BuildTools, EachSaysHowItIsGoverned) {
  for (const BuildTool& tool : build_tools()) {
    for (const char* output : {"", "1000.0"}) {
      EXPECT_THAT(verdict_of(tool, output).how, ::testing::EndsWith(".")) << tool.name;
    }
  }
}

TEST(BuildTools, TheStyleIsOneThatNobodyFailsOn) {
  EXPECT_EQ(choose_style({}).style, TokenStyle::fifo);
  const ClientVersions debian12{.make = "GNU Make 4.3", .gcc = "gcc 12.2.0", .ninja = "1.11.1"};
  EXPECT_EQ(choose_style(debian12).style, TokenStyle::pipe);
  EXPECT_EQ(choose_style(debian12).why, "make 4.3 reads no fifo");
  const ClientVersions debian13{.make = "GNU Make 4.4.1", .gcc = "gcc 14.2.0", .ninja = "1.12.1"};
  EXPECT_EQ(choose_style(debian13).style, TokenStyle::fifo);
  const ClientVersions old_gcc{.make = "GNU Make 4.4.1", .gcc = "gcc 12.2.0", .ninja = {}};
  EXPECT_EQ(choose_style(old_gcc).style, TokenStyle::pipe);
  const ClientVersions new_ninja{.make = "GNU Make 4.3", .gcc = "gcc 12.2.0", .ninja = "1.13.1"};
  EXPECT_EQ(choose_style(new_ninja).style, std::nullopt);
  EXPECT_EQ(choose_style(new_ninja).why,
            "make 4.3 reads no fifo, and ninja 1.13 reads nothing else");
}

}  // namespace
}  // namespace plimsoll::govern

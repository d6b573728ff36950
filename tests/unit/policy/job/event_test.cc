#include "policy/job/event.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace plimsoll::policy {
namespace {

TEST(EventKind, EveryKindHasItsName) {
  for (std::size_t i = 0; i < kEventKinds; ++i) {
    const auto kind = static_cast<EventKind>(i);
    EXPECT_EQ(event_kind(name_of(kind)), kind);
  }
  EXPECT_EQ(name_of(EventKind::queued), "queued");
  EXPECT_EQ(name_of(EventKind::line), "line");
  EXPECT_EQ(event_kind("Queued"), std::nullopt);
  EXPECT_EQ(event_kind(""), std::nullopt);
}

}  // namespace
}  // namespace plimsoll::policy

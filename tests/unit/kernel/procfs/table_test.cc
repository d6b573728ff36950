#include "kernel/procfs/table.h"

#include <gtest/gtest.h>
#include <unistd.h>

namespace plimsoll::procfs {
namespace {

TEST(FamilyOf, BeginsWithTheProcess) {
  EXPECT_EQ(family_of(::getpid()), std::vector<int>({::getpid()}));
}

}  // namespace
}  // namespace plimsoll::procfs

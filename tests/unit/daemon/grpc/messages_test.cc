#include "daemon/grpc/messages.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "plimsoll/v1/jobs.pb.h"

namespace plimsoll::daemon {
namespace {

using ::testing::HasSubstr;

constexpr int kNobodyKnows = 15;

grpc::ByteBuffer with_unknown(std::size_t bytes) {
  v1::SignalRequest request;
  request.set_job(7);
  request.GetReflection()->MutableUnknownFields(&request)->AddLengthDelimited(
      kNobodyKnows, std::string(bytes, 'x'));
  return packed(request);
}

TEST(ReadShort, HasWhatIsKnownAlone) {
  auto bytes = with_unknown(1000);
  const auto read = read_short<v1::SignalRequest>(bytes);
  ASSERT_TRUE(read);
  EXPECT_EQ(read->job(), 7u);
  EXPECT_TRUE(read->GetReflection()->GetUnknownFields(*read).empty());
}

TEST(ReadShort, WhatIsLongerIsNotRead) {
  auto bytes = with_unknown(kShortMessageMax);
  const auto read = read_short<v1::SignalRequest>(bytes);
  ASSERT_FALSE(read);
  EXPECT_EQ(read.error().code, std::errc::not_enough_memory);
  EXPECT_THAT(read.error().what, HasSubstr("expected at most 64 KiB"));
  EXPECT_EQ(bytes.Length(), 0u);
}

TEST(ReadShort, SaysWhatWasExpected) {
  const grpc::Slice slice(std::string("\x08"));  // a number that does not come
  grpc::ByteBuffer bytes(&slice, 1);
  const auto read = read_short<v1::SignalRequest>(bytes);
  ASSERT_FALSE(read);
  EXPECT_EQ(read.error().code, std::errc::invalid_argument);
  EXPECT_THAT(read.error().what, HasSubstr("expected a plimsoll.v1.SignalRequest"));
}

}  // namespace
}  // namespace plimsoll::daemon

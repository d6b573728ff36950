#include "daemon/grpc/outbox.h"

#include <gtest/gtest.h>

#include <memory>

namespace plimsoll::daemon {
namespace {

struct Sized {
  std::size_t bytes = 0;
  [[nodiscard]] std::size_t ByteSizeLong() const { return bytes; }
};

// A client that takes a message when the test says so.
struct Taker {
  void StartWrite(const Sized* message) { taking = message; }
  void Finish(const grpc::Status& status) { ended = status; }
  void read_on() {}
  const Sized* taking = nullptr;
  std::optional<grpc::Status> ended;
};

using Box = Outbox<Taker, Sized>;
constexpr std::size_t kPiece = 64 << 10;

TEST(Outbox, MessagesGoOneAfterTheOther) {
  Taker taker;
  const auto bytes = std::make_shared<ByteCount>(0);
  Box box(taker, bytes);
  box.send({.bytes = 1});
  box.send({.bytes = 2});
  box.finish(grpc::Status::OK);
  EXPECT_EQ(taker.taking->bytes, 1u);
  EXPECT_EQ(*bytes, 3u);
  box.written();
  EXPECT_EQ(taker.taking->bytes, 2u);
  EXPECT_EQ(*bytes, 2u);
  EXPECT_FALSE(taker.ended);
  box.written();
  EXPECT_TRUE(taker.ended->ok());
  EXPECT_EQ(*bytes, 0u);
}

TEST(Outbox, WhoTakesNothingIsTooMuchAndThenLetGoOf) {
  Taker taker;
  const auto bytes = std::make_shared<ByteCount>(0);
  Box box(taker, bytes);
  for (std::size_t i = 0; i < Box::kWaitingMax; ++i) {
    ASSERT_EQ(box.send({.bytes = 1}), Box::Sent::kept);
  }
  EXPECT_EQ(box.send({.bytes = 1}), Box::Sent::one_too_many);
  EXPECT_EQ(taker.ended->error_code(), grpc::StatusCode::RESOURCE_EXHAUSTED);
  EXPECT_EQ(*bytes, 1u) << "but for what gRPC has";
  box.written();
  EXPECT_EQ(*bytes, 0u);
}

TEST(Outbox, AllClientsOfAUserHaveABoundTogether) {
  const auto bytes = std::make_shared<ByteCount>(0);
  Taker greedy, modest;
  Box first(greedy, bytes), second(modest, bytes);
  while (first.send({.bytes = kPiece}) == Box::Sent::kept) ASSERT_LE(*bytes, Box::kBytesOfUserMax);
  EXPECT_TRUE(greedy.ended);
  *bytes += Box::kBytesOfUserMax;  // of others of this user
  for (int i = 0; i < 3; ++i) EXPECT_EQ(second.send({.bytes = kPiece}), Box::Sent::kept);
  EXPECT_EQ(second.send({.bytes = kPiece}), Box::Sent::one_too_many);
  *bytes += Box::kBytesOfUserEver;
  Taker last;
  Box third(last, bytes);
  EXPECT_EQ(third.send({.bytes = 1}), Box::Sent::one_too_many);
}

TEST(Outbox, WhatIsNeverTakenIsGivenBackWithIt) {
  const auto bytes = std::make_shared<ByteCount>(0);
  {
    Taker taker;
    Box box(taker, bytes);
    box.send({.bytes = 5});
    box.send({.bytes = 5});
    box.close();
  }
  EXPECT_EQ(*bytes, 0u);
}

}  // namespace
}  // namespace plimsoll::daemon

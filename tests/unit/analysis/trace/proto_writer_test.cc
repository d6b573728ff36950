#include "analysis/trace/proto_writer.h"

#include <gtest/gtest.h>

#include <string>

namespace plimsoll::analysis {
namespace {

using namespace std::string_literals;

TEST(ProtoWriter, VarintsAsTheEncodingHasThem) {
  ProtoWriter writer;
  writer.add_varint(1, 150);
  EXPECT_EQ(writer.bytes(), "\x08\x96\x01"s);
  writer.add_varint(2, 0);
  EXPECT_EQ(writer.bytes(), "\x08\x96\x01\x10\x00"s);
}

TEST(ProtoWriter, ANegativeNumberTakesTenBytes) {
  ProtoWriter writer;
  writer.add_signed(1, -1);
  EXPECT_EQ(writer.bytes(), "\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"s);
}

TEST(ProtoWriter, AFieldAboveFifteenHasAKeyOfTwoBytes) {
  ProtoWriter writer;
  writer.add_varint(60, 1);
  EXPECT_EQ(writer.bytes(), "\xe0\x03\x01"s);
}

TEST(ProtoWriter, FixedNumbersBeginWithTheLeastByte) {
  ProtoWriter writer;
  writer.add_fixed64(1, 0x0102030405060708);
  EXPECT_EQ(writer.bytes(), "\x09\x08\x07\x06\x05\x04\x03\x02\x01"s);
  ProtoWriter other;
  other.add_double(1, 1.0);
  EXPECT_EQ(other.bytes(), "\x09\x00\x00\x00\x00\x00\x00\xf0\x3f"s);
}

TEST(ProtoWriter, TextsAndMessagesHaveTheirLengthInFront) {
  ProtoWriter inner, outer;
  inner.add_varint(1, 150);
  outer.add_text(2, "testing");
  outer.add_message(3, inner);
  EXPECT_EQ(outer.bytes(), "\x12\x07testing\x1a\x03\x08\x96\x01"s);
}

TEST(ProtoWriter, ALongTextHasALongLength) {
  ProtoWriter writer;
  writer.add_text(1, std::string(300, 'x'));
  EXPECT_EQ(writer.bytes().substr(0, 3), "\x0a\xac\x02"s);
  EXPECT_EQ(writer.bytes().size(), 303U);
}

}  // namespace
}  // namespace plimsoll::analysis

#include "analysis/trace/proto_writer.h"

#include <bit>

namespace plimsoll::analysis {
namespace {

// How a field is laid out.
constexpr std::uint32_t kVarint = 0, kFixed64 = 1, kLengthDelimited = 2;
constexpr unsigned kWireTypeBits = 3;
constexpr unsigned kVarintBits = 7;  // in each byte; the eighth says that more follow
constexpr std::uint64_t kVarintMore = 0x80;
constexpr unsigned kByteBits = 8;

}  // namespace

void ProtoWriter::put_varint(std::uint64_t value) {
  for (; value >= kVarintMore; value >>= kVarintBits) {
    bytes_ += static_cast<char>((value & (kVarintMore - 1)) | kVarintMore);
  }
  bytes_ += static_cast<char>(value);
}

void ProtoWriter::put_key(std::uint32_t field, std::uint32_t wire_type) {
  put_varint((std::uint64_t{field} << kWireTypeBits) | wire_type);
}

void ProtoWriter::put_fixed64(std::uint64_t value) {
  for (unsigned bits = 0; bits < 64; bits += kByteBits) {
    bytes_ += static_cast<char>((value >> bits) & 0xff);  // the least byte first
  }
}

void ProtoWriter::add_varint(std::uint32_t field, std::uint64_t value) {
  put_key(field, kVarint);
  put_varint(value);
}

void ProtoWriter::add_signed(std::uint32_t field, std::int64_t value) {
  add_varint(field, static_cast<std::uint64_t>(value));
}

void ProtoWriter::add_fixed64(std::uint32_t field, std::uint64_t value) {
  put_key(field, kFixed64);
  put_fixed64(value);
}

void ProtoWriter::add_double(std::uint32_t field, double value) {
  put_key(field, kFixed64);
  put_fixed64(std::bit_cast<std::uint64_t>(value));
}

void ProtoWriter::add_text(std::uint32_t field, std::string_view text) {
  put_key(field, kLengthDelimited);
  put_varint(text.size());
  bytes_ += text;
}

void ProtoWriter::add_message(std::uint32_t field, const ProtoWriter& message) {
  add_text(field, message.bytes_);
}

}  // namespace plimsoll::analysis

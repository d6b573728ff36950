#pragma once

#include <cstdint>
#include <string>
#include <string_view>

// Messages of protocol buffers as bytes (the encoding of protobuf.dev, "Encoding"): for a few
// messages of others, without their library. Nothing is checked against a schema.
namespace plimsoll::analysis {

class ProtoWriter {
 public:
  // Whole numbers, enums and flags; a negative one takes ten bytes, as int64 and int32 have it.
  void add_varint(std::uint32_t field, std::uint64_t value);
  void add_signed(std::uint32_t field, std::int64_t value);
  void add_fixed64(std::uint32_t field, std::uint64_t value);
  void add_double(std::uint32_t field, double value);
  // Bytes and strings; whether they are UTF-8, as strings must be, is for the caller to see to.
  void add_text(std::uint32_t field, std::string_view text);
  // A message as the field of another.
  void add_message(std::uint32_t field, const ProtoWriter& message);

  [[nodiscard]] const std::string& bytes() const { return bytes_; }

 private:
  void put_varint(std::uint64_t value);
  void put_key(std::uint32_t field, std::uint32_t wire_type);
  void put_fixed64(std::uint64_t value);

  std::string bytes_;
};

}  // namespace plimsoll::analysis

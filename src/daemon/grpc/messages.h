#pragma once

#include <grpcpp/grpcpp.h>
#include <grpcpp/impl/codegen/proto_utils.h>

#include <cstddef>
#include <string>

#include "base/result.h"

// Messages as gRPC has them: as bytes.
namespace plimsoll::daemon {

// A message that names no command has at most so many bytes. Protobuf makes some sixty of two that
// it does not know, and keeps them: with 4 MiB a client would cost 130.
constexpr std::size_t kShortMessageMax = 64 << 10;

// Reads one, and lets go of its bytes. An error (not_enough_memory: it is longer, and not read;
// invalid_argument) says what was found and what was expected.
template <class Message>
Result<Message> read_short(grpc::ByteBuffer& bytes) {
  const std::size_t length = bytes.Length();
  if (length > kShortMessageMax) {
    bytes.Clear();
    return fail(std::errc::not_enough_memory,
                "found a message of " + std::to_string(length) + " bytes, expected at most 64 KiB");
  }
  Message message;
  if (!grpc::SerializationTraits<Message>::Deserialize(&bytes, &message).ok()) {
    return fail(std::errc::invalid_argument, "found bytes that are no message, expected a " +
                                                 Message::descriptor()->full_name());
  }
  message.DiscardUnknownFields();
  return message;
}

template <class Message>
grpc::ByteBuffer packed(const Message& message) {
  grpc::ByteBuffer bytes;
  bool is_owned = false;
  // It fails for messages of 2 GiB alone.
  [[maybe_unused]] const auto status =
      grpc::SerializationTraits<Message>::Serialize(message, &bytes, &is_owned);
  return bytes;
}

}  // namespace plimsoll::daemon

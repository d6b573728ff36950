#include "sim/unpack.h"

#include <lzma.h>

#include <algorithm>
#include <array>
#include <cstdint>

namespace plimsoll::sim {
namespace {

// Ends the decoder, whatever state it is in.
struct Decoder {
  lzma_stream stream = LZMA_STREAM_INIT;
  Decoder() = default;
  Decoder(const Decoder&) = delete;
  Decoder& operator=(const Decoder&) = delete;
  ~Decoder() { ::lzma_end(&stream); }
};

tl::unexpected<Error> broken(lzma_ret status) {
  if (status == LZMA_MEM_ERROR || status == LZMA_MEMLIMIT_ERROR) {
    return fail(std::errc::not_enough_memory, "unpack xz");
  }
  if (status == LZMA_BUF_ERROR) return fail("found a truncated xz file");
  return fail("found a damaged xz file");
}

}  // namespace

bool is_xz(std::string_view beginning) {
  return beginning.starts_with(
      std::string_view("\xFD"
                       "7zXZ\0",
                       6));
}

Result<std::string> unpack_xz(std::string_view packed, std::size_t bytes_max) {
  Decoder decoder;
  lzma_stream& stream = decoder.stream;
  if (const auto status = ::lzma_stream_decoder(&stream, kUnpackMemoryMax, LZMA_CONCATENATED);
      status != LZMA_OK) {
    return broken(status);
  }
  std::string text;
  std::array<std::uint8_t, 1 << 16> piece{};
  stream.next_in = reinterpret_cast<const std::uint8_t*>(packed.data());
  stream.avail_in = packed.size();
  for (;;) {
    stream.next_out = piece.data();
    stream.avail_out = piece.size();
    const lzma_ret status = ::lzma_code(&stream, LZMA_FINISH);
    text.append(reinterpret_cast<const char*>(piece.data()), piece.size() - stream.avail_out);
    if (text.size() > bytes_max) {
      return fail("found more than " + std::to_string(bytes_max) + " bytes when unpacked");
    }
    if (status == LZMA_STREAM_END) return text;
    if (status != LZMA_OK) return broken(status);
  }
}

}  // namespace plimsoll::sim

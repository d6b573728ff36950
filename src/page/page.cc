#define ZLIB_CONST  // input is const
#include "page/page.h"

#include <zlib.h>

#include <array>
#include <cstdint>

#include "base/check.h"
#include "page/document.h"

namespace plimsoll::page {
namespace {

std::string compressed(std::string_view text) {
  constexpr int kGzip = 16 + MAX_WBITS;  // zlib.h: a gzip header, without a time
  constexpr int kMemory = 9;             // the most
  z_stream stream{};
  // Only wrong arguments and a lack of memory make these fail.
  PLIMSOLL_CHECK(::deflateInit2(&stream, Z_DEFAULT_COMPRESSION, Z_DEFLATED, kGzip, kMemory,
                                Z_DEFAULT_STRATEGY) == Z_OK);
  std::string out;
  std::array<Bytef, 1 << 16> chunk{};
  constexpr std::size_t kInputMax = 1 << 30;  // `avail_in` has 32 bits
  int status = Z_OK;
  while (status != Z_STREAM_END) {
    if (stream.avail_in == 0 && !text.empty()) {
      const std::string_view input = text.substr(0, kInputMax);
      text.remove_prefix(input.size());
      stream.next_in = reinterpret_cast<const Bytef*>(input.data());
      stream.avail_in = static_cast<uInt>(input.size());
    }
    stream.next_out = chunk.data();
    stream.avail_out = chunk.size();
    status = ::deflate(&stream, text.empty() ? Z_FINISH : Z_NO_FLUSH);
    PLIMSOLL_CHECK(status == Z_OK || status == Z_STREAM_END);
    out.append(reinterpret_cast<const char*>(chunk.data()), chunk.size() - stream.avail_out);
  }
  ::deflateEnd(&stream);
  return out;
}

std::string base64(std::string_view bytes) {
  constexpr std::string_view kDigits =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string out;
  out.reserve((bytes.size() + 2) / 3 * 4);
  for (std::size_t at = 0; at < bytes.size(); at += 3) {
    const std::string_view three = bytes.substr(at, 3);
    std::uint32_t bits = 0;
    for (std::size_t i = 0; i < 3; ++i) {
      bits = bits << 8 | (i < three.size() ? static_cast<unsigned char>(three[i]) : 0U);
    }
    for (std::size_t i = 0; i < 4; ++i) {
      out += i <= three.size() ? kDigits[bits >> (18 - 6 * i) & 63U] : '=';
    }
  }
  return out;
}

}  // namespace

std::string packed(std::string_view text) { return base64(compressed(text)); }

std::string page_of(const Contents& contents) {
  constexpr std::string_view kPlace = "@PLIMSOLL_RUN@";  // in page/index.html
  const std::string_view page = page_template();
  const std::size_t at = page.find(kPlace);
  PLIMSOLL_CHECK(at != std::string_view::npos);
  std::string text(page.substr(0, at));
  text += packed(document_of(contents));
  text += page.substr(at + kPlace.size());
  return text;
}

}  // namespace plimsoll::page

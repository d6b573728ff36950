#include "guardian/heap_reserve.h"

#include <malloc.h>

#include <algorithm>
#include <array>
#include <cstdlib>

namespace plimsoll::guardian {
namespace {

constexpr auto kFillGap = std::chrono::seconds(1);
constexpr std::size_t kPage = 4096;  // the least there is
constexpr std::size_t kPieceLeast = std::size_t{64} << 10;
static_assert(kPieceLeast < HeapReserve::kBlockOfForking);

}  // namespace

HeapReserve::HeapReserve(std::size_t block_max)
    : piece_(block_max > kBytes ? kBytes : kPieceLeast) {
  // Where malloc is another one these say nothing, and fill() does what it can.
  ::mallopt(M_MMAP_THRESHOLD, static_cast<int>(block_max));
  ::mallopt(M_TRIM_THRESHOLD, static_cast<int>(std::max(block_max, 2 * kBytes)));
  ::mallopt(M_TOP_PAD, static_cast<int>(kBytes));
}

void HeapReserve::fill(Instant now) {
  if (filled_ && now - *filled_ < kFillGap) return;
  filled_ = now;
  std::array<void*, kBytes / kPieceLeast> stock{};
  for (std::size_t i = 0; i < kBytes / piece_; ++i) {
    stock[i] = std::malloc(piece_);
    if (stock[i] == nullptr) break;
    auto* const bytes = static_cast<volatile char*>(stock[i]);
    for (std::size_t at = 0; at < piece_; at += kPage) bytes[at] = 0;
  }
  for (void* const piece : stock) std::free(piece);
}

}  // namespace plimsoll::guardian

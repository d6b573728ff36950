#include "guardian/heap_reserve.h"

#include <malloc.h>

#include <cstdlib>

namespace plimsoll::guardian {
namespace {

constexpr auto kFillGap = std::chrono::seconds(1);
constexpr std::size_t kPage = 4096;  // the least there is
constexpr int kKept = 4 * static_cast<int>(HeapReserve::kBytes);

}  // namespace

HeapReserve::HeapReserve() {
  // Where malloc is another one these say nothing, and fill() does what it can.
  ::mallopt(M_MMAP_THRESHOLD, kKept);
  ::mallopt(M_TRIM_THRESHOLD, kKept);
  ::mallopt(M_TOP_PAD, static_cast<int>(kBytes));
}

void HeapReserve::fill(Instant now) {
  if (filled_ && now - *filled_ < kFillGap) return;
  filled_ = now;
  void* const stock = std::malloc(kBytes);
  if (stock == nullptr) return;
  auto* const bytes = static_cast<volatile char*>(stock);
  for (std::size_t at = 0; at < kBytes; at += kPage) bytes[at] = 0;
  std::free(stock);
}

}  // namespace plimsoll::guardian

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/check.h"
#include "sim/curves.h"
#include "sim/unpack.h"

// Any bytes as a file of curves, packed and not.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace plimsoll::sim;
  constexpr std::size_t kUnpackedMax = 1 << 20;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  if (const auto unpacked = unpack_xz(text, kUnpackedMax)) {
    PLIMSOLL_CHECK(unpacked->size() <= kUnpackedMax);
  }
  const auto jobs = parse_curves(text, "trace");
  PLIMSOLL_CHECK(jobs || jobs.error().message().starts_with("trace:"));
  if (!jobs) return 0;
  for (const SimJob& job : *jobs) {
    PLIMSOLL_CHECK(!job.spec.name.empty());
    PLIMSOLL_CHECK(std::isfinite(job.curve.cpu_seconds()) && job.curve.cpu_seconds() >= 0);
    const auto& points = job.curve.points();
    PLIMSOLL_CHECK(points.size() >= 2 && points.front().seconds == 0);
    for (std::size_t i = 1; i < points.size(); ++i) {
      PLIMSOLL_CHECK(points[i].seconds > points[i - 1].seconds);
      PLIMSOLL_CHECK(points[i].mib >= 0 && points[i].cores >= 0);
    }
    for (const auto need : job.spec.needs) PLIMSOLL_CHECK(need != job.spec.id);
  }
  return 0;
}

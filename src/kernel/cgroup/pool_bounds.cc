#include "kernel/cgroup/pool_bounds.h"

#include <string>

#include "base/text.h"

namespace plimsoll::cgroup {
namespace {

constexpr const char* kHigh = "memory.high";
constexpr const char* kMax = "memory.max";
constexpr const char* kV1Limit = "memory.limit_in_bytes";

std::string text_of(const std::optional<Bytes>& limit) {
  return limit ? std::to_string(limit->count) : "max";
}

std::optional<Bytes> read_bytes(const Directory& memory, const char* file) {
  const auto text = memory.read(file);
  if (!text) return std::nullopt;
  const auto count = to_u64(trim(*text));
  return count ? std::optional(Bytes{*count}) : std::nullopt;
}

Result<void> set_max(const Directory& memory, const std::optional<Bytes>& max) {
  const auto current = max ? read_bytes(memory, "memory.current") : std::nullopt;
  if (current && *current >= *max) return {};
  return memory.write(kMax, text_of(max));
}

}  // namespace

Result<void> set_pool_limits(const Directory& memory, const PoolBounds& limits) {
  if (memory.version() == Version::v1) {
    return memory.write(kV1Limit, limits.max ? std::to_string(limits.max->count) : "-1");
  }
  // "max" reads as no number: higher than any.
  const auto max_before = read_bytes(memory, kMax);
  const bool rises = max_before && (!limits.max || *limits.max > *max_before);
  if (rises) {
    if (auto wrote = set_max(memory, limits.max); !wrote) return wrote;
  }
  if (auto wrote = memory.write(kHigh, text_of(limits.high)); !wrote) return wrote;
  return rises ? Result<void>{} : set_max(memory, limits.max);
}

Result<void> lift_throttle(const Directory& memory) {
  if (memory.version() == Version::v1) return {};
  return memory.write(kHigh, "max");
}

Result<void> remove_pool_limits(const Directory& memory) {
  if (memory.version() == Version::v1) return memory.write(kV1Limit, "-1");
  auto lifted = memory.write(kHigh, "max");
  auto raised = memory.write(kMax, "max");
  return lifted ? std::move(raised) : std::move(lifted);
}

}  // namespace plimsoll::cgroup

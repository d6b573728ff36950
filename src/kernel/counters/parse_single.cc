#include "kernel/counters/parse_single.h"

#include "base/text.h"
#include "kernel/counters/scale.h"

namespace plimsoll::counters {
namespace {

std::optional<std::uint64_t> value_of(std::string_view wanted, std::string_view text) {
  while (const auto line = take_keyed_number(text)) {
    if (line->key == wanted) return line->value;
  }
  return std::nullopt;
}

}  // namespace

std::optional<std::uint64_t> parse_count(std::string_view text) { return to_u64(trim(text)); }

std::optional<Bytes> parse_bytes(std::string_view text) {
  const auto count = parse_count(text);
  if (!count) return std::nullopt;
  return Bytes{*count};
}

std::optional<std::uint64_t> parse_pids_events(std::string_view text) {
  return value_of("max", text);
}

std::optional<Duration> parse_frozen_time(std::string_view text) {
  const auto count = value_of("frozen_usec", text);
  if (!count) return std::nullopt;
  return from_us(*count);
}

}  // namespace plimsoll::counters

#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "base/units.h"

namespace plimsoll {

// Quantities as people write and read them. An error's message says what was found and what was
// expected; the caller puts in front where.

// "512M", "2G", "1.5GiB", "4096": bytes. K, M, G and T are powers of 1024 with or without "iB" or
// "B", in either case, as in the limits of containers.
Result<Bytes> parse_bytes(std::string_view text);
// The same of what can't be nothing: a limit under which no process lives.
Result<Bytes> parse_bytes_above_zero(std::string_view text);

// As parse_bytes(), or a share such as "80%" of `whole`.
Result<Bytes> parse_bytes_or_share(std::string_view text, Bytes whole);

// "250ms", "10s", "5m", "1.5h", "2d", "30": a bare number is seconds.
Result<Duration> parse_duration(std::string_view text);
Result<Duration> parse_duration_above_zero(std::string_view text);

// "0 B", "1.5 KiB", "3.2 GiB": three significant digits, for people only.
std::string format_bytes(Bytes bytes);

// "0.8 ms", "12.3 s", "2m03s", "1h02m": for people only.
std::string format_duration(Duration duration);

}  // namespace plimsoll

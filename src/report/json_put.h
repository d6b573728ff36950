#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "base/units.h"
#include "report/json_text.h"

// Writing members of JSON objects: what is absent in the value is absent in the object.
namespace plimsoll::report {

// Sets `key` of `object` if there is a value: bytes and counts as they are, times in nanoseconds.
void put(Json& object, const char* key, std::optional<std::uint64_t> count);
void put(Json& object, const char* key, std::optional<Bytes> bytes);
void put(Json& object, const char* key, std::optional<Duration> duration);
void put(Json& object, const char* key, std::optional<WallTime> wall);

// Sets `key` of `object` unless the text is empty.
void put_text(Json& object, const char* key, std::string_view text);

// Sets `key` of `object` to `part`, an object or a list, unless that is empty.
void put_part(Json& object, const char* key, Json part);

}  // namespace plimsoll::report

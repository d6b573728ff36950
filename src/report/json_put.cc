#include "report/json_put.h"

#include <nlohmann/json.hpp>

namespace plimsoll::report {

void put(Json& object, const char* key, std::optional<std::uint64_t> count) {
  if (count) object[key] = *count;
}

void put(Json& object, const char* key, std::optional<Bytes> bytes) {
  if (bytes) object[key] = bytes->count;
}

void put(Json& object, const char* key, std::optional<Duration> duration) {
  if (duration) object[key] = duration->count();
}

void put(Json& object, const char* key, std::optional<WallTime> wall) {
  if (wall) object[key] = wall->time_since_epoch().count();
}

void put_text(Json& object, const char* key, std::string_view text) {
  if (!text.empty()) object[key] = text;
}

void put_part(Json& object, const char* key, Json part) {
  if (!part.empty()) object[key] = std::move(part);
}

}  // namespace plimsoll::report

#include "report/json_put.h"

#include <nlohmann/json.hpp>

namespace plimsoll::report {
namespace {

// Mostly there are no more in one object. As it grows, its members are copied, not moved: their
// keys are constant.
constexpr std::size_t kMembersMostly = 16;

Json& member(Json& object, const char* key) {
  if (object.is_object() && object.empty()) {
    object.get_ref<Json::object_t&>().reserve(kMembersMostly);
  }
  return object[key];
}

}  // namespace

void put(Json& object, const char* key, std::optional<std::uint64_t> count) {
  if (count) member(object, key) = *count;
}

void put(Json& object, const char* key, std::optional<Bytes> bytes) {
  if (bytes) member(object, key) = bytes->count;
}

void put(Json& object, const char* key, std::optional<Duration> duration) {
  if (duration) member(object, key) = duration->count();
}

void put(Json& object, const char* key, std::optional<WallTime> wall) {
  if (wall) member(object, key) = wall->time_since_epoch().count();
}

void put_text(Json& object, const char* key, std::string_view text) {
  if (!text.empty()) member(object, key) = text;
}

void put_part(Json& object, const char* key, Json part) {
  if (!part.empty()) member(object, key) = std::move(part);
}

}  // namespace plimsoll::report

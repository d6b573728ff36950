#include "record/json_read.h"

namespace plimsoll::record {

std::optional<Json> parse_document(std::string_view text, const char* schema) {
  Json json = Json::parse(text, nullptr, false);
  if (!json.is_object() || text_at(json, "schema") != schema) return std::nullopt;
  return json;
}

const Json& member(const Json& object, const char* key) {
  static const Json kNone;
  if (!object.is_object()) return kNone;
  const auto found = object.find(key);
  return found == object.end() ? kNone : *found;
}

std::optional<std::uint64_t> count_at(const Json& object, const char* key) {
  const Json& value = member(object, key);
  if (!value.is_number_unsigned()) return std::nullopt;
  return value.get<std::uint64_t>();
}

std::optional<double> number_at(const Json& object, const char* key) {
  const Json& value = member(object, key);
  if (!value.is_number()) return std::nullopt;
  return value.get<double>();
}

std::string text_at(const Json& object, const char* key) {
  const Json& value = member(object, key);
  return value.is_string() ? value.get<std::string>() : std::string();
}

std::optional<Bytes> bytes_at(const Json& object, const char* key) {
  const auto count = count_at(object, key);
  return count ? std::optional(Bytes{*count}) : std::nullopt;
}

std::optional<Duration> duration_at(const Json& object, const char* key) {
  const auto count = count_at(object, key);
  if (!count || *count > INT64_MAX) return std::nullopt;
  return Duration(static_cast<Duration::rep>(*count));
}

}  // namespace plimsoll::record

#include "report/json_read.h"

namespace plimsoll::report {

std::optional<Json> parse_document(std::string_view text, const char* schema) {
  if (text.size() > kDocumentMax) return std::nullopt;
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

std::vector<std::string> texts_at(const Json& object, const char* key) {
  std::vector<std::string> texts;
  const Json& list = member(object, key);
  if (!list.is_array()) return texts;
  for (const Json& text : list) {
    if (text.is_string()) texts.push_back(text.get<std::string>());
  }
  return texts;
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

policy::Command command_at(const Json& report) {
  if (member(report, "shell").is_string()) return text_at(report, "shell");
  return texts_at(report, "argv");
}

}  // namespace plimsoll::report

#include "daemon/config_file.h"

#include <algorithm>
#include <tuple>

#include <toml++/toml.h>

namespace plimsoll::daemon {
namespace {

FileValue value_of(std::string key, const toml::node& node) {
  FileValue found{.key = std::move(key), .line = node.source().begin.line, .value = {}, .kind = {}};
  if (const auto* text = node.as_string()) {
    found.value = text->get();
    found.kind = "text";
  } else if (const auto* whole = node.as_integer()) {
    found.value = whole->get();
    found.kind = "a whole number";
  } else if (const auto* number = node.as_floating_point()) {
    found.value = number->get();
    found.kind = "a number";
  } else if (const auto* truth = node.as_boolean()) {
    found.value = truth->get();
    found.kind = "true or false";
  } else {
    found.kind = node.is_array() ? "a list" : "a date or a time";
  }
  return found;
}

// Tables are nested no deeper than the parser allows.
void collect(const toml::table& table, const std::string& prefix, std::vector<FileValue>& values) {
  for (const auto& [key, node] : table) {
    std::string name = prefix + std::string(key.str());
    if (const toml::table* inner = node.as_table()) {
      collect(*inner, name + ".", values);
    } else {
      values.push_back(value_of(std::move(name), node));
    }
  }
}

}  // namespace

Result<std::vector<FileValue>> parse_toml(std::string_view text) {
  if (text.size() > kConfigBytesMax) {
    return fail("1: found " + std::to_string(text.size()) + " bytes, expected at most " +
                std::to_string(kConfigBytesMax));
  }
  std::vector<FileValue> values;
  try {
    collect(toml::parse(text), "", values);
  } catch (const toml::parse_error& error) {
    return fail(std::to_string(error.source().begin.line) + ": " +
                std::string(error.description()));
  }
  std::sort(values.begin(), values.end(), [](const FileValue& a, const FileValue& b) {
    return std::tie(a.line, a.key) < std::tie(b.line, b.key);
  });
  return values;
}

}  // namespace plimsoll::daemon

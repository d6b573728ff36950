#include "daemon/config.h"

#include <fcntl.h>
#include <toml++/toml.h>

#include <algorithm>
#include <array>
#include <map>
#include <tuple>

#include "base/file.h"
#include "daemon/settings.h"
#include "jobfile/closest.h"

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

constexpr std::string_view kByDefault = "default";

// What was said last, and where.
struct Said {
  std::string text;
  std::string origin;
};
using SaidValues = std::map<std::string_view, Said>;

tl::unexpected<Error> unknown_key(const FileValue& value, const std::string& where) {
  std::vector<std::string_view> keys;
  for (const Setting& setting : settings()) keys.push_back(setting.key);
  std::string what = where + ": found the unknown key \"" + value.key + "\", expected ";
  if (const auto meant = jobfile::closest(value.key, keys)) {
    return fail(what + "perhaps \"" + std::string(*meant) + '"');
  }
  what += "one of";
  for (const std::string_view key : keys) what += ' ' + std::string(key);
  return fail(std::move(what));
}

std::string plain_number(double number) {
  std::string text = std::to_string(number);
  text.erase(text.find_last_not_of('0') + 1);
  if (text.ends_with('.')) text.pop_back();
  return text;
}

// The value as an option would say it; nothing if a setting of this form can't have it.
std::optional<std::string> as_text(const FileValue& value, Form form) {
  if (const auto* text = std::get_if<std::string>(&value.value)) {
    const bool fits = form == Form::text || form == Form::path || form == Form::text_or_count;
    return fits ? std::optional(*text) : std::nullopt;
  }
  if (const auto* whole = std::get_if<std::int64_t>(&value.value)) {
    if (form == Form::text || form == Form::path || form == Form::truth) return std::nullopt;
    return std::to_string(*whole);
  }
  if (const auto* number = std::get_if<double>(&value.value)) {
    return form == Form::number ? std::optional(plain_number(*number)) : std::nullopt;
  }
  if (const auto* truth = std::get_if<bool>(&value.value)) {
    if (form != Form::truth) return std::nullopt;
    return *truth ? "true" : "false";
  }
  return std::nullopt;
}

Result<void> take_file(std::string_view text, const std::string& name, SaidValues& said) {
  auto values = parse_toml(text);
  if (!values) return fail(name + ":" + values.error().message());
  for (const FileValue& value : *values) {
    const std::string where = name + ":" + std::to_string(value.line);
    const Setting* setting = find_setting(value.key);
    if (setting == nullptr) return unknown_key(value, where);
    auto taken = as_text(value, setting->form);
    if (!taken) {
      return fail(where + ": " + value.key + ": found " + std::string(value.kind) + ", expected " +
                  std::string(name_of(setting->form)));
    }
    said[setting->key] = {.text = std::move(*taken), .origin = where};
  }
  return {};
}

// A value that is given by several is said by the nearest: option, environment, file, default.
SaidValues said_by_default() {
  SaidValues said;
  for (const Setting& setting : settings()) {
    if (setting.by_default == nullptr) continue;
    if (auto text = setting.by_default())
      said[setting.key] = {std::move(*text), std::string(kByDefault)};
  }
  return said;
}

void take_surroundings(const ConfigSources& sources, SaidValues& said) {
  for (const Setting& setting : settings()) {
    if (setting.environment.empty() || !sources.environment) continue;
    auto text = sources.environment(setting.environment);
    if (text && !text->empty()) {
      said[setting.key] = {resolved(setting, *text), std::string(setting.environment)};
    }
  }
  for (const OptionValue& value : sources.options) {
    const Setting* setting = find_setting(value.key);
    if (setting != nullptr) {
      said[setting->key] = {resolved(*setting, value.text), std::string(setting->option)};
    }
  }
}

std::string as_toml(const Setting& setting, const std::string& text) {
  const bool bare =
      setting.form == Form::count || setting.form == Form::number || setting.form == Form::truth;
  if (bare) return text;
  std::string quoted = "\"";
  constexpr std::string_view kDigits = "0123456789ABCDEF";
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      quoted += {'\\', c};
    } else if (byte < 0x20 || byte == 0x7f) {
      quoted += {'\\', 'u', '0', '0', kDigits[byte >> 4], kDigits[byte & 0xf]};
    } else {
      quoted += c;
    }
  }
  return quoted + '"';
}

// TCP without knowing who is there would let anybody run commands.
Result<void> check_tls(const ListenConfig& listen, const SaidValues& said) {
  constexpr std::array<std::string_view, 3> kFiles = {"listen.tls_certificate", "listen.tls_key",
                                                      "listen.tls_client_ca"};
  for (const std::string_view file : kFiles) {
    if (listen.tcp && !said.contains(file)) {
      return fail(said.at("listen.tcp").origin + ": listen.tcp: found no " + std::string(file) +
                  ", expected all of tls_certificate, tls_key and tls_client_ca beside it: TCP is "
                  "served with mutual TLS only");
    }
    if (!listen.tcp && said.contains(file)) {
      return fail(said.at(file).origin + ": " + std::string(file) +
                  ": found no listen.tcp, expected both or neither");
    }
  }
  return {};
}

// An option names the setting by itself; a line of a file, or a variable, does not.
std::string place_of(const SaidValues& said, std::string_view key) {
  const auto found = said.find(key);
  if (found == said.end()) return std::string(key);
  const Setting* setting = find_setting(key);
  const std::string& origin = found->second.origin;
  if (setting != nullptr && origin == setting->option) return origin;
  return origin + ": " + std::string(key);
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

Result<LoadedConfig> read_config(const ConfigSources& sources, std::string_view text,
                                 const std::string& name) {
  SaidValues said = said_by_default();
  if (auto taken = take_file(text, name, said); !taken) return pass(std::move(taken));
  take_surroundings(sources, said);
  LoadedConfig loaded;
  for (const Setting& setting : settings()) {
    Effective value{.key = setting.key,
                    .effect = setting.effect,
                    .text = {},
                    .origin = std::string(kByDefault)};
    if (const auto found = said.find(setting.key); found != said.end()) {
      auto taken = setting.take(loaded.config, found->second.text);
      if (!taken) return pass(std::move(taken), place_of(said, setting.key));
      value.text = as_toml(setting, found->second.text);
      value.origin = found->second.origin;
    }
    loaded.values.push_back(std::move(value));
  }
  if (auto fits = check_tls(loaded.config.listen, said); !fits) return pass(std::move(fits));
  loaded.config.governor.line_name = place_of(said, "governor.line");
  loaded.config.governor.reserve_name = place_of(said, "governor.reserve");
  loaded.config.governor.disks_name = place_of(said, "governor.disks");
  return loaded;
}

Result<LoadedConfig> load_config(const ConfigSources& sources) {
  const std::string name = sources.file.value_or(std::string(kDefaultFile));
  auto file = open_at(AT_FDCWD, name, O_RDONLY);
  if (!file && file.error().gone() && !sources.file) return read_config(sources, "", name);
  if (!file) return pass(std::move(file));
  auto text = read_text(file->get());
  if (!text) return pass(std::move(text), name);
  return read_config(sources, *text, name);
}

bool is_default(const LoadedConfig& loaded, std::string_view key) {
  return std::any_of(loaded.values.begin(), loaded.values.end(), [key](const Effective& value) {
    return value.key == key && value.origin == kByDefault;
  });
}

std::vector<Change> changes(const LoadedConfig& now, const LoadedConfig& next) {
  std::vector<Change> found;
  for (std::size_t i = 0; i < now.values.size() && i < next.values.size(); ++i) {
    if (now.values[i].text == next.values[i].text) continue;
    found.push_back({.before = now.values[i], .after = next.values[i]});
  }
  return found;
}

std::string show(const LoadedConfig& loaded) {
  constexpr std::size_t kCommentColumn = 44;
  std::string text;
  std::string_view section;
  for (const Effective& value : loaded.values) {
    const std::size_t dot = value.key.find('.');
    const std::string_view its = value.key.substr(0, dot);
    if (its != section) text += (text.empty() ? "[" : "\n[") + std::string(its) + "]\n";
    section = its;
    std::string line(value.key.substr(dot + 1));
    line = value.text ? line + " = " + *value.text : "# " + line + " is not set";
    line.resize(std::max(line.size() + 2, kCommentColumn), ' ');
    text += line + "# " + value.origin + "\n";
  }
  return text;
}

}  // namespace plimsoll::daemon

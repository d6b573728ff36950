#include "jobfile/json_value.h"

#include <cmath>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>

#include "base/limits.h"
#include "base/quantity.h"

namespace plimsoll::jobfile {
namespace {

using nlohmann::json;

// So much of a value is shown in an error.
constexpr std::size_t kShownOfValue = 60;

// What nanoseconds of 64 bits hold, and whole numbers that a double can be turned into.
constexpr double kJsonSecondsMax = 9e9;
constexpr double kBytesMax = 9e18;

// Passes over a text and notes what the library's own reading does not tell: where it is broken,
// and keys that occur twice in the outer object.
class Syntax final : public nlohmann::json_sax<json> {
 public:
  bool null() override { return true; }
  bool boolean(bool) override { return true; }
  bool number_integer(number_integer_t) override { return true; }
  bool number_unsigned(number_unsigned_t) override { return true; }
  bool number_float(number_float_t, const string_t&) override { return true; }
  bool string(string_t&) override { return true; }
  bool binary(binary_t&) override { return true; }
  bool start_object(std::size_t) override { return enter(); }
  bool end_object() override { return leave(); }
  bool start_array(std::size_t) override { return enter(); }
  bool end_array() override { return leave(); }
  bool key(string_t& name) override {
    if (depth_ == 1 && !keys_.insert(name).second && !twice_) twice_ = name;
    return true;
  }
  bool parse_error(std::size_t position, const std::string& /*token*/,
                   const nlohmann::detail::exception& /*error*/) override {
    column_ = position;
    return false;
  }

  [[nodiscard]] std::size_t column() const { return column_; }
  [[nodiscard]] const std::optional<std::string>& twice() const { return twice_; }

 private:
  bool enter() {
    ++depth_;
    return true;
  }
  bool leave() {
    --depth_;
    return true;
  }

  std::size_t depth_ = 0;
  std::set<std::string> keys_;
  std::optional<std::string> twice_;
  std::size_t column_ = 0;
};

// Containers are named only: they may be deep, and writing them out recurses.
std::string describe(const json& value) {
  if (value.is_object()) return "an object";
  if (value.is_array()) return value.empty() ? "an empty list" : "a list";
  std::string text = value.dump(-1, ' ', false, json::error_handler_t::replace);
  if (text.size() > kShownOfValue) text = text.substr(0, kShownOfValue) + "...";
  return text;
}

}  // namespace

tl::unexpected<Error> unlike(const json& value, std::string_view what) {
  return fail("found " + describe(value) + ", expected " + std::string(what));
}

Result<json> parse_object(std::string_view text) {
  Syntax syntax;
  if (!json::sax_parse(text, &syntax)) {
    return fail("found broken JSON near column " + std::to_string(syntax.column()) +
                ", expected one JSON object");
  }
  json value = json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (!value.is_object()) return unlike(value, "one JSON object");
  if (syntax.twice()) {
    return fail("found the key " + json(*syntax.twice()).dump() + " twice, expected it once");
  }
  return value;
}

Result<std::string> to_text_or_empty(const json& value) {
  if (!value.is_string()) return unlike(value, "text");
  const auto& text = value.get_ref<const std::string&>();
  if (text.find('\0') != std::string::npos) return unlike(value, "text without NUL");
  return text;
}

Result<std::string> to_text(const json& value) {
  auto text = to_text_or_empty(value);
  if (text && text->empty()) return unlike(value, "text that is not empty");
  return text;
}

Result<std::string> to_name(const json& value) {
  if (value.is_number_unsigned()) return std::to_string(value.get<std::uint64_t>());
  if (!value.is_string()) return unlike(value, "text or a whole number");
  return to_text(value);
}

Result<std::vector<std::string>> to_names(const json& value) {
  if (!value.is_array()) return unlike(value, "a list of ids");
  std::vector<std::string> names;
  for (const json& element : value) {
    auto name = to_name(element);
    if (!name) return pass(std::move(name));
    names.push_back(std::move(*name));
  }
  return names;
}

Result<Bytes> to_bytes(const json& value) {
  if (value.is_number_unsigned()) return Bytes{value.get<std::uint64_t>()};
  if (value.is_string()) return parse_bytes(value.get_ref<const std::string&>());
  if (value.is_number_float()) {
    const double bytes = value.get<double>();  // 1e9 is a whole number too
    if (bytes >= 0 && bytes <= kBytesMax && std::floor(bytes) == bytes) {
      return Bytes{static_cast<std::uint64_t>(bytes)};
    }
  }
  return unlike(value, "a whole number of bytes or a size such as \"512M\"");
}

Result<Bytes> to_bytes_above_zero(const json& value) {
  auto bytes = to_bytes(value);
  if (bytes && bytes->count == 0) return unlike(value, "a size above 0 such as \"512M\"");
  return bytes;
}

Result<Duration> to_duration(const json& value) {
  constexpr double kNanoseconds = 1e9;
  Duration duration{};
  if (value.is_string()) {
    auto parsed = parse_duration(value.get_ref<const std::string&>());
    if (!parsed) return parsed;
    duration = *parsed;
  } else if (value.is_number() && std::abs(value.get<double>()) <= kJsonSecondsMax) {
    duration = Duration(std::llround(value.get<double>() * kNanoseconds));
  }
  if (duration > Duration::zero()) return duration;
  return unlike(value, "a number of seconds above 0 or a duration such as \"10s\"");
}

Result<double> to_cores(const json& value) {
  if (!value.is_number() || value.get<double>() <= 0) return unlike(value, "a number above 0");
  return value.get<double>();
}

Result<double> to_quota(const json& value) {
  auto cores = to_cores(value);
  if (!cores || *cores < kCpusMin) return unlike(value, "a number of at least 0.001");
  return cores;
}

Result<bool> to_bool(const json& value) {
  if (!value.is_boolean()) return unlike(value, "true or false");
  return value.get<bool>();
}

Result<std::int64_t> to_whole(const json& value, WholeRange range) {
  // What the signed type can't hold is beyond every range.
  const bool fits = value.is_number_integer() &&
                    (!value.is_number_unsigned() || value.get<std::uint64_t>() <= INT64_MAX);
  if (fits) {
    const auto number = value.get<std::int64_t>();
    if (number >= range.least && number <= range.most) return number;
  }
  return unlike(value, "a whole number from " + std::to_string(range.least) + " to " +
                           std::to_string(range.most));
}

}  // namespace plimsoll::jobfile

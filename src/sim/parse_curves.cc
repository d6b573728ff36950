#include "sim/parse_curves.h"

#include <cmath>
#include <nlohmann/json.hpp>
#include <utility>

namespace plimsoll::sim {
namespace {

using nlohmann::json;

// Bounds of what a curve may say, far beyond any machine, so that sums stay exact enough.
constexpr double kSecondsMax = 1e8;
constexpr double kMibMax = 1e9;
constexpr double kCpuPercentMax = 1e7;
constexpr int kPriorityMax = 1'000'000;
constexpr std::size_t kShownBytes = 60;

tl::unexpected<Error> found(const std::string& what, const std::string& expected) {
  return fail("found " + what + ", expected " + expected);
}

std::string shown(const json& value) {
  if (value.is_object()) return "an object";
  if (value.is_array()) return "a list";
  std::string text = value.dump(-1, ' ', false, json::error_handler_t::replace);
  if (text.size() > kShownBytes) text = text.substr(0, kShownBytes) + "...";
  return text;
}

Result<std::string> text_of(const json& object, const char* key) {
  const auto at = object.find(key);
  if (at == object.end()) return found("no \"" + std::string(key) + "\"", "text");
  if (at->is_number_unsigned()) return std::to_string(at->get<std::uint64_t>());
  if (!at->is_string() || at->get_ref<const std::string&>().empty()) {
    return found(shown(*at) + " as \"" + key + "\"", "text that is not empty");
  }
  return at->get<std::string>();
}

Result<const json*> numbers_of(const json& object, const char* key, double most) {
  const auto at = object.find(key);
  if (at == object.end()) return found("no \"" + std::string(key) + "\"", "a list of numbers");
  if (!at->is_array() || at->empty()) {
    return found(at->is_array() ? "an empty list as \"" + std::string(key) + "\""
                                : shown(*at) + " as \"" + key + "\"",
                 "a list of numbers");
  }
  for (const json& value : *at) {
    const bool good = value.is_number() && value.get<double>() >= 0 && value.get<double>() <= most;
    if (!good) {
      return found(shown(value) + " in \"" + key + "\"",
                   "numbers from 0 to " + std::to_string(static_cast<std::int64_t>(most)));
    }
  }
  return &*at;
}

Result<std::vector<CurvePoint>> points_of(const json& object) {
  const auto times = numbers_of(object, "t", kSecondsMax);
  if (!times) return tl::unexpected(times.error());
  const auto memory = numbers_of(object, "mem_mb", kMibMax);
  if (!memory) return tl::unexpected(memory.error());
  const auto cpu = numbers_of(object, "cpu_pct", kCpuPercentMax);
  if (!cpu) return tl::unexpected(cpu.error());
  const std::size_t count = (*times)->size();
  for (const auto& [key, list] : {std::pair("mem_mb", *memory), std::pair("cpu_pct", *cpu)}) {
    if (list->size() == count) continue;
    return found(std::to_string(list->size()) + " numbers in \"" + key + "\"",
                 std::to_string(count) + " as in \"t\"");
  }
  std::vector<CurvePoint> points;
  points.reserve(count + 1);
  for (std::size_t i = 0; i < count; ++i) {
    constexpr double kPercent = 100;
    points.push_back({.seconds = (**times)[i].get<double>(),
                      .mib = (**memory)[i].get<float>(),
                      .cores = static_cast<float>((**cpu)[i].get<double>() / kPercent)});
    if (i > 0 && points[i].seconds < points[i - 1].seconds) {
      return found(shown((**times)[i]) + " after " + shown((**times)[i - 1]) + " in \"t\"",
                   "increasing times");
    }
  }
  return points;
}

Result<void> read_priority(const json& object, policy::JobSpec& spec) {
  const auto at = object.find("priority");
  if (at == object.end()) return {};
  if (!at->is_number_integer() || std::abs(at->get<double>()) > kPriorityMax) {
    return found(shown(*at) + " as \"priority\"", "a whole number up to a million");
  }
  spec.priority = at->get<int>();
  return {};
}

Result<std::vector<std::string>> needs_of(const json& object) {
  std::vector<std::string> needs;
  const auto at = object.find("needs");
  if (at == object.end()) return needs;
  if (!at->is_array()) return found(shown(*at) + " as \"needs\"", "a list of ids");
  for (const json& need : *at) {
    if (need.is_number_unsigned()) {
      needs.push_back(std::to_string(need.get<std::uint64_t>()));
    } else if (need.is_string()) {
      needs.push_back(need.get<std::string>());
    } else {
      return found(shown(need) + " in \"needs\"", "a list of ids");
    }
  }
  return needs;
}

}  // namespace

Result<ParsedCurve> parse_curve(std::string_view line) {
  const json object = json::parse(line, nullptr, /*allow_exceptions=*/false);
  if (!object.is_object()) {
    return found(object.is_discarded() ? "broken JSON" : shown(object), "one JSON object");
  }
  auto job_class = text_of(object, "class");
  if (!job_class) return pass(std::move(job_class));
  auto name = text_of(object, "name");
  if (!name) return pass(std::move(name));
  auto points = points_of(object);
  if (!points) return pass(std::move(points));
  ParsedCurve parsed{.job = {.spec = {}, .curve = Curve(std::move(*points))}, .needs = {}};
  policy::JobSpec& spec = parsed.job.spec;
  spec.job_class = std::move(*job_class);
  spec.command = *name;
  spec.name = std::move(*name);
  if (auto read = read_priority(object, spec); !read) return pass(std::move(read));
  auto needs = needs_of(object);
  if (!needs) return pass(std::move(needs));
  parsed.needs = std::move(*needs);
  if (object.contains("id")) {
    auto id = text_of(object, "id");
    if (!id) return pass(std::move(id));
    spec.name = *id;
    parsed.id = std::move(*id);
  }
  return parsed;
}

}  // namespace plimsoll::sim

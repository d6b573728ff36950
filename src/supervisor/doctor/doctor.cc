#include "supervisor/doctor/doctor.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>

#include "report/json_text.h"
#include "report/plain.h"

namespace plimsoll::report {
namespace {

constexpr std::size_t kStateWidth = 8;  // of "degraded", the longest
constexpr std::size_t kGap = 2;
constexpr std::size_t kIdColumn = kGap + kStateWidth + kGap;

std::string_view code_of(CheckState state) {
  switch (state) {
    case CheckState::ok: return "32";
    case CheckState::degraded: return "33";
    case CheckState::missing: return "31";
  }
  return {};
}

std::string coloured(std::string text, std::string_view code, Colour colour) {
  if (colour == Colour::none) return text;
  return fmt::format("\x1b[{}m{}\x1b[0m", code, text);
}

std::size_t id_width(const DoctorReport& report) {
  std::size_t widest = 0;
  for (const CheckSection& section : report.sections) {
    for (const Check& check : section.checks) widest = std::max(widest, columns_of(check.id));
  }
  return widest;
}

void append_advice(std::string& out, const char* label, const std::string& text,
                   std::size_t width) {
  if (text.empty()) return;
  const std::string start = fmt::format("{:{}}{:<8}", "", kIdColumn, label);
  out += start;
  append_wrapped(out, printable(text), columns_of(start), width);
}

void append_check(std::string& out, const Check& check, std::size_t ids, const TextStyle& style) {
  const std::string state = fmt::format("{:<{}}", name_of(check.state), kStateWidth);
  out += fmt::format("  {}  {:<{}}  ", coloured(state, code_of(check.state), style.colour),
                     check.id, ids);
  const std::size_t indent = kIdColumn + ids + kGap;
  append_wrapped(out, printable(check.value), indent, style.width);
  append_advice(out, "costs:", check.cost, style.width);
  append_advice(out, "to add:", check.remedy, style.width);
}

std::string verdict(const DoctorReport& report) {
  if (!report.why_not.empty()) return "No job can run here: " + printable(report.why_not);
  std::array<std::size_t, 3> counts{};
  for (const CheckSection& section : report.sections) {
    for (const Check& check : section.checks) ++counts[static_cast<std::size_t>(check.state)];
  }
  return fmt::format("Jobs can run here: {} checks ok, {} degraded, {} missing.", counts[0],
                     counts[1], counts[2]);
}

}  // namespace

std::string_view name_of(CheckState state) {
  switch (state) {
    case CheckState::ok: return "ok";
    case CheckState::degraded: return "degraded";
    case CheckState::missing: return "missing";
  }
  return {};
}

std::string doctor_text(const DoctorReport& report, const TextStyle& style) {
  std::string out;
  append_wrapped(out, verdict(report), 0, style.width);
  const std::size_t ids = id_width(report);
  for (const CheckSection& section : report.sections) {
    out += "\n" + coloured(section.title, "1", style.colour) + "\n";
    for (const Check& check : section.checks) append_check(out, check, ids, style);
  }
  return out;
}

namespace {

Json check_json(const CheckSection& section, const Check& check) {
  Json json = Json::object();
  json["id"] = check.id;
  json["section"] = section.title;
  json["state"] = name_of(check.state);
  json["value"] = check.value;
  if (!check.cost.empty()) json["cost"] = check.cost;
  if (!check.remedy.empty()) json["remedy"] = check.remedy;
  return json;
}

}  // namespace

std::string to_json(const DoctorReport& report, JsonForm form) {
  Json json = Json::object();
  json["schema"] = "plimsoll.doctor/1";
  json["can_run"] = report.why_not.empty();
  if (!report.why_not.empty()) json["why_not"] = report.why_not;
  json["checks"] = Json::array();
  for (const CheckSection& section : report.sections) {
    for (const Check& check : section.checks) json["checks"].push_back(check_json(section, check));
  }
  return text_of(json, form);
}

}  // namespace plimsoll::report

#include <nlohmann/json.hpp>

#include "report/json_text.h"
#include "supervisor/doctor/doctor.h"

namespace plimsoll::report {
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

#include "supervisor/control/progress_json.h"

#include <nlohmann/json.hpp>

#include "policy/job/attempt.h"
#include "report/json_text.h"
#include "supervisor/control/status_json.h"

namespace plimsoll::supervisor {
namespace {

using Json = nlohmann::ordered_json;

Json line_at(Duration at, std::string_view kind) {
  return {{"schema", "plimsoll.progress/1"}, {"t_ns", at.count()}, {"kind", kind}};
}

void put_job(Json& json, const policy::JobSpec& job) {
  json["job"] = job.name;
  json["number"] = static_cast<std::uint64_t>(job.id);
}

}  // namespace

std::string progress_event(const policy::Event& event, const policy::JobSpec* job, Duration at) {
  Json json = line_at(at, name_of(event.kind));
  if (job != nullptr) put_job(json, *job);
  if (!event.reason.empty()) json["reason"] = event.reason;
  Json numbers = Json::object();
  for (const auto& [key, value] : event.numbers) numbers[std::string(key)] = value;
  if (!numbers.empty()) json["numbers"] = std::move(numbers);
  return report::text_of(json, report::JsonForm::line);
}

std::string progress_end(const policy::JobSpec& job, const report::JobReport& report, Duration at) {
  Json json = line_at(at, "ended");
  put_job(json, job);
  json["outcome"] = policy::name_of(report.outcome);
  json["success"] = policy::succeeded(report.outcome, report.exit_code);
  if (report.exit_code) json["exit_code"] = *report.exit_code;
  if (report.signal) json["signal"] = policy::signal_name(*report.signal);
  if (!report.reason.empty()) json["reason"] = report.reason;
  json["attempts"] = report.attempts.size();
  if (report.times.wall) json["wall_ns"] = report.times.wall->count();
  if (report.usage) {
    const counters::Sample& totals = report.usage->totals;
    if (totals.cpu.usage) json["cpu_usage_ns"] = totals.cpu.usage->count();
    const auto& memory = totals.memory;
    if (memory.peak) json["peak_bytes"] = memory.peak->count;
    if (memory.sampled_peak) json["sampled_peak_bytes"] = memory.sampled_peak->count;
  }
  return report::text_of(json, report::JsonForm::line);
}

std::string progress_status(const RunStatus& status, Duration at) {
  Json json = line_at(at, "status");
  json["status"] = to_json(status);
  return report::text_of(json, report::JsonForm::line);
}

std::string progress_notice(std::string_view text, Duration at) {
  Json json = line_at(at, "notice");
  json["text"] = text;
  return report::text_of(json, report::JsonForm::line);
}

}  // namespace plimsoll::supervisor

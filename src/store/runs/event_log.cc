#include "store/runs/event_log.h"

#include <cmath>
#include <fstream>
#include <functional>

#include "report/json_read.h"

namespace plimsoll::report {
namespace {

constexpr const char* kSchema = "plimsoll.event/1";
constexpr const char* kReportSchema = "plimsoll.job/1";
// From here on a double can't tell two whole numbers apart.
constexpr double kWholeMax = 9007199254740992.0;

// Calls `take` with each line until it answers false.
Result<void> each_line(const std::string& path,
                       const std::function<bool(const std::string&)>& take) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return fail_errno("open " + path);
  std::string line;
  while (std::getline(file, line)) {
    if (!take(line)) return {};
  }
  if (file.bad()) return fail(std::errc::io_error, "read " + path);
  return {};
}

}  // namespace

RecordedEvent recorded(const policy::Event& event, Instant begun, const JobNames& names) {
  RecordedEvent made;
  made.t = event.at - begun;
  made.kind = event.kind;
  if (event.job) {
    made.number = static_cast<std::uint64_t>(*event.job);
    const auto name = names.find(*event.job);
    made.job = name == names.end() ? std::to_string(*made.number) : name->second;
  }
  made.reason = event.reason;
  for (const auto& [name, value] : event.numbers) made.numbers.emplace_back(name, value);
  return made;
}

std::string to_json(const RecordedEvent& event) {
  auto json = Json::object();
  json["schema"] = kSchema;
  json["t_ns"] = event.t.count();
  json["kind"] = policy::name_of(event.kind);
  if (!event.job.empty()) json["job"] = event.job;
  if (event.number) json["number"] = *event.number;
  if (!event.reason.empty()) json["reason"] = event.reason;
  auto numbers = Json::object();
  for (const auto& [name, value] : event.numbers) {
    if (!std::isfinite(value)) continue;  // JSON has no word for it
    if (value == std::trunc(value) && std::abs(value) < kWholeMax) {
      numbers[name] = static_cast<std::int64_t>(value);
    } else {
      numbers[name] = value;
    }
  }
  if (!numbers.empty()) json["numbers"] = std::move(numbers);
  return text_of(json, JsonForm::line);
}

std::optional<RecordedEvent> parse_event(std::string_view line) {
  const auto json = parse_document(line, kSchema);
  if (!json) return std::nullopt;
  const Json& t = member(*json, "t_ns");
  const auto kind = policy::event_kind(text_at(*json, "kind"));
  if (!t.is_number_integer() || !kind) return std::nullopt;
  RecordedEvent event;
  event.t = Duration(t.get<Duration::rep>());
  event.kind = *kind;
  event.job = text_at(*json, "job");
  event.number = count_at(*json, "number");
  event.reason = text_at(*json, "reason");
  if (const Json& numbers = member(*json, "numbers"); numbers.is_object()) {
    for (const auto& [name, value] : numbers.items()) {
      if (value.is_number()) event.numbers.emplace_back(name, value.get<double>());
    }
  }
  return event;
}

Result<std::vector<RecordedEvent>> read_events(const std::string& path) {
  std::vector<RecordedEvent> events;
  auto read = each_line(path, [&](const std::string& line) {
    if (auto event = parse_event(line)) events.push_back(std::move(*event));
    return true;
  });
  if (!read) return pass(std::move(read));
  return events;
}

Result<std::vector<std::string>> read_reports(const std::string& path) {
  std::vector<std::string> reports;
  auto read = each_line(path, [&](const std::string& line) {
    if (parse_document(line, kReportSchema)) reports.push_back(line + '\n');
    return true;
  });
  if (!read) return pass(std::move(read));
  return reports;
}

Result<std::optional<std::string>> find_report(const std::string& path, const std::string& job) {
  // The id is the second key of a report, so that most lines need not be parsed.
  const std::string id = Json(job).dump(-1, ' ', false, Json::error_handler_t::replace);
  const std::string start = R"({"schema":"plimsoll.job/1","id":)" + id + ",";
  std::optional<std::string> found;
  auto read = each_line(path, [&](const std::string& line) {
    if (line.starts_with(start) && parse_document(line, kReportSchema)) found = line;
    return !found;
  });
  if (!read) return pass(std::move(read));
  return found;
}

}  // namespace plimsoll::report

#include "supervisor/control/control_protocol.h"

#include <nlohmann/json.hpp>

#include "base/cases.h"
#include "report/json_text.h"
#include "supervisor/control/status_json.h"

namespace plimsoll::supervisor {
namespace {

using Json = nlohmann::ordered_json;

constexpr const char* kSchema = "plimsoll.control/1";
constexpr std::size_t kFoundShownMax = 60;  // of what was found instead

std::string found(std::string_view text) {
  const bool cut = text.size() > kFoundShownMax;
  return "found " + std::string(text.substr(0, kFoundShownMax)) + (cut ? ".." : "");
}

// Never throws: what is no JSON becomes an error.
Result<Json> parse_object(std::string_view line) {
  Json json = Json::parse(line, nullptr, false);
  if (!json.is_object()) return fail(found(line) + ", expected a JSON object");
  return json;
}

// What holds others is only named: its text goes as deep into the stack as it is nested.
std::string text_of(const Json& json) {
  if (json.is_object()) return "an object";
  if (json.is_array()) return "a list";
  std::string text = report::text_of(json, report::JsonForm::line);
  text.pop_back();
  return text;
}

Result<std::string> job_in(const Json& json) {
  const auto job = json.find("job");
  if (job == json.end()) return fail("found no \"job\", expected the name or number of a job");
  if (job->is_number_unsigned()) return std::to_string(job->get<std::uint64_t>());
  if (job->is_string() && !job->get_ref<const std::string&>().empty()) {
    return job->get<std::string>();
  }
  return fail("\"job\": " + found(text_of(*job)) + ", expected a name or a number");
}

template <class Request>
Result<ControlRequest> of_job(const Json& json) {
  auto job = job_in(json);
  if (!job) return pass(std::move(job));
  return ControlRequest(Request{std::move(*job)});
}

Result<ControlRequest> set_line(const Json& json) {
  const auto size = json.find("size");
  if (size != json.end() && size->is_string()) return ControlRequest(SetLine{*size});
  if (size != json.end() && size->is_number_unsigned()) {
    return ControlRequest(SetLine{std::to_string(size->get<std::uint64_t>())});
  }
  return fail("\"size\": expected a size or a share, such as \"2G\" or \"80%\"");
}

Result<ControlRequest> set_jobs(const Json& json) {
  const auto jobs = json.find("jobs");
  if (jobs != json.end() && jobs->is_number_unsigned()) {
    const auto count = jobs->get<std::uint64_t>();
    if (count >= 1 && count <= kJobsAtOnceMax) {
      return ControlRequest(SetJobsMax{static_cast<unsigned>(count)});
    }
  }
  return fail("\"jobs\": expected a number from 1 to " + std::to_string(kJobsAtOnceMax));
}

}  // namespace

Result<ControlRequest> parse_request(std::string_view line) {
  auto json = parse_object(line);
  if (!json) return pass(std::move(json));
  const auto command = json->find("command");
  if (command == json->end() || !command->is_string())
    return fail("found no \"command\", expected status, pause, resume, kill, line or jobs");
  const auto& name = command->get_ref<const std::string&>();
  if (name == "status") return ControlRequest(AskStatus{});
  if (name == "pause") return of_job<PauseJob>(*json);
  if (name == "resume") return of_job<ResumeJob>(*json);
  if (name == "kill") return of_job<KillJob>(*json);
  if (name == "line") return set_line(*json);
  if (name == "jobs") return set_jobs(*json);
  return fail("\"command\": " + found(text_of(*command)) +
              ", expected status, pause, resume, kill, line or jobs");
}

Result<ControlAnswer> parse_answer(std::string_view line) {
  auto json = parse_object(line);
  if (!json) return pass(std::move(json));
  const auto ok = json->find("ok");
  if (ok == json->end() || !ok->is_boolean()) return fail(found(line) + ", expected an answer");
  ControlAnswer answer;
  if (!ok->get<bool>()) {
    const auto error = json->find("error");
    const bool told = error != json->end() && error->is_string();
    answer.error = told ? error->get<std::string>() : "no reason was given";
  }
  if (const auto status = json->find("status"); status != json->end()) {
    answer.status = status_of(*status);
  }
  if (const auto bytes = json->find("line_bytes");
      bytes != json->end() && bytes->is_number_unsigned()) {
    answer.line = Bytes{bytes->get<std::uint64_t>()};
  }
  return answer;
}

std::string to_line(const ControlRequest& request) {
  const Json json = std::visit(
      Cases{
          [](const AskStatus&) { return Json{{"command", "status"}}; },
          [](const PauseJob& asked) { return Json{{"command", "pause"}, {"job", asked.job}}; },
          [](const ResumeJob& asked) { return Json{{"command", "resume"}, {"job", asked.job}}; },
          [](const KillJob& asked) { return Json{{"command", "kill"}, {"job", asked.job}}; },
          [](const SetLine& asked) { return Json{{"command", "line"}, {"size", asked.size}}; },
          [](const SetJobsMax& asked) { return Json{{"command", "jobs"}, {"jobs", asked.jobs}}; }},
      request);
  return report::text_of(json, report::JsonForm::line);
}

std::string to_line(const ControlAnswer& answer) {
  Json json = {{"schema", kSchema}, {"ok", !answer.error}};
  if (answer.error) json["error"] = *answer.error;
  if (answer.line) json["line_bytes"] = answer.line->count;
  if (answer.status) json["status"] = to_json(*answer.status);
  return report::text_of(json, report::JsonForm::line);
}

}  // namespace plimsoll::supervisor

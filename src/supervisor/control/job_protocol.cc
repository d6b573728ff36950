#include "supervisor/control/job_protocol.h"

#include <algorithm>
#include <climits>
#include <cmath>
#include <nlohmann/json.hpp>

#include "base/cases.h"
#include "base/text.h"
#include "report/json_put.h"
#include "report/json_read.h"
#include "supervisor/control/run_status.h"

namespace plimsoll::supervisor {
namespace {

using report::Json;

constexpr const char* kJobSchema = "plimsoll.jobs/1";
constexpr std::size_t kTextMax = 256;  // of a name, of a class
constexpr mode_t kUmaskMax = 0777;
constexpr double kCoresMax = 100'000;
constexpr std::uint64_t kWeightMost = 10'000;
constexpr Duration kTimeoutMax = std::chrono::hours(24) * 3650;

// Moved and not copied: a copy goes as deep into the stack as what somebody has sent is nested.
Json parse_json(std::string_view line) {
  Json json = Json::parse(line, nullptr, false);
  if (!json.is_object()) json = nullptr;
  return json;
}

std::string message(const Json& json) { return report::text_of(json, report::JsonForm::line); }

tl::unexpected<Error> odd(const char* key, const std::string& expected) {
  return fail(std::errc::invalid_argument, "\"" + std::string(key) + "\": expected " + expected);
}

Result<std::size_t> size_in(const Json& json, const char* key, std::size_t most) {
  const auto number = report::count_at(json, key);
  if (!number || *number > most) return odd(key, "a number up to " + std::to_string(most));
  return static_cast<std::size_t>(*number);
}

Result<void> take_cores(const Json& json, const char* key, double least,
                        std::optional<double>& cores) {
  cores = report::number_at(json, key);
  if (!cores || (std::isfinite(*cores) && *cores >= least && *cores <= kCoresMax)) return {};
  return odd(key, "a number of cores from 0.001 to 100000");
}

// Nothing of what is no whole number, or would be another one as an int.
std::optional<int> whole_of(const Json& number) {
  if (!number.is_number_integer()) return std::nullopt;
  const bool fits = number.is_number_unsigned()
                        ? number.get<std::uint64_t>() <= std::uint64_t{INT_MAX}
                        : number.get<std::int64_t>() >= INT_MIN;
  return fits ? std::optional(number.get<int>()) : std::nullopt;
}

bool is_said(const Json& json, const char* key) { return !report::member(json, key).is_null(); }

// What is there is meant: a bound that can't be read is not left out.
Result<void> check_counts(const Json& json) {
  for (const char* key : {"memory_hint_bytes", "disk_hint_bytes", "memory_max_bytes", "pids_max",
                          "cpu_weight", "timeout_ns"}) {
    if (is_said(json, key) && !report::count_at(json, key)) return odd(key, "a whole number");
  }
  if (is_said(json, "timeout_ns") && !report::duration_at(json, "timeout_ns")) {
    return odd("timeout_ns", "a time of at most ten years");
  }
  for (const char* key : {"cpu_hint_cores", "cpus_max"}) {
    if (is_said(json, key) && !report::number_at(json, key)) return odd(key, "a number of cores");
  }
  return {};
}

Result<void> take_bounds(const Json& json, policy::JobSpec& job) {
  if (auto taken = check_counts(json); !taken) return taken;
  job.memory_hint = report::bytes_at(json, "memory_hint_bytes");
  job.disk_hint = report::bytes_at(json, "disk_hint_bytes");
  job.limits.memory_max = report::bytes_at(json, "memory_max_bytes");
  job.limits.pids_max = report::count_at(json, "pids_max");
  if (job.limits.memory_max == Bytes{}) return odd("memory_max_bytes", "a number of at least 1");
  if (job.limits.pids_max == 0) return odd("pids_max", "a number of at least 1");
  if (const auto weight = report::count_at(json, "cpu_weight")) {
    if (*weight < 1 || *weight > kWeightMost) return odd("cpu_weight", "a number from 1 to 10000");
    job.limits.cpu_weight = static_cast<unsigned>(*weight);
  }
  job.timeout = report::duration_at(json, "timeout_ns");
  if (job.timeout && (*job.timeout <= Duration{} || *job.timeout > kTimeoutMax)) {
    return odd("timeout_ns", "a time of at most ten years");
  }
  if (auto taken = take_cores(json, "cpu_hint_cores", kCpusMin, job.cpu_hint); !taken) return taken;
  return take_cores(json, "cpus_max", kCpusMin, job.limits.cpus);
}

Result<SubmitHead> submit_head(const Json& json) {
  SubmitHead head;
  policy::JobSpec& job = head.asked.job;
  job.name = report::text_at(json, "name");
  job.job_class = report::text_at(json, "class");
  if (job.name.size() > kTextMax || job.job_class.size() > kTextMax) {
    return odd("name", "a name and a class of at most 256 bytes");
  }
  if (auto taken = take_bounds(json, job); !taken) return pass(std::move(taken));
  const Json& priority = report::member(json, "priority");
  if (!priority.is_null()) {
    const auto number = whole_of(priority);
    if (!number) return odd("priority", "a whole number of 32 bits");
    job.priority = *number;
  }
  job.restartable = report::member(json, "restartable") == Json(true);
  const auto umask = size_in(json, "umask", kUmaskMax);
  const auto words = size_in(json, "words", kJobWordsMax);
  const auto values = size_in(json, "values", kJobWordsMax);
  const auto bytes = size_in(json, "bytes", kSubmitBytesMax);
  for (const auto* size : {&umask, &words, &values, &bytes}) {
    if (!*size) return tl::unexpected(size->error());
  }
  if (*words == 0) return odd("words", "a command");
  if (*words + *values > kJobWordsMax) {
    return odd("values", "at most 250000 words and variables together");
  }
  head.asked.umask = static_cast<mode_t>(*umask);
  head.words = *words;
  head.values = *values;
  head.bytes = *bytes;
  if (report::member(json, "detached") == Json(true)) head.asked.files.emplace();
  return head;
}

Json json_of(const policy::JobSpec& job) {
  Json json = Json::object();
  report::put_text(json, "name", job.name);
  report::put_text(json, "class", job.job_class);
  report::put(json, "memory_hint_bytes", job.memory_hint);
  report::put(json, "disk_hint_bytes", job.disk_hint);
  report::put(json, "memory_max_bytes", job.limits.memory_max);
  report::put(json, "pids_max", job.limits.pids_max);
  report::put(json, "timeout_ns", job.timeout);
  if (job.limits.cpu_weight) json["cpu_weight"] = *job.limits.cpu_weight;
  if (job.cpu_hint) json["cpu_hint_cores"] = *job.cpu_hint;
  if (job.limits.cpus) json["cpus_max"] = *job.limits.cpus;
  if (job.priority != 0) json["priority"] = job.priority;
  if (job.restartable) json["restartable"] = true;
  return json;
}

std::optional<int> whole_in(const Json& json, const char* key) {
  return whole_of(report::member(json, key));
}

Json json_of(const JobEnded& ended) {
  Json json = {{"event", "ended"}, {"outcome", ended.outcome}, {"reason", ended.reason}};
  if (ended.exit_code) json["exit_code"] = *ended.exit_code;
  if (ended.signal) json["signal"] = *ended.signal;
  if (ended.start_error) json["start_errno"] = *ended.start_error;
  report::put_text(json, "report", ended.report);
  return json;
}

Result<Words> take_words(std::string_view& bytes, std::size_t count) {
  WordsBuilder words;
  for (std::size_t i = 0; i < count; ++i) {
    const std::string_view word = take_until(bytes, '\0');
    if (word.size() > kJobWordBytesMax) {
      return fail(std::errc::invalid_argument,
                  "found a word or a variable of " + std::to_string(word.size()) +
                      " bytes, expected at most " + std::to_string(kJobWordBytesMax) +
                      ", the kernel's limit for one");
    }
    words.add(word);
  }
  return words.take();
}

Result<void> take_path(std::string_view& bytes, std::string& path) {
  path = take_until(bytes, '\0');
  if (path.size() <= kJobPathMax) return {};
  return fail(std::errc::invalid_argument,
              "found a directory or a file with a name of " + std::to_string(path.size()) +
                  " bytes, expected at most " + std::to_string(kJobPathMax));
}

}  // namespace

std::string job_socket_of(const std::string& daemon_socket) { return daemon_socket + ".jobs"; }

Result<JobRequest> parse_job_request(std::string_view line) {
  const Json json = parse_json(line);
  const std::string command = report::text_at(json, "command");
  if (command == "list") return JobRequest(ListJobs{});
  if (command == "submit") {
    auto head = submit_head(json);
    if (!head) return pass(std::move(head));
    return JobRequest(std::move(*head));
  }
  auto request = parse_request(line);
  if (!request) return pass(std::move(request));
  return JobRequest(std::move(*request));
}

Result<SubmitJob> complete(SubmitHead head, std::string_view bytes) {
  const std::size_t files = head.asked.files ? 2 : 0;
  const std::size_t wanted = head.words + head.values + 1 + files;
  if (bytes.empty() || bytes.back() != '\0') {
    return fail(std::errc::invalid_argument, "found texts without a NUL byte at the end");
  }
  if (static_cast<std::size_t>(std::count(bytes.begin(), bytes.end(), '\0')) != wanted) {
    return fail(std::errc::invalid_argument,
                "found a different number of texts than \"words\" and \"values\" say");
  }
  if (bytes.front() == '\0') {
    return fail(std::errc::invalid_argument, "found an empty command, expected one");
  }
  SubmitJob asked = std::move(head.asked);
  auto command = take_words(bytes, head.words);
  if (!command) return pass(std::move(command));
  asked.job.command = std::move(*command);
  auto environment = take_words(bytes, head.values);
  if (!environment) return pass(std::move(environment));
  asked.environment = std::move(*environment);
  if (auto taken = take_path(bytes, asked.job.cwd); !taken) return pass(std::move(taken));
  if (files > 0) {
    if (auto taken = take_path(bytes, asked.files->out); !taken) return pass(std::move(taken));
    if (auto taken = take_path(bytes, asked.files->err); !taken) return pass(std::move(taken));
  }
  if (!asked.job.cwd.starts_with('/')) {
    return fail(std::errc::invalid_argument,
                "found the directory \"" + asked.job.cwd + "\", expected an absolute path");
  }
  return asked;
}

std::string to_message(const SubmitJob& asked) {
  const auto& words = std::get<Words>(asked.job.command);
  std::string bytes;
  const auto add = [&bytes](std::string_view text) { bytes.append(text).push_back('\0'); };
  std::for_each(words.begin(), words.end(), add);
  std::for_each(asked.environment.begin(), asked.environment.end(), add);
  add(asked.job.cwd);
  if (asked.files) {
    add(asked.files->out);
    add(asked.files->err);
  }
  Json json = {{"command", "submit"}};
  json.update(json_of(asked.job));
  json["umask"] = asked.umask;
  json["words"] = words.size();
  json["values"] = asked.environment.size();
  if (asked.files) json["detached"] = true;
  json["bytes"] = bytes.size();
  return message(json) + bytes;
}

std::string to_message(const ListJobs& /*asked*/) { return message({{"command", "list"}}); }

std::string to_message(const std::vector<ListedJob>& jobs) {
  Json list = Json::array();
  for (const ListedJob& job : jobs) {
    Json json = {{"number", static_cast<std::uint64_t>(job.job)},
                 {"job", job.name},
                 {"uid", job.uid},
                 {"state", job.state}};
    if (!job.reason.empty()) json["reason"] = job.reason.substr(0, kCommandShownMax);
    report::put(json, "age_ns", std::optional(job.age));
    json["command"] = job.command.substr(0, kCommandShownMax);
    list.push_back(std::move(json));
  }
  return message({{"schema", kJobSchema}, {"ok", true}, {"jobs", std::move(list)}});
}

Result<std::vector<ListedJob>> parse_listed(std::string_view line) {
  const Json json = parse_json(line);
  if (report::member(json, "ok") == Json(false)) return fail(report::text_at(json, "error"));
  const Json& list = report::member(json, "jobs");
  if (!list.is_array()) return fail("found no list of jobs");
  std::vector<ListedJob> jobs;
  for (const Json& job : list) {
    jobs.push_back({.job = JobId{report::count_at(job, "number").value_or(0)},
                    .name = report::text_at(job, "job"),
                    .command = report::text_at(job, "command"),
                    .uid = static_cast<std::uint32_t>(report::count_at(job, "uid").value_or(0)),
                    .state = report::text_at(job, "state"),
                    .reason = report::text_at(job, "reason"),
                    .age = report::duration_at(job, "age_ns").value_or(Duration{})});
  }
  return jobs;
}

std::string to_message(const JobNews& news) {
  return message(std::visit(
      Cases{[](const JobTaken& taken) {
              return Json{{"schema", kJobSchema},
                          {"ok", true},
                          {"job", static_cast<std::uint64_t>(taken.job)}};
            },
            [](const JobStands& stands) {
              return Json{{"event", "state"},
                          {"state", stands.state},
                          {"attempt", stands.attempt},
                          {"reason", stands.reason}};
            },
            [](const OutputHead& output) {
              return Json{{"event", "output"},
                          {"stream", output.stream == JobOutput::out ? "stdout" : "stderr"},
                          {"bytes", output.bytes}};
            },
            [](const JobEnded& ended) { return json_of(ended); },
            [](const JobRefused& refused) {
              return Json{{"schema", kJobSchema}, {"ok", false}, {"error", refused.error}};
            }},
      news));
}

Result<JobNews> parse_news(std::string_view line) {
  const Json json = parse_json(line);
  const Json& ok = report::member(json, "ok");
  if (ok == Json(false)) return JobNews(JobRefused{report::text_at(json, "error")});
  if (ok == Json(true)) return JobNews(JobTaken{JobId{report::count_at(json, "job").value_or(0)}});
  const std::string event = report::text_at(json, "event");
  if (event == "state") {
    return JobNews(
        JobStands{.state = report::text_at(json, "state"),
                  .attempt = static_cast<unsigned>(report::count_at(json, "attempt").value_or(0)),
                  .reason = report::text_at(json, "reason")});
  }
  if (event == "output") {
    auto bytes = size_in(json, "bytes", kOutputBytesMax);
    if (!bytes) return pass(std::move(bytes));
    const bool is_out = report::text_at(json, "stream") == "stdout";
    return JobNews(OutputHead{.stream = is_out ? JobOutput::out : JobOutput::err, .bytes = *bytes});
  }
  if (event == "ended") {
    return JobNews(JobEnded{.outcome = report::text_at(json, "outcome"),
                            .exit_code = whole_in(json, "exit_code"),
                            .signal = whole_in(json, "signal"),
                            .start_error = whole_in(json, "start_errno"),
                            .reason = report::text_at(json, "reason"),
                            .report = report::text_at(json, "report")});
  }
  return fail("found an unknown line");
}

}  // namespace plimsoll::supervisor

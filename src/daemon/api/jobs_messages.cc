#include "daemon/api/jobs_messages.h"

#include <cmath>
#include <string>

#include "base/text.h"
#include "daemon/api/priority_range.h"
#include "daemon/api/weight_range.h"
#include "report/json.h"
#include "supervisor/control/job_protocol.h"

namespace plimsoll::daemon {
namespace {

constexpr double kJobCoresMax = 100'000;
constexpr std::size_t kJobTextMax = 256;
const std::string kWordBytes = "at most " + std::to_string(supervisor::kJobWordBytesMax) +
                               ", the kernel's limit for one word or variable";
constexpr std::int64_t kTimeoutSecondsMax = 10LL * 365 * 86'400;

tl::unexpected<Error> bad(const std::string& what, const std::string& found,
                          const std::string& expected) {
  return fail(std::errc::invalid_argument,
              "job." + what + ": found " + found + ", expected " + expected);
}

bool has_nul(const std::string& text) { return text.find('\0') != std::string::npos; }

v1::JobState state_of(ApiJobState state) {
  switch (state) {
    case ApiJobState::waiting: return v1::JOB_STATE_WAITING;
    case ApiJobState::running: return v1::JOB_STATE_RUNNING;
    case ApiJobState::paused: return v1::JOB_STATE_PAUSED;
  }
  return v1::JOB_STATE_UNSPECIFIED;
}

Result<void> take_cores(std::optional<double>& cores, const char* name, double value) {
  if (!std::isfinite(value) || value < 0 || value > kJobCoresMax) {
    return bad(name, std::to_string(value), "0 to 100000");
  }
  if (value > 0) cores = value;
  return {};
}

Result<void> take_quota(std::optional<double>& cores, const char* name, double value) {
  if (value > 0 && value < kCpusMin) {
    return bad(name, std::to_string(value), "0, or 0.001 to 100000");
  }
  return take_cores(cores, name, value);
}

Result<void> take_command(const v1::JobSpec& message, JobRequest& order) {
  const auto words =
      static_cast<std::size_t>(message.argv_size()) + static_cast<std::size_t>(message.env_size());
  if (words > supervisor::kJobWordsMax) {
    return bad("argv", "more than 250000 words or variables", "at most 250000");
  }
  if (message.argv().empty() || message.argv(0).empty()) return bad("argv", "no command", "one");
  std::size_t bytes = 0;
  for (const std::string& word : message.argv()) bytes += word.size();
  WordsBuilder argv;
  argv.reserve(static_cast<std::size_t>(message.argv_size()), bytes);
  for (const std::string& word : message.argv()) {
    if (has_nul(word)) return bad("argv", "a NUL byte", "none");
    if (word.size() > supervisor::kJobWordBytesMax) {
      return bad("argv", "a word of " + std::to_string(word.size()) + " bytes", kWordBytes);
    }
    argv.add(word);
  }
  order.spec.command = argv.take();
  order.spec.cwd = message.cwd().empty() ? "/" : message.cwd();
  if (order.spec.cwd.size() > supervisor::kJobPathMax) {
    return bad("cwd", "a path of " + std::to_string(order.spec.cwd.size()) + " bytes",
               "at most " + std::to_string(supervisor::kJobPathMax));
  }
  if (!order.spec.cwd.starts_with('/') || has_nul(order.spec.cwd)) {
    return bad("cwd", "\"" + message.cwd() + "\"", "an absolute path");
  }
  WordsBuilder environment;
  for (const auto& [name, value] : message.env()) {
    if (name.empty() || name.find('=') != std::string::npos || has_nul(name) || has_nul(value)) {
      return bad("env", "\"" + std::string(cut_utf8(name, kJobTextMax)) + "\"",
                 "a name without = and values without NUL bytes");
    }
    if (name.size() + 1 + value.size() > supervisor::kJobWordBytesMax) {
      return bad("env",
                 "a variable of " + std::to_string(name.size() + 1 + value.size()) + " bytes",
                 kWordBytes);
    }
    environment.add(name + "=", value);
  }
  order.environment = environment.take();
  return {};
}

Result<void> take_limits(const v1::JobSpec& message, policy::JobSpec& spec) {
  if (message.memory_hint_bytes() > 0) spec.memory_hint = Bytes{message.memory_hint_bytes()};
  if (message.memory_max_bytes() > 0) spec.limits.memory_max = Bytes{message.memory_max_bytes()};
  if (message.pids_max() > 0) spec.limits.pids_max = message.pids_max();
  if (auto taken = take_cores(spec.cpu_hint, "cpu_hint_cores", message.cpu_hint_cores()); !taken) {
    return taken;
  }
  return take_quota(spec.limits.cpus, "cpus_max", message.cpus_max());
}

}  // namespace

Result<JobRequest> order_of(const v1::JobSpec& message) {
  JobRequest order;
  if (auto taken = take_command(message, order); !taken) return pass(std::move(taken));
  policy::JobSpec& spec = order.spec;
  if (message.name().size() > kJobTextMax || message.class_().size() > kJobTextMax) {
    return bad("name", "a name or class of more than 256 bytes", "at most 256");
  }
  spec.name = message.name();
  spec.job_class = message.class_();
  if (auto taken = take_limits(message, spec); !taken) return pass(std::move(taken));
  if (!is_priority(message.priority())) {
    return bad("priority", std::to_string(message.priority()), kPriorityRange);
  }
  spec.priority = message.priority();
  auto weight = weight_of("job.weight", message.weight());
  if (!weight) return pass(std::move(weight));
  spec.limits.cpu_weight = *weight;
  spec.restartable = message.restartable();
  if (message.has_timeout()) {
    const std::int64_t seconds = message.timeout().seconds();
    const std::int32_t nanos = message.timeout().nanos();
    if (seconds < 0 || seconds > kTimeoutSecondsMax || nanos < 0 || nanos > 999'999'999 ||
        (seconds == 0 && nanos == 0)) {
      return bad("timeout", std::to_string(seconds) + " s", "more than 0 and at most 10 years");
    }
    spec.timeout = std::chrono::seconds(seconds) + std::chrono::nanoseconds(nanos);
  }
  return order;
}

v1::JobEvent message_of(const StateTold& told) {
  v1::JobEvent event;
  v1::State& state = *event.mutable_state();
  state.set_job(static_cast<std::uint64_t>(told.job));
  state.set_state(state_of(told.state));
  state.set_attempt(told.attempt);
  state.set_reason(told.reason);
  return event;
}

v1::JobEvent message_of(OutputStream stream, std::string_view data) {
  v1::JobEvent event;
  v1::Output& output = *event.mutable_output();
  output.set_stream(stream == OutputStream::out ? v1::Output::STDOUT : v1::Output::STDERR);
  output.set_data(data.data(), data.size());
  return event;
}

v1::JobEvent message_of(const report::JobReport& report) {
  v1::JobEvent event;
  v1::Ended& ended = *event.mutable_ended();
  ended.set_outcome(std::string(policy::name_of(report.outcome)));
  if (report.exit_code) ended.set_exit_code(*report.exit_code);
  if (report.signal) ended.set_signal(*report.signal);
  ended.set_reason(report.reason);
  ended.set_report(report::to_json(report, report::JsonForm::line));
  return event;
}

v1::ListResponse message_of(const std::vector<JobListed>& jobs) {
  v1::ListResponse response;
  for (const JobListed& listed : jobs) {
    v1::ListResponse::Job& job = *response.add_jobs();
    job.set_job(static_cast<std::uint64_t>(listed.job));
    job.set_name(listed.name);
    job.set_uid(listed.uid);
    job.set_state(state_of(listed.state));
  }
  return response;
}

v1::ExplainResponse message_of(const JobStory& story) {
  constexpr std::int64_t kSecond = 1'000'000'000;
  v1::ExplainResponse response;
  response.set_cut(story.cut);
  for (const JobStory::Decision& decided : story.decisions) {
    v1::ExplainResponse::Decision& decision = *response.add_decisions();
    decision.mutable_at()->set_seconds(decided.at.count() / kSecond);
    decision.mutable_at()->set_nanos(static_cast<std::int32_t>(decided.at.count() % kSecond));
    decision.set_kind(std::string(policy::name_of(decided.kind)));
    decision.set_reason(decided.reason);
    for (const auto& [name, value] : decided.numbers) {
      (*decision.mutable_numbers())[std::string(name)] = value;
    }
  }
  return response;
}

}  // namespace plimsoll::daemon

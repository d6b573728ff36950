#include "daemon/api/jobs_messages.h"

#include <string>

#include "report/json.h"

namespace plimsoll::daemon {
namespace {

v1::JobState state_of(ApiJobState state) {
  switch (state) {
    case ApiJobState::waiting: return v1::JOB_STATE_WAITING;
    case ApiJobState::running: return v1::JOB_STATE_RUNNING;
    case ApiJobState::paused: return v1::JOB_STATE_PAUSED;
  }
  return v1::JOB_STATE_UNSPECIFIED;
}

}  // namespace

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
    job.set_reason(listed.reason);
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

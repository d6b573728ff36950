#include "plimsoll/jobs.h"

#include <grpcpp/grpcpp.h>

#include "plimsoll/governor.h"
#include "plimsoll/v1/jobs.grpc.pb.h"

namespace plimsoll::client {
namespace {

constexpr std::int64_t kSecond = 1'000'000'000;

v1::RunRequest request_of(const Command& command) {
  v1::RunRequest request;
  v1::JobSpec& job = *request.mutable_job();
  job.set_name(command.name);
  for (const std::string& word : command.argv) job.add_argv(word);
  job.set_cwd(command.cwd);
  for (const auto& [name, value] : command.env) (*job.mutable_env())[name] = value;
  job.set_class_(command.job_class);
  job.set_memory_hint_bytes(command.memory_hint_bytes.value_or(0));
  job.set_disk_hint_bytes(command.disk_hint_bytes.value_or(0));
  job.set_cpu_hint_cores(command.cpu_hint_cores.value_or(0));
  job.set_memory_max_bytes(command.memory_max_bytes.value_or(0));
  job.set_cpus_max(command.cpus_max.value_or(0));
  job.set_pids_max(command.pids_max.value_or(0));
  job.set_priority(command.priority);
  job.set_weight(command.weight.value_or(0));
  if (command.timeout) {
    job.mutable_timeout()->set_seconds(command.timeout->count() / kSecond);
    job.mutable_timeout()->set_nanos(static_cast<std::int32_t>(command.timeout->count() % kSecond));
  }
  job.set_restartable(command.restartable);
  return request;
}

RunState state_of(v1::JobState state) {
  if (state == v1::JOB_STATE_RUNNING) return RunState::running;
  return state == v1::JOB_STATE_PAUSED ? RunState::paused : RunState::waiting;
}

Ended ended_of(const v1::Ended& message) {
  Ended ended{.outcome = message.outcome(), .reason = message.reason(), .report = message.report()};
  if (message.has_exit_code()) ended.exit_code = message.exit_code();
  if (message.has_signal()) ended.signal = message.signal();
  return ended;
}

void tell(const Listener& listener, const v1::JobEvent& event) {
  if (event.has_state() && listener.state) {
    const v1::State& state = event.state();
    listener.state({state.job(), state_of(state.state()), state.attempt(), state.reason()});
  }
  if (!event.has_output()) return;
  const auto& hear = event.output().stream() == v1::Output::STDOUT ? listener.out : listener.err;
  if (hear) hear(event.output().data());
}

Failure failure_of(const grpc::Status& status) {
  return {static_cast<int>(status.error_code()), status.error_message()};
}

template <class Value>
Answer<Value> answer(const grpc::Status& status, Value value) {
  if (!status.ok()) return {.value = {}, .failure = failure_of(status)};
  return {.value = std::move(value)};
}

Answer<Ended> follow(grpc::ClientReader<v1::JobEvent>& stream, const Listener& listener) {
  std::optional<Ended> ended;
  for (v1::JobEvent event; stream.Read(&event);) {
    tell(listener, event);
    if (event.has_ended()) ended = ended_of(event.ended());
  }
  const grpc::Status status = stream.Finish();
  if (!status.ok()) return {.value = {}, .failure = failure_of(status)};
  if (ended) return {.value = std::move(ended)};
  return {.value = {},
          .failure = {static_cast<int>(grpc::StatusCode::INTERNAL),
                      "the daemon closed the stream without reporting how the job ended"}};
}

}  // namespace

class Jobs::Calls {
 public:
  explicit Calls(const std::string& socket)
      : stub(v1::Jobs::NewStub(
            grpc::CreateChannel("unix:" + socket, grpc::InsecureChannelCredentials()))) {}

  std::unique_ptr<v1::Jobs::Stub> stub;
};

Jobs::Jobs(std::unique_ptr<Calls> calls) : calls_(std::move(calls)) {}
Jobs::~Jobs() = default;

std::unique_ptr<Jobs> Jobs::connect(const std::string& socket) {
  auto calls = std::make_unique<Calls>(socket.empty() ? default_socket() : socket);
  return std::unique_ptr<Jobs>(new Jobs(std::move(calls)));
}

Answer<Ended> Jobs::run(const Command& command, const Listener& listener,
                        std::optional<std::chrono::nanoseconds> give_up_after) {
  grpc::ClientContext context;
  if (give_up_after) {
    context.set_deadline(
        std::chrono::system_clock::now() +
        std::chrono::duration_cast<std::chrono::system_clock::duration>(*give_up_after));
  }
  return follow(*calls_->stub->Run(&context, request_of(command)), listener);
}

Answer<std::uint64_t> Jobs::submit(const Command& command) {
  grpc::ClientContext context;
  v1::SubmitResponse response;
  const grpc::Status status = calls_->stub->Submit(&context, request_of(command), &response);
  return answer<std::uint64_t>(status, response.job());
}

Answer<Ended> Jobs::watch(std::uint64_t job, const Listener& listener) {
  grpc::ClientContext context;
  v1::WatchRequest request;
  request.set_job(job);
  return follow(*calls_->stub->Watch(&context, request), listener);
}

Answer<std::vector<ListedJob>> Jobs::list() {
  grpc::ClientContext context;
  v1::ListResponse response;
  const grpc::Status status = calls_->stub->List(&context, {}, &response);
  std::vector<ListedJob> jobs;
  for (const auto& job : response.jobs()) {
    jobs.push_back({job.job(), job.name(), job.uid(), state_of(job.state())});
  }
  return answer(status, std::move(jobs));
}

Answer<Done> Jobs::signal(std::uint64_t job, int number) {
  grpc::ClientContext context;
  v1::SignalRequest request;
  v1::SignalResponse response;
  request.set_job(job);
  request.set_signal(number);
  return answer(calls_->stub->Signal(&context, request, &response), Done{});
}

Answer<Explanation> Jobs::explain(std::uint64_t job) {
  grpc::ClientContext context;
  v1::ExplainRequest request;
  v1::ExplainResponse response;
  request.set_job(job);
  const grpc::Status status = calls_->stub->Explain(&context, request, &response);
  Explanation explanation{.decisions = {}, .cut = response.cut()};
  for (const auto& decision : response.decisions()) {
    explanation.decisions.push_back(
        {std::chrono::nanoseconds(decision.at().seconds() * kSecond + decision.at().nanos()),
         decision.kind(),
         decision.reason(),
         {decision.numbers().begin(), decision.numbers().end()}});
  }
  return answer(status, std::move(explanation));
}

}  // namespace plimsoll::client

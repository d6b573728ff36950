#include "daemon/runner/runner_service.h"

#include <grpcpp/grpcpp.h>

#include <algorithm>
#include <atomic>

#include <buildbarn/runner/runner.grpc.pb.h>
#include "daemon/runner/runner_messages.h"
#include "supervisor/wall_clock.h"

namespace plimsoll::daemon {
namespace {

using buildbarn::runner::CheckReadinessRequest;
using buildbarn::runner::Runner;
using buildbarn::runner::RunRequest;
using buildbarn::runner::RunResponse;
using google::protobuf::Empty;

grpc::Status to_grpc(const Status& status) {
  if (status.ok()) return grpc::Status::OK;
  return {static_cast<grpc::StatusCode>(status.code), status.text};
}

const Status kBusy = {Code::unavailable,
                      "The runner is shutting down, or too many calls are waiting"};

// What is left until the caller's deadline; a client without one says "infinitely far".
std::optional<Duration> time_left(const grpc::CallbackServerContext& context) {
  const auto deadline = context.deadline();
  if (deadline == std::chrono::system_clock::time_point::max()) return std::nullopt;
  const auto left = deadline - supervisor::wall_now();
  return std::max(std::chrono::duration_cast<Duration>(left), Duration{});
}

// One call. It lives until gRPC is done with it, which is after its one answer.
class Call : public grpc::ServerUnaryReactor {
 public:
  Call(Gate& gate, const RunnerHandlers& handlers, CallId id)
      : gate_(gate), handlers_(handlers), id_(id) {}

  void OnCancel() override {
    if (!has_passed_) return;
    gate_.post_always(policy::kHost, [cancel = handlers_.cancel, id = id_] { cancel(id); });
  }
  void OnDone() override { const std::unique_ptr<Call> last(this); }

  void answer(const Status& status) { Finish(to_grpc(status)); }
  void post(std::function<void()> call) {
    has_passed_ = gate_.post(policy::kHost, std::move(call));
    if (!has_passed_) answer(kBusy);
  }

 private:
  Gate& gate_;
  const RunnerHandlers& handlers_;
  CallId id_;
  bool has_passed_ = false;  // set before gRPC has this
};

}  // namespace

class RunnerService::Inside : public Runner::CallbackService {
 public:
  Inside(Gate& gate, RunnerHandlers handlers) : gate_(gate), handlers_(std::move(handlers)) {}

  grpc::ServerUnaryReactor* CheckReadiness(grpc::CallbackServerContext* /*context*/,
                                           const CheckReadinessRequest* request,
                                           Empty* /*response*/) override {
    const CallId id = next_id();
    Call* call = make_call(id);
    call->post([check = handlers_.check, id, path = request->path(), call] {
      check(id, path, [call](const Status& status) { call->answer(status); });
    });
    return call;
  }

  grpc::ServerUnaryReactor* Run(grpc::CallbackServerContext* context, const RunRequest* request,
                                RunResponse* response) override {
    const CallId id = next_id();
    ActionRequest order = order_of(*request);
    order.time_left = time_left(*context);
    Call* call = make_call(id);
    call->post([run = handlers_.run, id, order = std::move(order), call, response]() mutable {
      run(id, std::move(order), [call, response](const RunAnswer& answer) {
        if (answer.status.ok()) fill(*response, answer);
        call->answer(answer.status);
      });
    });
    return call;
  }

 private:
  CallId next_id() { return CallId{++last_id_}; }
  Call* make_call(CallId id) { return std::make_unique<Call>(gate_, handlers_, id).release(); }

  Gate& gate_;
  RunnerHandlers handlers_;
  std::atomic<std::uint64_t> last_id_ = 0;
};

RunnerService::RunnerService(Gate& gate, RunnerHandlers handlers)
    : inside_(std::make_unique<Inside>(gate, std::move(handlers))) {}
RunnerService::~RunnerService() = default;

grpc::Service* RunnerService::service() { return inside_.get(); }

}  // namespace plimsoll::daemon

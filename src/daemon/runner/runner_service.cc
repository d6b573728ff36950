#include "daemon/runner/runner_service.h"

#include <grpcpp/grpcpp.h>

#include <algorithm>
#include <functional>
#include <utility>

#include <buildbarn/runner/runner.grpc.pb.h>
#include "daemon/runner/runner.h"
#include "daemon/runner/runner_messages.h"
#include "supervisor/wall_clock.h"

namespace plimsoll::daemon {
namespace {

using buildbarn::runner::CheckReadinessRequest;
using buildbarn::runner::RunRequest;
using buildbarn::runner::RunResponse;
using google::protobuf::Empty;

grpc::Status to_grpc(const Status& status) {
  if (status.ok()) return grpc::Status::OK;
  return {static_cast<grpc::StatusCode>(status.code), status.text};
}

const Status kBusy = {Code::unavailable, "The runner is going down, or has too many calls waiting"};

// What is left until the caller's deadline; a client without one says "infinitely far".
std::optional<Duration> time_left(const grpc::CallbackServerContext& context) {
  const auto deadline = context.deadline();
  if (deadline == std::chrono::system_clock::time_point::max()) return std::nullopt;
  const auto left = deadline - supervisor::wall_now();
  return std::max(std::chrono::duration_cast<Duration>(left), Duration{});
}

// One call. It lives until gRPC is done with it, which is after its one answer.
class Call : public grpc::ServerUnaryReactor, private WorkerCall {
 public:
  // `response` is of a run, and gRPC's until the answer.
  Call(Gate& gate, Runner& runner, CallId id, RunResponse* response = nullptr)
      : gate_(gate), runner_(runner), id_(id), response_(response) {}

  void check(std::string path) {
    post([this, path = std::move(path)] { runner_.check(path, *this); });
  }
  void run(ActionRequest order) {
    post([this, order = std::move(order)]() mutable { runner_.run(id_, std::move(order), *this); });
  }

  void OnCancel() override {
    if (!has_passed_) return;
    gate_.post_always(policy::kHost, [&runner = runner_, id = id_] { runner.cancel(id); });
  }
  void OnDone() override { const std::unique_ptr<Call> last(this); }

 private:
  void checked(const Status& status) override { Finish(to_grpc(status)); }
  void ran(const RunAnswer& answer) override {
    if (answer.status.ok()) fill(*response_, answer);
    Finish(to_grpc(answer.status));
  }
  void post(std::function<void()> call) {
    has_passed_ = gate_.post(policy::kHost, std::move(call));
    if (!has_passed_) Finish(to_grpc(kBusy));
  }

  Gate& gate_;
  Runner& runner_;
  CallId id_;
  RunResponse* response_;
  bool has_passed_ = false;  // set before gRPC has this
};

}  // namespace

class RunnerService::Inside : public buildbarn::runner::Runner::CallbackService {
 public:
  Inside(Gate& gate, Runner& runner) : gate_(gate), runner_(runner) {}

  grpc::ServerUnaryReactor* CheckReadiness(grpc::CallbackServerContext* /*context*/,
                                           const CheckReadinessRequest* request,
                                           Empty* /*response*/) override {
    auto call = std::make_unique<Call>(gate_, runner_, runner_.new_call());
    call->check(request->path());
    return call.release();
  }

  grpc::ServerUnaryReactor* Run(grpc::CallbackServerContext* context, const RunRequest* request,
                                RunResponse* response) override {
    ActionRequest order = order_of(*request);
    order.time_left = time_left(*context);
    auto call = std::make_unique<Call>(gate_, runner_, runner_.new_call(), response);
    call->run(std::move(order));
    return call.release();
  }

 private:
  Gate& gate_;
  Runner& runner_;
};

RunnerService::RunnerService(Gate& gate, Runner& runner)
    : inside_(std::make_unique<Inside>(gate, runner)) {}
RunnerService::~RunnerService() = default;

grpc::Service* RunnerService::service() { return inside_.get(); }

}  // namespace plimsoll::daemon

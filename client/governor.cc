#include "plimsoll/governor.h"

#include <grpcpp/grpcpp.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <mutex>
#include <thread>
#include <utility>

#include "plimsoll/v1/governor.grpc.pb.h"

namespace plimsoll::client {
namespace {

void fill(v1::Place& message, const Place& place) {
  if (place.cgroup) {
    message.set_cgroup(*place.cgroup);
  } else if (place.pid) {
    message.set_pid(*place.pid);
  }
}

v1::GovernRequest entering(const Job& job) {
  v1::GovernRequest request;
  v1::Enter& enter = *request.mutable_enter();
  enter.set_id(job.id);
  enter.set_class_(job.job_class);
  if (job.memory_bytes) enter.mutable_hints()->set_memory_bytes(*job.memory_bytes);
  if (job.disk_bytes) enter.mutable_hints()->set_disk_bytes(*job.disk_bytes);
  if (job.cores) enter.mutable_hints()->set_cores(*job.cores);
  if (job.memory_max_bytes) enter.mutable_limits()->set_memory_max_bytes(*job.memory_max_bytes);
  enter.set_priority(job.priority);
  enter.set_weight(job.weight.value_or(0));
  enter.set_restartable(job.restartable);
  if (job.place) fill(*enter.mutable_place(), *job.place);
  enter.set_hand(job.governor_acts ? v1::HAND_GOVERNOR : v1::HAND_CLIENT);
  return request;
}

v1::End end_of(EndKind kind) {
  switch (kind) {
    case EndKind::exited: return v1::END_EXITED;
    case EndKind::signalled: return v1::END_SIGNALLED;
    case EndKind::cancelled: return v1::END_CANCELLED;
    case EndKind::withdrawn: return v1::END_WITHDRAWN;
    case EndKind::over_limit: return v1::END_OVER_LIMIT;
    case EndKind::machine_oom: return v1::END_MACHINE_OOM;
    case EndKind::timed_out: return v1::END_TIMED_OUT;
    case EndKind::failed_to_start: return v1::END_FAILED_TO_START;
  }
  return v1::END_EXITED;
}

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? std::string() : value;
}

// Calls a handler, if there is one.
template <class Handler, class... Values>
void call(const Handler& handler, Values&&... values) {
  if (handler) handler(std::forward<Values>(values)...);
}

}  // namespace

std::string default_socket() {
  if (const std::string named = variable("PLIMSOLL_SOCKET"); !named.empty()) return named;
  const std::string own = variable("PLIMSOLL_RUNTIME_DIR");
  if (!own.empty()) return own + "/daemon.socket";
  if (::geteuid() == 0) return "/run/plimsolld.sock";
  const std::string xdg = variable("XDG_RUNTIME_DIR");
  if (xdg.starts_with('/')) return xdg + "/plimsolld.sock";
  return "/tmp/plimsoll-" + std::to_string(::geteuid()) + "/daemon.socket";
}

// One thread reads and calls the handlers; whoever calls writes.
class Governor::Stream {
 public:
  Stream(const std::string& socket, Handlers handlers)
      : handlers_(std::move(handlers)),
        stub_(v1::Governor::NewStub(
            grpc::CreateChannel("unix:" + socket, grpc::InsecureChannelCredentials()))),
        stream_(stub_->Govern(&context_)),
        reader_([this] { read(); }) {}

  ~Stream() {
    ending_ = true;
    context_.TryCancel();
    reader_.join();
  }
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;

  // A stream that is lost takes nothing; the reader tells of it.
  void write(const v1::GovernRequest& request) {
    const std::lock_guard lock(writing_);
    stream_->Write(request);
  }

 private:
  void read() {
    v1::GovernResponse response;
    while (stream_->Read(&response)) {
      if (!ending_) tell(response);
    }
    const grpc::Status status = stream_->Finish();
    if (!ending_) call(handlers_.lost, status.error_code(), status.error_message());
  }

  void tell(const v1::GovernResponse& response) {
    switch (response.message_case()) {
      case v1::GovernResponse::kAdmit:
        return call(handlers_.admit, response.admit().id(), response.admit().attempt());
      case v1::GovernResponse::kHold:
        return call(handlers_.hold, response.hold().id(), response.hold().reason());
      case v1::GovernResponse::kPause:
        return call(handlers_.pause, response.pause().id(), response.pause().reason());
      case v1::GovernResponse::kResume:
        return call(handlers_.resume, response.resume().id(), response.resume().reason());
      case v1::GovernResponse::kCancel: return tell(response.cancel());
      case v1::GovernResponse::kLeft:
        return call(handlers_.left, response.left().id(), response.left().comes_again());
      case v1::GovernResponse::kRefused:
        return call(handlers_.refused, response.refused().id(), response.refused().code(),
                    response.refused().message());
      case v1::GovernResponse::MESSAGE_NOT_SET: return;  // of a newer daemon
    }
  }

  void tell(const v1::Cancel& cancel) {
    const bool for_memory =
        cancel.cause() == v1::CANCEL_CAUSE_EVICTED || cancel.cause() == v1::CANCEL_CAUSE_OVER_LINE;
    call(handlers_.cancel, cancel.id(),
         Cancelled{.reason = cancel.reason(),
                   .for_memory = for_memory,
                   .comes_again = cancel.comes_again()});
  }

  Handlers handlers_;
  std::atomic<bool> ending_ = false;
  grpc::ClientContext context_;
  std::unique_ptr<v1::Governor::Stub> stub_;
  std::unique_ptr<grpc::ClientReaderWriter<v1::GovernRequest, v1::GovernResponse>> stream_;
  std::mutex writing_;
  std::thread reader_;
};

Governor::Governor(std::unique_ptr<Stream> stream) : stream_(std::move(stream)) {}
Governor::~Governor() = default;

std::unique_ptr<Governor> Governor::connect(const std::string& socket, Handlers handlers) {
  auto stream =
      std::make_unique<Stream>(socket.empty() ? default_socket() : socket, std::move(handlers));
  return std::unique_ptr<Governor>(new Governor(std::move(stream)));
}

void Governor::enter(const Job& job) { stream_->write(entering(job)); }

void Governor::watch(const std::string& id, const Place& place) {
  v1::GovernRequest request;
  request.mutable_watch()->set_id(id);
  fill(*request.mutable_watch()->mutable_place(), place);
  stream_->write(request);
}

void Governor::observe(const std::string& id, const Sample& sample) {
  constexpr std::int64_t kSecond = 1'000'000'000;
  v1::GovernRequest request;
  v1::Observe& observe = *request.mutable_observe();
  observe.set_id(id);
  if (sample.used_bytes) observe.set_used_bytes(*sample.used_bytes);
  if (sample.io_bytes) observe.set_io_bytes(*sample.io_bytes);
  if (sample.cpu_ns) {
    observe.mutable_cpu()->set_seconds(*sample.cpu_ns / kSecond);
    observe.mutable_cpu()->set_nanos(static_cast<std::int32_t>(*sample.cpu_ns % kSecond));
  }
  stream_->write(request);
}

void Governor::leave(const std::string& id, const End& end) {
  v1::GovernRequest request;
  v1::Leave& leave = *request.mutable_leave();
  leave.set_id(id);
  leave.set_end(end_of(end.kind));
  if (end.kind == EndKind::exited) leave.set_exit_code(end.number);
  if (end.kind == EndKind::signalled) leave.set_signal(end.number);
  stream_->write(request);
}

}  // namespace plimsoll::client

#include "daemon/api/jobs_rpc_service.h"

#include <grpcpp/alarm.h>
#include <grpcpp/grpcpp.h>

#include <atomic>
#include <chrono>
#include <utility>

#include "daemon/api/governor_messages.h"
#include "daemon/api/job_service.h"
#include "daemon/api/jobs_messages.h"
#include "daemon/api/run_request.h"
#include "daemon/grpc/messages.h"
#include "daemon/grpc/outbox.h"
#include "plimsoll/v1/jobs.grpc.pb.h"

namespace plimsoll::daemon {
namespace {

class FollowReactor;
using FollowOutbox = Outbox<FollowReactor, grpc::ByteBuffer>;
using ServiceHandle = std::weak_ptr<JobService>;
using Start = std::function<Result<JobId>(JobService&, const supervisor::Peer&)>;
using Act = std::function<Result<void>(JobService&, const supervisor::Peer&)>;

// So many messages of output, of 64 KiB at most, wait for a client; then its job's pipe fills. The
// same of bytes for all clients of its user, but that one message may wait for each.
constexpr std::size_t kOutputWaitingMax = 16;
constexpr std::size_t kOutputOfUserMax = 16 << 20;

const grpc::Status kServiceGone(grpc::StatusCode::UNAVAILABLE,
                                "the daemon is shutting down, or too many calls are waiting");
const grpc::Status kFollowGivenUp(grpc::StatusCode::CANCELLED, "the client cancelled the call");

grpc::Status status_of(const Error& error) {
  return {static_cast<grpc::StatusCode>(code_of(error)), error.what};
}

// Answers a call that was refused after a while, on a thread of gRPC's; it holds none meanwhile.
template <class Answer>
void answer_in(Duration wait, Answer answer) {
  if (wait <= Duration{}) return answer();
  auto alarm = std::make_shared<grpc::Alarm>();
  grpc::Alarm& set = *alarm;
  set.Set(std::chrono::system_clock::now() + wait,
          [alarm = std::move(alarm), answer = std::move(answer)](bool /*came*/) mutable {
            const auto last = std::move(alarm);  // which holds this
            answer();
          });
}

// A request as it came, which is not kept until its call is answered.
class Request {
 public:
  explicit Request(const grpc::ByteBuffer& bytes)
      : bytes_(const_cast<grpc::ByteBuffer&>(bytes)) {}  // gRPC's, which reads it no more
  Request(const Request&) = delete;
  Request& operator=(const Request&) = delete;
  ~Request() { bytes_.Clear(); }

  // With what is made of it.
  [[nodiscard]] std::size_t bytes() const { return kRunRequestGrows * bytes_.Length(); }
  [[nodiscard]] Result<JobRequest> read() const {
    grpc::Slice slice;
    if (!bytes_.DumpToSingleSlice(&slice).ok()) return fail("read a request");
    return read_run_request({reinterpret_cast<const char*>(slice.begin()), slice.size()});
  }
  template <class Message>
  [[nodiscard]] Result<Message> read_as() const {
    return read_short<Message>(bytes_);
  }

 private:
  grpc::ByteBuffer& bytes_;
};

// Whose job it is: ended with the call that has started it, or only followed.
enum class Bond : std::uint8_t { own, followed };

// One stream of a job's events. What is known on the loop's thread alone is in `Follow`, which the
// posted closures share.
class FollowReactor : public grpc::ServerWriteReactor<grpc::ByteBuffer> {
 public:
  // Once it `is_closed`, nobody waits for the loop any more; both outlive this.
  FollowReactor(Gate& gate, const std::atomic<bool>& is_closed, ServiceHandle service,
                policy::Tenant user)
      : gate_(gate),
        is_closed_(is_closed),
        user_(user),
        outbox_(std::make_shared<FollowOutbox>(*this, gate.outgoing(user))),
        follow_(std::make_shared<Follow>(gate, user, std::move(service), outbox_)) {}

  // `start`, on the loop's thread, gives the job that is to be followed; it holds the message.
  // Returns whether the loop will hear of it; if not, refuse() is to follow.
  [[nodiscard]] bool begin(const supervisor::Peer& peer, Bond bond, Start start,
                           Gate::Message message) {
    has_passed_ = !is_closed_ && gate_.post(
                                     user_,
                                     [follow = follow_, peer, bond, start = std::move(start)] {
                                       follow->begin(peer, bond, start);
                                     },
                                     message);
    return has_passed_;
  }
  void refuse() {
    const Duration wait = is_closed_ ? Duration{} : gate_.refused(user_);
    answer_in(wait, [outbox = outbox_] { outbox->break_off(kServiceGone); });
  }

  void read_on() {}  // a client says nothing here

  void OnWriteDone(bool /*ok*/) override { outbox_->written(); }
  void OnCancel() override {
    if (!has_passed_) return;  // it has its answer
    gate_.post_always(user_, [follow = follow_] { follow->give_up(); });
    if (is_closed_) outbox_->break_off(kServiceGone);
  }
  void OnDone() override {
    outbox_->close();
    const std::unique_ptr<FollowReactor> last(this);
  }

 private:
  class Follow : public JobWatcher, public std::enable_shared_from_this<Follow> {
   public:
    Follow(Gate& gate, policy::Tenant user, ServiceHandle service,
           std::shared_ptr<FollowOutbox> outbox)
        : gate_(gate), user_(user), service_(std::move(service)), outbox_(std::move(outbox)) {}

    void begin(const supervisor::Peer& peer, Bond bond, const Start& start) {
      const auto alive = service_.lock();
      if (!alive) return outbox_->break_off(kServiceGone);
      if (is_given_up_) return outbox_->break_off(kFollowGivenUp);
      bond_ = bond;
      auto started = start(*alive, peer);
      if (!started) return outbox_->break_off(status_of(started.error()));
      job_ = *started;
      auto watching = alive->watch(peer, *job_, shared_from_this());
      if (!watching) return outbox_->break_off(status_of(watching.error()));
      watcher_ = *watching;
    }

    // The stream of a job's owner ends when the job's group is gone, not before.
    void give_up() {
      is_given_up_ = true;
      const auto alive = service_.lock();
      if (!alive || !watcher_) return outbox_->break_off(kFollowGivenUp);
      if (bond_ == Bond::own) return alive->cancel(*job_, "its client cancelled the call");
      alive->unwatch(*job_, *watcher_);
      outbox_->break_off(kFollowGivenUp);
    }

    void state(const StateTold& told) override { send(message_of(told)); }
    void output(OutputStream stream, std::string_view data) override {
      send(message_of(stream, data));
    }
    void ended(const report::JobReport& report, const supervisor::AttemptResult*) override {
      watcher_.reset();
      if (is_given_up_) return outbox_->break_off(kFollowGivenUp);
      outbox_->send(packed(message_of(report)));
      outbox_->finish(grpc::Status::OK);
    }
    void lost() override { outbox_->break_off(kServiceGone); }
    // A client that has given up reads nothing more, and its job must not wait for it.
    [[nodiscard]] bool is_full() const override {
      const std::size_t waiting = outbox_->waiting();
      return !is_given_up_ && (waiting >= kOutputWaitingMax ||
                               (waiting > 0 && outbox_->bytes_of_user() >= kOutputOfUserMax));
    }

   private:
    // Whoever lets too much wait is gone, but not from within the job service's own call.
    void send(const v1::JobEvent& event) {
      if (outbox_->send(packed(event)) == FollowOutbox::Sent::kept) return;
      gate_.post_always(user_, [self = shared_from_this()] { self->give_up(); });
    }

    Gate& gate_;
    policy::Tenant user_;
    ServiceHandle service_;
    std::shared_ptr<FollowOutbox> outbox_;
    Bond bond_ = Bond::followed;
    std::optional<JobId> job_{};
    std::optional<WatcherId> watcher_{};
    bool is_given_up_ = false;
  };

  Gate& gate_;
  const std::atomic<bool>& is_closed_;
  policy::Tenant user_;
  std::shared_ptr<FollowOutbox> outbox_;
  std::shared_ptr<Follow> follow_;
  bool has_passed_ = false;  // set before gRPC has this
};

}  // namespace

// All get their requests as bytes: only those that are let in are read, and none that are longer
// than they can be. For that they answer with bytes, too.
template <class Base>
using Streams = v1::Jobs::WithRawCallbackMethod_Run<v1::Jobs::WithRawCallbackMethod_Watch<Base>>;
template <class Base>
using Calls = v1::Jobs::WithRawCallbackMethod_Submit<v1::Jobs::WithRawCallbackMethod_List<
    v1::Jobs::WithRawCallbackMethod_Signal<v1::Jobs::WithRawCallbackMethod_Explain<Base>>>>;

class JobsRpcService::Inside : public Streams<Calls<v1::Jobs::Service>> {
 public:
  Inside(Gate& gate, ServiceHandle service, Callers callers)
      : gate_(gate), service_(std::move(service)), callers_(std::move(callers)) {}

  void close() { is_closed_ = true; }

  grpc::ServerWriteReactor<grpc::ByteBuffer>* Run(grpc::CallbackServerContext* context,
                                                  const grpc::ByteBuffer* bytes) override {
    const Request request(*bytes);
    return follow(*context, Bond::own, request.bytes(), [&]() -> Start {
      return [order = request.read()](JobService& service,
                                      const supervisor::Peer& peer) -> Result<JobId> {
        if (!order) return tl::unexpected(order.error());
        return service.submit(peer, *order);
      };
    });
  }

  grpc::ServerWriteReactor<grpc::ByteBuffer>* Watch(grpc::CallbackServerContext* context,
                                                    const grpc::ByteBuffer* bytes) override {
    const Request request(*bytes);
    return follow(*context, Bond::followed, 0, [&]() -> Start {
      return [message = request.read_as<v1::WatchRequest>()](
                 JobService&, const supervisor::Peer&) -> Result<JobId> {
        if (!message) return tl::unexpected(message.error());
        return JobId{message->job()};
      };
    });
  }

  grpc::ServerUnaryReactor* Submit(grpc::CallbackServerContext* context,
                                   const grpc::ByteBuffer* bytes,
                                   grpc::ByteBuffer* response) override {
    const Request request(*bytes);
    return answer(context, request.bytes(), [&]() -> Act {
      return [order = request.read(), response](JobService& service,
                                                const supervisor::Peer& peer) -> Result<void> {
        if (!order) return tl::unexpected(order.error());
        auto job = service.submit(peer, *order);
        if (!job) return pass(std::move(job));
        v1::SubmitResponse message;
        message.set_job(static_cast<std::uint64_t>(*job));
        *response = packed(message);
        return {};
      };
    });
  }

  grpc::ServerUnaryReactor* List(grpc::CallbackServerContext* context,
                                 const grpc::ByteBuffer* bytes,
                                 grpc::ByteBuffer* response) override {
    return answer_short<v1::ListRequest>(context, *bytes,
                                         [response](const v1::ListRequest&, JobService& service,
                                                    const supervisor::Peer& peer) -> Result<void> {
                                           *response = packed(message_of(service.list(peer)));
                                           return {};
                                         });
  }

  grpc::ServerUnaryReactor* Signal(grpc::CallbackServerContext* context,
                                   const grpc::ByteBuffer* bytes,
                                   grpc::ByteBuffer* response) override {
    return answer_short<v1::SignalRequest>(
        context, *bytes,
        [response](const v1::SignalRequest& request, JobService& service,
                   const supervisor::Peer& peer) -> Result<void> {
          constexpr int kSignalsMax = 64;
          const int number = request.signal();
          if (number < 1 || number > kSignalsMax) {
            return fail(std::errc::invalid_argument,
                        "signal: found " + std::to_string(number) + ", expected 1 to 64");
          }
          *response = packed(v1::SignalResponse());
          return service.signal(peer, JobId{request.job()}, number);
        });
  }

  grpc::ServerUnaryReactor* Explain(grpc::CallbackServerContext* context,
                                    const grpc::ByteBuffer* bytes,
                                    grpc::ByteBuffer* response) override {
    return answer_short<v1::ExplainRequest>(
        context, *bytes,
        [response](const v1::ExplainRequest& request, JobService& service,
                   const supervisor::Peer& peer) -> Result<void> {
          auto story = service.explain(peer, JobId{request.job()});
          if (!story) return pass(std::move(story));
          *response = packed(message_of(*story));
          return {};
        });
  }

 private:
  // `make` makes what is to be done of the request, which with that takes so many bytes; only where
  // there is room for them.
  template <class Make>
  grpc::ServerWriteReactor<grpc::ByteBuffer>* follow(const grpc::CallbackServerContext& context,
                                                     Bond bond, std::size_t bytes, Make make) {
    const supervisor::Peer peer = callers_.of(context);
    const policy::Tenant user = supervisor::tenant_of(peer);
    auto reactor = std::make_unique<FollowReactor>(gate_, is_closed_, service_, user);
    bool is_on_its_way = false;
    if (gate_.has_room(user, bytes)) {
      const Duration before = loop::cpu_time();
      Start start = make();
      const Gate::Message message{.bytes = bytes, .reading = loop::cpu_time() - before};
      is_on_its_way = reactor->begin(peer, bond, std::move(start), message);
    }
    if (!is_on_its_way) reactor->refuse();
    return reactor.release();
  }

  // What is asked and answered in one turn of the loop. `make` as above.
  template <class Make>
  grpc::ServerUnaryReactor* answer(grpc::CallbackServerContext* context, std::size_t bytes,
                                   Make make) {
    grpc::ServerUnaryReactor* reactor = context->DefaultReactor();
    const supervisor::Peer peer = callers_.of(*context);
    const policy::Tenant user = supervisor::tenant_of(peer);
    if (!is_closed_ && gate_.has_room(user, bytes)) {
      const Duration before = loop::cpu_time();
      Act act = make();
      const Gate::Message message{.bytes = bytes, .reading = loop::cpu_time() - before};
      if (gate_.post(user, told(*reactor, peer, std::move(act)), message)) return reactor;
    }
    answer_in(is_closed_ ? Duration{} : gate_.refused(user),
              [reactor] { reactor->Finish(kServiceGone); });
    return reactor;
  }
  // `act` is given the message, once that is read.
  template <class Message, class ActOn>
  grpc::ServerUnaryReactor* answer_short(grpc::CallbackServerContext* context,
                                         const grpc::ByteBuffer& bytes, ActOn act) {
    const Request request(bytes);
    return answer(context, 0, [&]() -> Act {
      return [message = request.read_as<Message>(), act](
                 JobService& service, const supervisor::Peer& peer) -> Result<void> {
        if (!message) return tl::unexpected(message.error());
        return act(*message, service, peer);
      };
    });
  }

  // `act`, and what has become of it.
  std::function<void()> told(grpc::ServerUnaryReactor& reactor, const supervisor::Peer& peer,
                             Act act) {
    return [service = service_, peer, act = std::move(act), &reactor] {
      const auto alive = service.lock();
      if (!alive) return reactor.Finish(kServiceGone);
      const auto done = act(*alive, peer);
      reactor.Finish(done ? grpc::Status::OK : status_of(done.error()));
    };
  }

  Gate& gate_;
  ServiceHandle service_;
  Callers callers_;
  std::atomic<bool> is_closed_ = false;
};

JobsRpcService::JobsRpcService(Gate& gate, std::weak_ptr<JobService> service, Callers callers)
    : inside_(std::make_unique<Inside>(gate, std::move(service), std::move(callers))) {}
JobsRpcService::~JobsRpcService() = default;

grpc::Service* JobsRpcService::service() { return inside_.get(); }
void JobsRpcService::close() { inside_->close(); }

}  // namespace plimsoll::daemon

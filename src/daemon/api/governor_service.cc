#include "daemon/api/governor_service.h"

#include <grpcpp/grpcpp.h>

#include <atomic>
#include <functional>
#include <utility>

#include "daemon/api/governor_messages.h"
#include "daemon/api/governor_streams.h"
#include "daemon/grpc/messages.h"
#include "daemon/grpc/outbox.h"
#include "plimsoll/v1/governor.grpc.pb.h"

namespace plimsoll::daemon {
namespace {

class GovernReactor;
using GovernOutbox = Outbox<GovernReactor, grpc::ByteBuffer>;

using StreamsHandle = std::weak_ptr<GovernorStreams>;

const grpc::Status kDaemonEnds(grpc::StatusCode::UNAVAILABLE, "the daemon is shutting down");
const grpc::Status kDaemonBusy(grpc::StatusCode::UNAVAILABLE,
                               "the daemon is shutting down, or too many calls are waiting");
const grpc::Status kGivenUp(grpc::StatusCode::CANCELLED, "the client cancelled the call");

// One stream, on gRPC's threads. It reads one message after the other: the next when the loop is
// done with the last, so that a client can't fill our memory. It deletes itself when gRPC is done.
class GovernReactor : public grpc::ServerBidiReactor<grpc::ByteBuffer, grpc::ByteBuffer> {
 public:
  GovernReactor(Gate& gate, StreamsHandle streams, StreamId id, policy::Tenant user)
      : gate_(gate),
        streams_(std::move(streams)),
        id_(id),
        user_(user),
        outbox_(std::make_shared<GovernOutbox>(*this, gate.outgoing(user))) {}

  void begin(const supervisor::Peer& peer) {
    has_passed_ = gate_.post(
        user_,
        step([peer, id = id_, client = std::make_shared<Client>(gate_, user_, outbox_, closing())](
                 GovernorStreams& streams) { streams.open(id, peer, client); }));
    if (!has_passed_) outbox_->break_off(kDaemonBusy);
  }

  void read_on() { StartRead(&bytes_); }

  void OnReadDone(bool ok) override {
    if (!ok) return leave();  // the client has said all, or is gone
    auto request = read_short<v1::GovernRequest>(bytes_);
    if (!request) {
      outbox_->break_off(
          {static_cast<grpc::StatusCode>(code_of(request.error())), request.error().what});
      return leave();  // whose end of the stream comes too late
    }
    // One for each stream at a time; also while the daemon ends and takes no more streams.
    gate_.post_always(user_, step([id = id_, request = std::move(*request)](
                                      GovernorStreams& streams) { streams.receive(id, request); }));
  }
  void OnWriteDone(bool /*ok*/) override { outbox_->written(); }
  void OnCancel() override {
    leave();
    outbox_->break_off(kGivenUp);
  }
  void OnDone() override {
    outbox_->close();
    const std::unique_ptr<GovernReactor> last(this);
  }

 private:
  // The way back from the loop's thread.
  class Client : public StreamClient {
   public:
    Client(Gate& gate, policy::Tenant user, std::shared_ptr<GovernOutbox> outbox,
           std::function<void()> close)
        : gate_(gate), user_(user), outbox_(std::move(outbox)), close_(std::move(close)) {}
    void send(const v1::GovernResponse& response) override {
      if (outbox_->send(packed(response)) == GovernOutbox::Sent::one_too_many) {
        gate_.post_always(user_, close_);
      }
    }
    void too_many(const Error& error) override {
      outbox_->break_off({grpc::StatusCode::RESOURCE_EXHAUSTED, error.what});
    }
    void ends() override { outbox_->break_off(kDaemonEnds); }

   private:
    Gate& gate_;
    policy::Tenant user_;
    std::shared_ptr<GovernOutbox> outbox_;
    std::function<void()> close_;  // for the loop's thread
  };

  // Does this on the loop's thread, then reads the next message.
  template <class Act>
  std::function<void()> step(Act act) {
    return [streams = streams_, outbox = outbox_, act = std::move(act)]() mutable {
      if (const auto alive = streams.lock()) {
        act(*alive);
        outbox->read_on();
      } else {
        outbox->break_off(kDaemonEnds);
      }
    };
  }

  // Its jobs leave at once; the end of the stream follows.
  void leave() {
    if (!has_passed_) return;  // it has its answer
    gate_.post_always(user_, [close = closing(), outbox = outbox_] {
      close();
      outbox->finish(grpc::Status::OK);
    });
  }

  // For the loop's thread.
  [[nodiscard]] std::function<void()> closing() const {
    return [streams = streams_, id = id_] {
      if (const auto alive = streams.lock()) alive->close(id);
    };
  }

  Gate& gate_;
  StreamsHandle streams_;
  StreamId id_;
  policy::Tenant user_;
  std::shared_ptr<GovernOutbox> outbox_;
  grpc::ByteBuffer bytes_;
  bool has_passed_ = false;  // set before gRPC has this
};

// Of all servers: each user has one.
StreamId next_stream() {
  static std::atomic<std::uint64_t> last = 0;
  return StreamId{++last};
}

}  // namespace

class GovernorService::Inside
    : public v1::Governor::WithRawCallbackMethod_Govern<v1::Governor::Service> {
 public:
  Inside(Gate& gate, StreamsHandle streams, Callers callers)
      : gate_(gate), streams_(std::move(streams)), callers_(std::move(callers)) {}

  grpc::ServerBidiReactor<grpc::ByteBuffer, grpc::ByteBuffer>* Govern(
      grpc::CallbackServerContext* context) override {
    const supervisor::Peer peer = callers_.of(*context);
    auto reactor = std::make_unique<GovernReactor>(gate_, streams_, next_stream(),
                                                   supervisor::tenant_of(peer));
    reactor->begin(peer);
    return reactor.release();
  }

 private:
  Gate& gate_;
  StreamsHandle streams_;
  Callers callers_;
};

GovernorService::GovernorService(Gate& gate, std::weak_ptr<GovernorStreams> streams,
                                 Callers callers)
    : inside_(std::make_unique<Inside>(gate, std::move(streams), std::move(callers))) {}
GovernorService::~GovernorService() = default;

grpc::Service* GovernorService::service() { return inside_.get(); }

}  // namespace plimsoll::daemon

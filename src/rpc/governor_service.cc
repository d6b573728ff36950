#include "rpc/governor_service.h"

#include <grpcpp/grpcpp.h>

#include <atomic>
#include <functional>
#include <utility>

#include "plimsoll/v1/governor.grpc.pb.h"
#include "rpc/governor_streams.h"
#include "rpc/outbox.h"

namespace plimsoll::rpc {
namespace {

class GovernReactor;
using GovernOutbox = Outbox<GovernReactor, v1::GovernResponse>;
using StreamsHandle = std::weak_ptr<GovernorStreams>;

const grpc::Status kDaemonEnds(grpc::StatusCode::UNAVAILABLE, "the daemon ends");
const grpc::Status kDaemonBusy(grpc::StatusCode::UNAVAILABLE,
                               "the daemon is going down, or has too many calls waiting");
const grpc::Status kGivenUp(grpc::StatusCode::CANCELLED, "the client has given up");

// One stream, on gRPC's threads. It reads one message after the other: the next when the loop is
// done with the last, so that a client can't fill our memory. It deletes itself when gRPC is done.
class GovernReactor : public grpc::ServerBidiReactor<v1::GovernRequest, v1::GovernResponse> {
 public:
  GovernReactor(Gate& gate, StreamsHandle streams, StreamId id)
      : gate_(gate),
        streams_(std::move(streams)),
        id_(id),
        outbox_(std::make_shared<GovernOutbox>(*this)) {}

  void begin(const engine::Peer& peer) {
    StreamClient client{.send =
                            [outbox = outbox_, close = closing(),
                             &gate = gate_](const v1::GovernResponse& message) {
                              if (outbox->send(message) == GovernOutbox::Sent::one_too_many) {
                                gate.post_always(close);
                              }
                            },
                        .too_many =
                            [outbox = outbox_](const Error& error) {
                              outbox->break_off({grpc::StatusCode::RESOURCE_EXHAUSTED, error.what});
                            },
                        .ends = [outbox = outbox_] { outbox->break_off(kDaemonEnds); }};
    const bool passed = gate_.post(
        engine::tenant_of(peer),
        step([peer, id = id_, client = std::move(client)](GovernorStreams& streams) mutable {
          streams.open(id, peer, std::move(client));
        }));
    if (!passed) outbox_->break_off(kDaemonBusy);
  }

  void read_on() { StartRead(&request_); }

  void OnReadDone(bool ok) override {
    if (!ok) return leave();  // the client has said all, or is gone
    // One for each stream at a time; also while the daemon ends and takes no more streams.
    gate_.post_always(step([id = id_, request = std::move(request_)](GovernorStreams& streams) {
      streams.receive(id, request);
    }));
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
    gate_.post_always([close = closing(), outbox = outbox_] {
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
  std::shared_ptr<GovernOutbox> outbox_;
  v1::GovernRequest request_;
};

// Of all servers: each user has one.
StreamId next_stream() {
  static std::atomic<std::uint64_t> last = 0;
  return StreamId{++last};
}

}  // namespace

class GovernorService::Inside : public v1::Governor::CallbackService {
 public:
  Inside(Gate& gate, StreamsHandle streams, Callers callers)
      : gate_(gate), streams_(std::move(streams)), callers_(std::move(callers)) {}

  grpc::ServerBidiReactor<v1::GovernRequest, v1::GovernResponse>* Govern(
      grpc::CallbackServerContext* context) override {
    auto reactor = std::make_unique<GovernReactor>(gate_, streams_, next_stream());
    reactor->begin(callers_.of(*context));
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

}  // namespace plimsoll::rpc

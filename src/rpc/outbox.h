#pragma once

#include <grpcpp/grpcpp.h>

#include <cstddef>
#include <cstdint>
#include <deque>
#include <mutex>
#include <utility>

namespace plimsoll::rpc {

// What is on its way to one client of a stream: messages from the loop's thread, which gRPC takes
// one at a time. Bounded: a client that does not read is told so at its stream's end, and holds up
// nobody.
//
// Lives as long as either side: the reactor is let go of in its OnDone.
template <class Reactor, class Message>
class Outbox {
 public:
  // More is not kept for a client: it has decisions to follow, and does not.
  static constexpr std::size_t kWaitingMax = 10'000;

  explicit Outbox(Reactor& reactor) : reactor_(&reactor) {}

  // Whether the client has let too much wait, and this has ended the stream: nobody is told of that
  // otherwise before the client has read the rest.
  enum class Sent : std::uint8_t { kept, one_too_many };
  Sent send(Message message) {
    const std::lock_guard lock(mutex_);
    if (reactor_ == nullptr || ending_) return Sent::kept;
    if (waiting_.size() >= kWaitingMax) {
      end({grpc::StatusCode::RESOURCE_EXHAUSTED, "the client does not take its messages"});
      return Sent::one_too_many;
    }
    waiting_.push_back(std::move(message));
    if (!writing_) write();
    return Sent::kept;
  }

  // The stream's end, after what was sent before.
  void finish(grpc::Status status) {
    const std::lock_guard lock(mutex_);
    if (reactor_ == nullptr || ending_) return;
    if (waiting_.empty()) return end(std::move(status));
    last_ = std::move(status);
    has_last_ = true;
  }

  // The same at once: what waits is not sent any more.
  void break_off(grpc::Status status) {
    const std::lock_guard lock(mutex_);
    if (reactor_ != nullptr && !ending_) end(std::move(status));
  }

  // The next message of the client's may come; from whatever thread has done with the last.
  void read_on() {
    const std::lock_guard lock(mutex_);
    if (reactor_ != nullptr && !ending_) reactor_->read_on();
  }

  // For OnWriteDone().
  void written() {
    const std::lock_guard lock(mutex_);
    writing_ = false;
    if (!waiting_.empty()) waiting_.pop_front();
    if (reactor_ == nullptr || ending_) return;
    if (!waiting_.empty()) return write();
    if (has_last_) end(std::move(last_));
  }

  // So many messages wait.
  [[nodiscard]] std::size_t waiting() {
    const std::lock_guard lock(mutex_);
    return waiting_.size();
  }

  // For OnDone(): nothing of the reactor is touched any more.
  void close() {
    const std::lock_guard lock(mutex_);
    reactor_ = nullptr;
  }

 private:
  void write() {
    writing_ = true;
    reactor_->StartWrite(&waiting_.front());
  }
  void end(grpc::Status status) {
    ending_ = true;
    reactor_->Finish(std::move(status));
  }

  std::mutex mutex_;
  Reactor* reactor_;
  std::deque<Message> waiting_;  // the first is being written, if writing_
  bool writing_ = false, ending_ = false, has_last_ = false;
  grpc::Status last_;
};

}  // namespace plimsoll::rpc

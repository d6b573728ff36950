#pragma once

#include <grpcpp/grpcpp.h>

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <utility>

#include "daemon/grpc/gate.h"

namespace plimsoll::daemon {

// What a message takes on the wire.
template <class Message>
std::size_t wire_bytes(const Message& message) {
  return message.ByteSizeLong();
}
inline std::size_t wire_bytes(const grpc::ByteBuffer& message) { return message.Length(); }

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
  // Nor more bytes for all clients of one user, of a stream that has more than a message of output
  // waiting; and whatever it has, no more than the latter.
  static constexpr std::size_t kBytesOfUserMax = 64 << 20;
  static constexpr std::size_t kBytesAlwaysKept = 128 << 10;
  static constexpr std::size_t kBytesOfUserEver = 256 << 20;

  // `of_user` is what waits for the clients of this one's user; with this.
  Outbox(Reactor& reactor, std::shared_ptr<ByteCount> of_user)
      : reactor_(&reactor), of_user_(std::move(of_user)) {}
  Outbox(const Outbox&) = delete;
  Outbox& operator=(const Outbox&) = delete;
  ~Outbox() { *of_user_ -= bytes_; }

  // Whether the client has let too much wait, and this has ended the stream: nobody is told of that
  // otherwise before the client has read the rest.
  enum class Sent : std::uint8_t { kept, one_too_many };
  Sent send(Message message) {
    const std::lock_guard lock(mutex_);
    if (reactor_ == nullptr || ending_) return Sent::kept;
    const std::size_t bytes = wire_bytes(message);
    if (!has_room(bytes)) {
      end({grpc::StatusCode::RESOURCE_EXHAUSTED, "the client does not read its messages"});
      return Sent::one_too_many;
    }
    waiting_.push_back({.message = std::move(message), .bytes = bytes});
    bytes_ += bytes;
    *of_user_ += bytes;
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
    if (!waiting_.empty()) drop_first();
    if (reactor_ == nullptr || ending_) return;
    if (!waiting_.empty()) return write();
    if (has_last_) end(std::move(last_));
  }

  // So many messages wait.
  [[nodiscard]] std::size_t waiting() {
    const std::lock_guard lock(mutex_);
    return waiting_.size();
  }
  // So many bytes of all clients of its user.
  [[nodiscard]] std::size_t bytes_of_user() const { return *of_user_; }

  // For OnDone(): nothing of the reactor is touched any more.
  void close() {
    const std::lock_guard lock(mutex_);
    reactor_ = nullptr;
  }

 private:
  struct Kept {
    Message message;
    std::size_t bytes = 0;
  };

  [[nodiscard]] bool has_room(std::size_t bytes) const {
    const std::size_t of_user = *of_user_ + bytes;
    return waiting_.size() < kWaitingMax && of_user <= kBytesOfUserEver &&
           (bytes_ <= kBytesAlwaysKept || of_user <= kBytesOfUserMax);
  }

  void drop_first() {
    forget(waiting_.front());
    waiting_.pop_front();
  }
  void forget(const Kept& kept) {
    bytes_ -= kept.bytes;
    *of_user_ -= kept.bytes;
  }

  void write() {
    writing_ = true;
    reactor_->StartWrite(&waiting_.front().message);
  }
  // What waits is let go of, but for what gRPC has.
  void end(grpc::Status status) {
    ending_ = true;
    while (waiting_.size() > (writing_ ? 1 : 0)) {
      forget(waiting_.back());
      waiting_.pop_back();
    }
    reactor_->Finish(std::move(status));
  }

  std::mutex mutex_;
  Reactor* reactor_;
  const std::shared_ptr<ByteCount> of_user_;
  std::deque<Kept> waiting_;  // the first is being written, if writing_
  std::size_t bytes_ = 0;     // of these
  bool writing_ = false, ending_ = false, has_last_ = false;
  grpc::Status last_;
};

}  // namespace plimsoll::daemon

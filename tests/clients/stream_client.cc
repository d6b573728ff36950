// A stream of plimsoll.v1.Governor for scripts of tests, without the client library: it does what
// no good client would.
//
//   stream_client SOCKET WORD...
//
//   hint BYTES    what jobs that enter from then on say they need; with K, M, G, T
//   cores COUNT   the same
//   weight COUNT  the same
//   place GROUP   where the processes of jobs are that enter from then on; the governor is to stop
//                 and end them
//   enter ID      enters a job
//   observe ID BYTES  says that an admitted job uses so much
//   flood COUNT   enters so many, and reads no answer; goes on when all are sent or nothing moves
//   await         reads until a job is admitted
//   cancelled     reads until a job is cancelled
//   close         closes its side: it has nothing more to say
//   end           reads to the stream's end
//   hear          waits for a line of standard input
//   stay          waits to be killed
//
// What is read is a line each: "admit ID", "cancel ID", "refused ID CODE", "end CODE"; a flood is
// "sent COUNT".
#include <grpcpp/grpcpp.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <iostream>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "plimsoll/v1/governor.grpc.pb.h"

namespace {

using plimsoll::v1::GovernRequest;
using plimsoll::v1::GovernResponse;

const std::string units = "KMGT";

std::uint64_t bytes_of(const std::string& size) {
  constexpr unsigned kStep = 10;
  const std::size_t unit = size.empty() ? std::string::npos : units.find(size.back());
  return std::stoull(size) << (unit == std::string::npos ? 0 : kStep * (unit + 1));
}

// A flood that has not moved for so long waits for itself.
constexpr auto kStill = std::chrono::seconds(2);

class Client {
 public:
  explicit Client(const std::string& socket)
      : stub_(plimsoll::v1::Governor::NewStub(
            grpc::CreateChannel("unix:" + socket, grpc::InsecureChannelCredentials()))),
        stream_(stub_->Govern(&context_)) {}

  ~Client() {
    context_.TryCancel();
    if (writer_.joinable()) writer_.join();
  }
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;

  bool enter(const std::string& id) {
    GovernRequest request;
    plimsoll::v1::Enter& enter = *request.mutable_enter();
    enter.set_id(id);
    if (hint_ > 0) enter.mutable_hints()->set_memory_bytes(hint_);
    if (cores_ > 0) enter.mutable_hints()->set_cores(cores_);
    enter.set_weight(weight_);
    if (!place_.empty()) {
      enter.mutable_place()->set_cgroup(place_);
      enter.set_hand(plimsoll::v1::HAND_GOVERNOR);
    }
    return stream_->Write(request);
  }

  bool observe(const std::string& id, const std::string& used) {
    GovernRequest request;
    request.mutable_observe()->set_id(id);
    request.mutable_observe()->set_used_bytes(bytes_of(used));
    return stream_->Write(request);
  }

  void set_hint(const std::string& size) { hint_ = bytes_of(size); }
  void set_cores(double cores) { cores_ = cores; }
  void set_weight(unsigned weight) { weight_ = weight; }
  void set_place(const std::string& group) { place_ = group; }

  // The writer may stand still until the stream is over.
  void flood(unsigned long count) {
    writer_ = std::thread([this, count] {
      while (sent_ < count && enter("flood-" + std::to_string(sent_))) ++sent_;
      is_written_ = true;
    });
    for (unsigned long before = count; !is_written_ && sent_ != before;) {
      before = sent_;
      std::this_thread::sleep_for(kStill);
    }
    std::printf("sent %lu\n", sent_.load());
  }

  bool read() {
    GovernResponse response;
    if (!stream_->Read(&response)) return false;
    is_admitted_ = response.has_admit();
    is_cancelled_ = response.has_cancel();
    if (response.has_admit()) std::printf("admit %s\n", response.admit().id().c_str());
    if (response.has_cancel()) std::printf("cancel %s\n", response.cancel().id().c_str());
    if (response.has_refused()) {
      std::printf("refused %s %d\n", response.refused().id().c_str(), response.refused().code());
    }
    return true;
  }
  void await() {
    while (read() && !is_admitted_) continue;
  }
  void await_cancel() {
    while (read() && !is_cancelled_) continue;
  }
  void close() { stream_->WritesDone(); }
  void end() {
    while (read()) continue;
    if (writer_.joinable()) writer_.join();
    std::printf("end %d\n", static_cast<int>(stream_->Finish().error_code()));
  }

 private:
  grpc::ClientContext context_;
  std::unique_ptr<plimsoll::v1::Governor::Stub> stub_;
  std::unique_ptr<grpc::ClientReaderWriter<GovernRequest, GovernResponse>> stream_;
  std::thread writer_;
  std::atomic<unsigned long> sent_ = 0;
  std::atomic<bool> is_written_ = false;
  std::uint64_t hint_ = 0;
  double cores_ = 0;
  unsigned weight_ = 0;
  std::string place_;
  bool is_admitted_ = false;
  bool is_cancelled_ = false;
};

}  // namespace

int main(int argc, char** argv) {
  const std::vector<std::string> words(argv + 1, argv + argc);
  if (words.size() < 2) return 125;
  std::setvbuf(stdout, nullptr, _IOLBF, BUFSIZ);
  Client client(words[0]);
  std::string line;
  for (std::size_t i = 1; i < words.size(); ++i) {
    const std::string& word = words[i];
    const std::string value = i + 1 < words.size() ? words[i + 1] : std::string();
    if (word == "hint") ++i, client.set_hint(value);
    if (word == "cores") ++i, client.set_cores(std::stod(value));
    if (word == "weight") ++i, client.set_weight(static_cast<unsigned>(std::stoul(value)));
    if (word == "place") ++i, client.set_place(value);
    if (word == "enter") ++i, client.enter(value);
    if (word == "observe" && i + 2 < words.size()) client.observe(value, words[i + 2]), i += 2;
    if (word == "flood") ++i, client.flood(std::stoul(value));
    if (word == "await") client.await();
    if (word == "cancelled") client.await_cancel();
    if (word == "close") client.close();
    if (word == "end") client.end();
    if (word == "hear") std::getline(std::cin, line);
    if (word == "stay") ::pause();
  }
  return 0;
}

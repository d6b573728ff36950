// A stream of plimsoll.v1.Governor for scripts of tests, without the client library: it does what
// no good client would.
//
//   stream_client SOCKET WORD...
//
// SOCKET may be tls:HOST:PORT:NAME, with the certificates ca.pem and NAME.pem and the key NAME.key
// of the current directory.
//
//   hint BYTES    what jobs that enter from then on say they need; with K, M, G, T
//   cores COUNT   the same
//   weight COUNT  the same
//   place GROUP   where the processes of jobs are that enter from then on; the governor is to stop
//                 and end them
//   enter ID      enters a job
//   observe ID BYTES  says that an admitted job uses so much
//   flood COUNT   enters so many, and reads no answer; goes on when all are sent or nothing moves
//   streams COUNT opens so many more, and reads an answer of each
//   calls COUNT   opens so many calls of the health service, over as many connections as they take
//   watch JOB COUNT  follows a job so many times, and reads nothing
//   await         reads until a job is admitted
//   cancelled     reads until a job is cancelled
//   close         closes its side: it has nothing more to say
//   end           reads to the stream's end
//   hear          waits for a line of standard input
//   stay          waits to be killed
//
// What is read is a line each: "admit ID", "cancel ID", "refused ID CODE", "end CODE"; a flood is
// "sent COUNT", streams "streams OPEN REFUSED", and calls the same.
#include <grpcpp/grpcpp.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <deque>
#include <fstream>
#include <iostream>
#include <iterator>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "grpc/health/v1/health.grpc.pb.h"
#include "plimsoll/v1/governor.grpc.pb.h"
#include "plimsoll/v1/jobs.grpc.pb.h"

namespace {

using grpc::health::v1::Health;
using grpc::health::v1::HealthCheckResponse;
using plimsoll::v1::GovernRequest;
using plimsoll::v1::GovernResponse;

const std::string units = "KMGT";

std::uint64_t bytes_of(const std::string& size) {
  constexpr unsigned kStep = 10;
  const std::size_t unit = size.empty() ? std::string::npos : units.find(size.back());
  return std::stoull(size) << (unit == std::string::npos ? 0 : kStep * (unit + 1));
}

// A flood that has not moved for so long waits for itself: longer than a busy machine may keep the
// daemon from a processor.
constexpr auto kStill = std::chrono::seconds(20);
constexpr auto kLookGap = std::chrono::milliseconds(50);

std::string text_of(const std::string& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

// A connection of its own.
std::shared_ptr<grpc::Channel> channel_to(const std::string& socket) {
  grpc::ChannelArguments own;
  own.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
  const std::string scheme = "tls:";
  if (!socket.starts_with(scheme)) {
    return grpc::CreateCustomChannel("unix:" + socket, grpc::InsecureChannelCredentials(), own);
  }
  const std::size_t name = socket.rfind(':');
  const std::string base = socket.substr(name + 1);
  const grpc::SslCredentialsOptions keys{.pem_root_certs = text_of("ca.pem"),
                                         .pem_private_key = text_of(base + ".key"),
                                         .pem_cert_chain = text_of(base + ".pem")};
  return grpc::CreateCustomChannel(socket.substr(scheme.size(), name - scheme.size()),
                                   grpc::SslCredentials(keys), own);
}

class Client {
 public:
  explicit Client(const std::string& socket)
      : socket_(socket),
        channel_(channel_to(socket)),
        stub_(plimsoll::v1::Governor::NewStub(channel_)),
        stream_(stub_->Govern(&context_)) {}

  ~Client() {
    context_.TryCancel();
    for (Follower& follower : followers_) follower.context.TryCancel();
    for (More& more : more_) more.context.TryCancel();
    for (Call& call : calls_) call.context.TryCancel();
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
    unsigned long before = 0;
    auto moved = std::chrono::steady_clock::now();
    while (!is_written_ && std::chrono::steady_clock::now() - moved < kStill) {
      if (std::exchange(before, sent_.load()) != before) moved = std::chrono::steady_clock::now();
      std::this_thread::sleep_for(kLookGap);
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
  // Each is answered: what it asks for can't be.
  void open_more(unsigned long count) {
    unsigned long open = 0;
    for (unsigned long i = 0; i < count; ++i) {
      More& more = more_.emplace_back();
      more.stream = stub_->Govern(&more.context);
      GovernRequest request;
      request.mutable_enter();
      GovernResponse response;
      if (more.stream->Write(request) && more.stream->Read(&response)) ++open;
    }
    std::printf("streams %lu %lu\n", open, count - open);
  }

  // The first answer comes at once, and a call stays open.
  void call(unsigned long count) {
    constexpr unsigned long kOfConnection = 900;
    unsigned long open = 0;
    std::unique_ptr<Health::Stub> health;
    for (unsigned long i = 0; i < count; ++i) {
      if (i % kOfConnection == 0) health = Health::NewStub(channel_to(socket_));
      Call& call = calls_.emplace_back();
      call.stream = health->Watch(&call.context, {});
    }
    for (Call& call : calls_) {
      HealthCheckResponse response;
      if (call.stream->Read(&response)) ++open;
    }
    std::printf("calls %lu %lu\n", open, count - open);
  }

  void follow(std::uint64_t job, unsigned long count) {
    const auto jobs = plimsoll::v1::Jobs::NewStub(channel_);
    plimsoll::v1::WatchRequest request;
    request.set_job(job);
    for (unsigned long i = 0; i < count; ++i) {
      Follower& follower = followers_.emplace_back();
      follower.stream = jobs->Watch(&follower.context, request);
    }
    std::printf("watching %lu\n", count);
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
  struct More {
    grpc::ClientContext context{};
    std::unique_ptr<grpc::ClientReaderWriter<GovernRequest, GovernResponse>> stream{};
  };
  struct Call {
    grpc::ClientContext context{};
    std::unique_ptr<grpc::ClientReader<HealthCheckResponse>> stream{};
  };
  struct Follower {
    grpc::ClientContext context{};
    std::unique_ptr<grpc::ClientReader<plimsoll::v1::JobEvent>> stream{};
  };

  std::string socket_;
  std::shared_ptr<grpc::Channel> channel_;
  std::deque<More> more_;
  std::deque<Call> calls_;
  std::deque<Follower> followers_;
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
    if (word == "streams") ++i, client.open_more(std::stoul(value));
    if (word == "calls") ++i, client.call(std::stoul(value));
    if (word == "watch" && i + 2 < words.size()) {
      i += 2, client.follow(std::stoull(value), std::stoul(words[i]));
    }
    if (word == "await") client.await();
    if (word == "cancelled") client.await_cancel();
    if (word == "close") client.close();
    if (word == "end") client.end();
    if (word == "hear") std::getline(std::cin, line);
    if (word == "stay") ::pause();
  }
  return 0;
}

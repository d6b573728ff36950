// Sends one message that no good client would, for scripts of tests.
//
//   message_client SOCKET METHOD KIND MEBIBYTES
//
// METHOD is "plimsoll.v1.Jobs/List" or another. What KIND of message:
//
//   unknown   of fields that nobody knows, as many as have room
//   job       a RunRequest whose job has a word, and further such fields
//   packed    zeros, compressed by gzip
//
// Prints "answer" if there is one, then "end CODE MESSAGE".
#include <grpcpp/generic/generic_stub.h>
#include <grpcpp/grpcpp.h>

#include <cstdio>
#include <memory>
#include <string>

namespace {

constexpr char kBytes = 2;  // the kind of field that has a length, in the lowest bits of its tag

std::string field(int number, const std::string& content) {
  std::string made(1, static_cast<char>(number << 3 | kBytes));
  std::size_t length = content.size();
  for (; length >= 0x80; length >>= 7U) made += static_cast<char>(length | 0x80);
  return made + static_cast<char>(length) + content;
}

// A little less than so much: the limit is on what stands around it, too.
std::string unknown(std::size_t mebibytes) {
  const std::string one = field(15, "");
  const std::size_t room = (mebibytes << 20U) - 100;
  std::string all;
  while (all.size() + one.size() <= room) all += one;
  return all;
}

std::string message(const std::string& kind, std::size_t mebibytes) {
  if (kind == "unknown") return unknown(mebibytes);
  if (kind == "job") return field(1, field(2, "true") + unknown(mebibytes));
  return std::string(mebibytes << 20U, '\0');
}

// One operation of the call, to its end.
class Call {
 public:
  explicit Call(const std::string& socket)
      : stub_(grpc::CreateChannel("unix:" + socket, grpc::InsecureChannelCredentials())) {}

  void begin(const std::string& method) {
    stream_ = stub_.PrepareCall(&context, "/" + method, &queue_);
    stream_->StartCall(this);
    done();
  }
  void send(const std::string& text) {
    const grpc::Slice slice(text);
    stream_->WriteLast(grpc::ByteBuffer(&slice, 1), {}, this);
    done();
  }
  bool hear() {
    stream_->Read(&answer_, this);
    return done();
  }
  grpc::Status end() {
    grpc::Status status;
    stream_->Finish(&status, this);
    done();
    return status;
  }

  grpc::ClientContext context;

 private:
  bool done() {
    void* tag = nullptr;
    bool ok = false;
    return queue_.Next(&tag, &ok) && ok;
  }

  grpc::GenericStub stub_;
  grpc::CompletionQueue queue_;
  std::unique_ptr<grpc::GenericClientAsyncReaderWriter> stream_;
  grpc::ByteBuffer answer_;
};

}  // namespace

int main(int argc, char** argv) {
  if (argc < 5) return 125;
  const std::string kind = argv[3];
  Call call(argv[1]);
  if (kind == "packed") call.context.set_compression_algorithm(GRPC_COMPRESS_GZIP);
  call.begin(argv[2]);
  call.send(message(kind, std::stoul(argv[4])));
  if (call.hear()) {
    std::puts("answer");
    call.context.TryCancel();
  }
  const grpc::Status status = call.end();
  std::printf("end %d %s\n", status.error_code(), status.error_message().c_str());
  return 0;
}

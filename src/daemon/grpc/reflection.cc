#include "daemon/grpc/reflection.h"

#include <google/protobuf/descriptor.h>
#include <google/protobuf/descriptor.pb.h>
#include <grpcpp/grpcpp.h>

#include <set>

#include "daemon/grpc/messages.h"
#include "grpc/health/v1/health.pb.h"
#include "grpc/reflection/v1alpha/reflection.grpc.pb.h"

namespace plimsoll::daemon {
namespace {

using namespace grpc::reflection::v1alpha;
using google::protobuf::DescriptorPool;
using google::protobuf::FileDescriptor;
using Names = std::vector<std::string>;

// This file and those that it needs, each once.
void add(const FileDescriptor& file, std::set<const FileDescriptor*>& known,
         FileDescriptorResponse& files) {
  if (!known.insert(&file).second) return;
  google::protobuf::FileDescriptorProto text;
  file.CopyTo(&text);
  files.add_file_descriptor_proto(text.SerializeAsString());
  for (int i = 0; i < file.dependency_count(); ++i) add(*file.dependency(i), known, files);
}

void refuse(grpc::StatusCode code, const std::string& why, ServerReflectionResponse& response) {
  response.mutable_error_response()->set_error_code(code);
  response.mutable_error_response()->set_error_message(why);
}

void describe(const FileDescriptor* file, const std::string& what,
              ServerReflectionResponse& response) {
  if (file == nullptr) return refuse(grpc::StatusCode::NOT_FOUND, "found no " + what, response);
  std::set<const FileDescriptor*> known;
  add(*file, known, *response.mutable_file_descriptor_response());
}

ServerReflectionResponse answer_to(const ServerReflectionRequest& request, const Names& services) {
  ServerReflectionResponse response;
  response.set_valid_host(request.host());
  *response.mutable_original_request() = request;
  const DescriptorPool& all = *DescriptorPool::generated_pool();
  switch (request.message_request_case()) {
    case ServerReflectionRequest::kListServices:
      for (const std::string& name : services) {
        response.mutable_list_services_response()->add_service()->set_name(name);
      }
      break;
    case ServerReflectionRequest::kFileByFilename:
      describe(all.FindFileByName(request.file_by_filename()), "such file", response);
      break;
    case ServerReflectionRequest::kFileContainingSymbol:
      describe(all.FindFileContainingSymbol(request.file_containing_symbol()), "such symbol",
               response);
      break;
    case ServerReflectionRequest::kFileContainingExtension:
    case ServerReflectionRequest::kAllExtensionNumbersOfType:
      refuse(grpc::StatusCode::NOT_FOUND, "no message has extensions", response);
      break;
    case ServerReflectionRequest::MESSAGE_REQUEST_NOT_SET:
      refuse(grpc::StatusCode::INVALID_ARGUMENT, "found no request, expected one", response);
      break;
  }
  return response;
}

// One question and its answer after the other, in the same place. It deletes itself when gRPC is
// done.
class Stream : public grpc::ServerBidiReactor<grpc::ByteBuffer, grpc::ByteBuffer> {
 public:
  explicit Stream(const Names& services) : services_(services) { StartRead(&bytes_); }

  void OnReadDone(bool ok) override {
    if (!ok) return Finish(grpc::Status::OK);
    const auto request = read_short<ServerReflectionRequest>(bytes_);
    if (!request) {
      const bool is_long = request.error().code == std::errc::not_enough_memory;
      return Finish(
          {is_long ? grpc::StatusCode::RESOURCE_EXHAUSTED : grpc::StatusCode::INVALID_ARGUMENT,
           request.error().what});
    }
    bytes_ = packed(answer_to(*request, services_));
    StartWrite(&bytes_);
  }
  void OnWriteDone(bool ok) override {
    if (!ok) return Finish(grpc::Status::OK);
    StartRead(&bytes_);
  }
  void OnDone() override { const std::unique_ptr<Stream> last(this); }

 private:
  const Names& services_;
  grpc::ByteBuffer bytes_;
};

}  // namespace

class Reflection::Inside : public ServerReflection::WithRawCallbackMethod_ServerReflectionInfo<
                               ServerReflection::Service> {
 public:
  explicit Inside(const Names& services) : services_(services) {
    services_.emplace_back(
        grpc::health::v1::HealthCheckRequest::descriptor()->file()->service(0)->full_name());
    services_.emplace_back(ServerReflection::service_full_name());
  }

  grpc::ServerBidiReactor<grpc::ByteBuffer, grpc::ByteBuffer>* ServerReflectionInfo(
      grpc::CallbackServerContext* /*context*/) override {
    return std::make_unique<Stream>(services_).release();
  }

 private:
  Names services_;
};

Reflection::Reflection(const Names& services) : inside_(std::make_unique<Inside>(services)) {}
Reflection::~Reflection() = default;

grpc::Service* Reflection::service() { return inside_.get(); }

}  // namespace plimsoll::daemon

#include "daemon/grpc/reflection.h"

#include <gmock/gmock.h>
#include <google/protobuf/descriptor.pb.h>
#include <grpcpp/grpcpp.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "grpc/reflection/v1alpha/reflection.grpc.pb.h"
#include "plimsoll/v1/jobs.pb.h"

namespace plimsoll::daemon {
namespace {

using namespace grpc::reflection::v1alpha;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

struct ReflectionTest : ::testing::Test {
  ReflectionTest() {
    static_cast<void>(v1::JobSpec::descriptor());  // is linked
    grpc::ServerBuilder builder;
    builder.RegisterService(reflection.service());
    server = builder.BuildAndStart();
    stub = ServerReflection::NewStub(server->InProcessChannel({}));
    stream = stub->ServerReflectionInfo(&context);
  }
  ServerReflectionResponse ask(const ServerReflectionRequest& request) {
    ServerReflectionResponse response;
    EXPECT_TRUE(stream->Write(request));
    EXPECT_TRUE(stream->Read(&response));
    return response;
  }
  // The names of the files that describe a symbol.
  std::vector<std::string> files_of(const std::string& symbol) {
    ServerReflectionRequest request;
    request.set_file_containing_symbol(symbol);
    std::vector<std::string> names;
    const auto response = ask(request);
    for (const auto& text : response.file_descriptor_response().file_descriptor_proto()) {
      google::protobuf::FileDescriptorProto file;
      EXPECT_TRUE(file.ParseFromString(text));
      names.push_back(file.name());
    }
    return names;
  }

  Reflection reflection{{"plimsoll.v1.Jobs"}};
  std::unique_ptr<grpc::Server> server;
  std::unique_ptr<ServerReflection::Stub> stub;
  grpc::ClientContext context;
  std::unique_ptr<grpc::ClientReaderWriter<ServerReflectionRequest, ServerReflectionResponse>>
      stream;
};

TEST_F(ReflectionTest, NamesTheServices) {
  ServerReflectionRequest request;
  request.set_list_services("*");
  const auto response = ask(request);
  std::vector<std::string> names;
  for (const auto& each : response.list_services_response().service()) names.push_back(each.name());
  EXPECT_THAT(names, ElementsAre("plimsoll.v1.Jobs", "grpc.health.v1.Health",
                                 "grpc.reflection.v1alpha.ServerReflection"));
}

TEST_F(ReflectionTest, DescribesWhatIsNamedWithWhatItNeeds) {
  EXPECT_THAT(files_of("plimsoll.v1.Jobs.Run"),
              ElementsAre("plimsoll/v1/jobs.proto", "google/protobuf/duration.proto"));
  EXPECT_THAT(files_of("grpc.health.v1.Health"), ElementsAre("grpc/health/v1/health.proto"));
  ServerReflectionRequest request;
  request.set_file_by_filename("google/protobuf/duration.proto");
  EXPECT_EQ(ask(request).file_descriptor_response().file_descriptor_proto_size(), 1);
}

TEST_F(ReflectionTest, SaysWhatThereIsNot) {
  ServerReflectionRequest request;
  request.set_file_containing_symbol("no.such.Message");
  const auto response = ask(request);
  EXPECT_EQ(response.error_response().error_code(), grpc::StatusCode::NOT_FOUND);
  EXPECT_EQ(response.original_request().file_containing_symbol(), "no.such.Message");
  EXPECT_EQ(ask({}).error_response().error_code(), grpc::StatusCode::INVALID_ARGUMENT);
}

// What is not known in it protobuf would keep, in thirty times the memory, as long as the stream.
TEST_F(ReflectionTest, ReadsNoLongQuestions) {
  ServerReflectionRequest request;
  request.set_list_services(std::string(70'000, 'x'));
  ASSERT_TRUE(stream->Write(request));
  ServerReflectionResponse response;
  EXPECT_FALSE(stream->Read(&response));
  const grpc::Status status = stream->Finish();
  EXPECT_EQ(status.error_code(), grpc::StatusCode::RESOURCE_EXHAUSTED);
  EXPECT_THAT(status.error_message(), HasSubstr("expected at most 64 KiB"));
}

}  // namespace
}  // namespace plimsoll::daemon

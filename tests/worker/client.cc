#include "client.h"

#include <google/protobuf/util/json_util.h>

#include <chrono>
#include <nlohmann/json.hpp>

#include <buildbarn/resourceusage/resourceusage.pb.h>

namespace plimsoll::testing {
namespace {

void set_deadline(grpc::ClientContext& context, std::optional<double> timeout_s) {
  if (!timeout_s) return;
  context.set_deadline(std::chrono::system_clock::now() +
                       std::chrono::milliseconds(static_cast<long>(*timeout_s * 1000)));
}

// Messages have to be known by name for their JSON.
void know_messages() {
  buildbarn::resourceusage::POSIXResourceUsage::descriptor();
  buildbarn::resourceusage::CgroupResourceUsage::descriptor();
}

}  // namespace

std::unique_ptr<Runner::Stub> connect(const std::string& address) {
  know_messages();
  return Runner::NewStub(grpc::CreateChannel(address, grpc::InsecureChannelCredentials()));
}

Outcome run(Runner::Stub& stub, const buildbarn::runner::RunRequest& request,
            std::optional<double> timeout_s) {
  grpc::ClientContext context;
  set_deadline(context, timeout_s);
  Outcome outcome;
  outcome.status = stub.Run(&context, request, &outcome.response);
  return outcome;
}

grpc::Status check(Runner::Stub& stub, const std::string& path) {
  grpc::ClientContext context;
  buildbarn::runner::CheckReadinessRequest request;
  request.set_path(path);
  google::protobuf::Empty nothing;
  return stub.CheckReadiness(&context, request, &nothing);
}

std::string text_of(const Outcome& outcome) {
  nlohmann::ordered_json told;
  told["code"] = static_cast<int>(outcome.status.error_code());
  told["message"] = outcome.status.error_message();
  if (outcome.status.ok()) {
    told["exit_code"] = outcome.response.exit_code();
    told["usage"] = nlohmann::ordered_json::array();
    for (const auto& usage : outcome.response.resource_usage()) {
      std::string json;
      google::protobuf::util::JsonPrintOptions options;
      options.always_print_primitive_fields = true;
      options.preserve_proto_field_names = true;
      [[maybe_unused]] const auto printed =
          google::protobuf::util::MessageToJsonString(usage, &json, options);
      told["usage"].push_back(nlohmann::ordered_json::parse(json, nullptr, false));
    }
  }
  return told.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

}  // namespace plimsoll::testing

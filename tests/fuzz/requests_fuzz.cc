#include <google/protobuf/descriptor.h>
#include <google/protobuf/descriptor.pb.h>
#include <google/protobuf/duration.pb.h>
#include <google/protobuf/dynamic_message.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/check.h"
#include "daemon/api/governor_messages.h"
#include "daemon/api/run_request.h"
#include "daemon/grpc/quiet.h"
#include "daemon/runner/runner_messages.h"
#include "plimsoll/v1/jobs.pb.h"

namespace plimsoll::daemon {
namespace {

void take(const v1::Enter& message) {
  const auto spec = spec_of(message);
  PLIMSOLL_CHECK(spec || spec.error().message().find("expected") != std::string::npos);
}

using google::protobuf::Message;

// A request in which every text may be any bytes, as ours may; a map is its entries.
class AnyBytes {
 public:
  AnyBytes() {
    google::protobuf::FileDescriptorProto file;
    google::protobuf::Duration::descriptor()->file()->CopyTo(&file);
    PLIMSOLL_CHECK(pool_.BuildFile(file) != nullptr);
    v1::RunRequest::descriptor()->file()->CopyTo(&file);
    for (auto& message : *file.mutable_message_type()) relax(message);
    PLIMSOLL_CHECK(pool_.BuildFile(file) != nullptr);
    request_ = factory_.GetPrototype(
        pool_.FindMessageTypeByName(v1::RunRequest::descriptor()->full_name()));
  }
  [[nodiscard]] std::unique_ptr<Message> read(std::string_view bytes) const {
    std::unique_ptr<Message> message(request_->New());
    const bool is_one = message->ParseFromArray(bytes.data(), static_cast<int>(bytes.size()));
    return is_one ? std::move(message) : nullptr;
  }

 private:
  static void relax(google::protobuf::DescriptorProto& message) {
    message.clear_options();
    for (auto& field : *message.mutable_field()) {
      using Field = google::protobuf::FieldDescriptorProto;
      if (field.type() == Field::TYPE_STRING) field.set_type(Field::TYPE_BYTES);
    }
    for (auto& inner : *message.mutable_nested_type()) relax(inner);
  }

  google::protobuf::DescriptorPool pool_;
  google::protobuf::DynamicMessageFactory factory_;
  const Message* request_ = nullptr;
};

const Message& inside(const Message& message, const char* field) {
  const auto* described = message.GetDescriptor()->FindFieldByName(field);
  return message.GetReflection()->GetMessage(message, described);
}

std::string text(const Message& message, const char* field) {
  const auto* described = message.GetDescriptor()->FindFieldByName(field);
  return message.GetReflection()->GetString(message, described);
}

// What we read is what protobuf reads.
void compare(const JobRequest& order, std::string_view bytes) {
  static const AnyBytes any_bytes;
  const auto message = any_bytes.read(bytes);
  PLIMSOLL_CHECK(message != nullptr);
  const Message& job = inside(*message, "job");
  const auto& reflection = *job.GetReflection();
  const auto* argv = job.GetDescriptor()->FindFieldByName("argv");
  std::vector<std::string> words;
  for (int i = 0; i < reflection.FieldSize(job, argv); ++i) {
    words.push_back(reflection.GetRepeatedString(job, argv, i));
  }
  PLIMSOLL_CHECK(std::ranges::equal(std::get<Words>(order.spec.command), words));
  const auto* env = job.GetDescriptor()->FindFieldByName("env");
  std::map<std::string, std::string> variables;
  for (int i = 0; i < reflection.FieldSize(job, env); ++i) {
    const Message& entry = reflection.GetRepeatedMessage(job, env, i);
    variables[text(entry, "key")] = text(entry, "value");
  }
  std::multiset<std::string> expected;
  for (const auto& [name, value] : variables) expected.insert(name + "=" + value);
  std::multiset<std::string> seen;
  for (const auto& variable : order.environment) seen.emplace(variable);
  PLIMSOLL_CHECK(seen == expected);
  PLIMSOLL_CHECK(order.spec.name == text(job, "name"));
  PLIMSOLL_CHECK(order.spec.job_class == text(job, "class"));
}

void take_job(std::string_view bytes) {
  const auto order = read_run_request(bytes);
  if (!order) {
    PLIMSOLL_CHECK(order.error().message().find("expected") != std::string::npos);
    return;
  }
  // What a job is started with.
  PLIMSOLL_CHECK(!std::get<plimsoll::Words>(order->spec.command).empty());
  PLIMSOLL_CHECK(order->spec.cwd.starts_with("/"));
  PLIMSOLL_CHECK(!order->spec.limits.cpus || std::isfinite(*order->spec.limits.cpus));
  compare(*order, bytes);
}

void take(const v1::GovernRequest& message) {
  if (message.has_enter()) take(message.enter());
  if (message.has_observe()) (void)sample_of(message.observe());
  if (message.has_leave()) (void)end_of(message.leave());
}

void take(const buildbarn::runner::RunRequest& message) {
  const ActionRequest order = order_of(message);
  PLIMSOLL_CHECK(order.arguments.size() == static_cast<std::size_t>(message.arguments_size()));
}

template <class Message>
void take_bytes(const std::uint8_t* data, std::size_t size) {
  Message message;
  if (message.ParseFromArray(data, static_cast<int>(size))) take(message);
}

}  // namespace
}  // namespace plimsoll::daemon

extern "C" int LLVMFuzzerInitialize(int* /*argc*/, char*** /*argv*/) {
  plimsoll::daemon::keep_libraries_quiet();
  return 0;
}

// Any bytes as a request of a client's.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace plimsoll;
  using namespace plimsoll::daemon;
  take_bytes<v1::GovernRequest>(data, size);
  take_job({reinterpret_cast<const char*>(data), size});
  take_bytes<buildbarn::runner::RunRequest>(data, size);
  return 0;
}

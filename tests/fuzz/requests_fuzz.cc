#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string_view>

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
  // The words are those that protobuf finds; it knows no others than UTF-8.
  v1::RunRequest message;
  if (!message.ParseFromArray(bytes.data(), static_cast<int>(bytes.size()))) return;
  const auto& words = message.job().argv();
  PLIMSOLL_CHECK(std::ranges::equal(std::get<plimsoll::Words>(order->spec.command), words));
  PLIMSOLL_CHECK(order->environment.size() == message.job().env().size());
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
  plimsoll::daemon::keep_protobuf_quiet();
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

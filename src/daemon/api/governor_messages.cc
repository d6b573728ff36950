#include "daemon/api/governor_messages.h"

#include <cmath>
#include <limits>
#include <string>

#include "daemon/api/priority_range.h"
#include "daemon/api/weight_range.h"

namespace plimsoll::daemon {
namespace {

constexpr double kCoresMax = 100'000;
constexpr std::int64_t kSecondsMax = std::int64_t{1} << 31;  // 68 years
constexpr int kExitCodeMax = 255;
constexpr int kSignalMax = 64;

tl::unexpected<Error> wrong(const std::string& what, const std::string& found,
                            const std::string& expected) {
  return fail(std::errc::invalid_argument, what + ": found " + found + ", expected " + expected);
}

std::optional<Bytes> known_bytes(std::uint64_t bytes) {
  return bytes == 0 ? std::nullopt : std::optional<Bytes>(Bytes{bytes});
}

Result<Duration> duration_of(const google::protobuf::Duration& message) {
  if (message.seconds() < 0 || message.seconds() > kSecondsMax || message.nanos() < 0 ||
      message.nanos() > 999'999'999) {
    return wrong("cpu", std::to_string(message.seconds()) + " s", "a time that is not negative");
  }
  return std::chrono::seconds(message.seconds()) + std::chrono::nanoseconds(message.nanos());
}

}  // namespace

Result<supervisor::ExternalLocation> place_of(const v1::Place& message) {
  switch (message.place_case()) {
    case v1::Place::kCgroup:
      return supervisor::ExternalLocation(supervisor::CgroupPlace{message.cgroup()});
    case v1::Place::kPid:
      return supervisor::ExternalLocation(supervisor::ProcessPlace{message.pid()});
    case v1::Place::PLACE_NOT_SET: break;
  }
  return wrong("place", "neither", "a cgroup or a pid");
}

Result<supervisor::ExternalSpec> spec_of(const v1::Enter& message) {
  supervisor::ExternalSpec spec;
  spec.name = message.id();
  spec.job_class = message.class_();
  spec.memory_hint = known_bytes(message.hints().memory_bytes());
  spec.memory_max = known_bytes(message.limits().memory_max_bytes());
  spec.disk_hint = known_bytes(message.hints().disk_bytes());
  const double cores = message.hints().cores();
  if (!std::isfinite(cores) || cores < 0 || cores > kCoresMax) {
    return wrong("hints.cores", std::to_string(cores), "0 to 100000");
  }
  if (cores > 0) spec.cpu_hint = cores;
  if (!is_priority(message.priority())) {
    return wrong("priority", std::to_string(message.priority()), kPriorityRange);
  }
  spec.priority = message.priority();
  auto weight = weight_of("weight", message.weight());
  if (!weight) return pass(std::move(weight));
  spec.weight = *weight;
  spec.restartable = message.restartable();
  if (message.has_place()) {
    auto place = place_of(message.place());
    if (!place) return pass(std::move(place));
    spec.place = std::move(*place);
  }
  if (!v1::Hand_IsValid(message.hand())) {
    return wrong("hand", std::to_string(message.hand()), "a value of Hand");
  }
  spec.hand = message.hand() == v1::HAND_GOVERNOR ? supervisor::ControlledBy::governor
                                                  : supervisor::ControlledBy::client;
  return spec;
}

Result<supervisor::ExternalSample> sample_of(const v1::Observe& message) {
  supervisor::ExternalSample sample;
  if (message.has_used_bytes()) sample.used = Bytes{message.used_bytes()};
  if (message.has_io_bytes()) sample.io = Bytes{message.io_bytes()};
  if (message.has_cpu()) {
    auto cpu = duration_of(message.cpu());
    if (!cpu) return pass(std::move(cpu));
    sample.cpu = *cpu;
  }
  return sample;
}

Result<supervisor::ExternalEnd> end_of(const v1::Leave& message) {
  using policy::Outcome;
  supervisor::ExternalEnd end;
  switch (static_cast<int>(message.end())) {  // any number can come
    case v1::END_EXITED:
      if (message.exit_code() < 0 || message.exit_code() > kExitCodeMax) {
        return wrong("exit_code", std::to_string(message.exit_code()), "0 to 255");
      }
      end.outcome = Outcome::exited;
      end.exit_code = message.exit_code();
      return end;
    case v1::END_SIGNALLED:
      if (message.signal() < 1 || message.signal() > kSignalMax) {
        return wrong("signal", std::to_string(message.signal()), "1 to 64");
      }
      end.outcome = Outcome::signalled;
      end.signal = message.signal();
      return end;
    case v1::END_CANCELLED:
    case v1::END_WITHDRAWN: end.outcome = Outcome::cancelled; return end;
    case v1::END_OVER_LIMIT: end.outcome = Outcome::over_limit; return end;
    case v1::END_MACHINE_OOM: end.outcome = Outcome::machine_oom; return end;
    case v1::END_TIMED_OUT: end.outcome = Outcome::timed_out; return end;
    case v1::END_FAILED_TO_START: end.outcome = Outcome::failed_to_start; return end;
    default: return wrong("end", std::to_string(message.end()), "a value of End");
  }
}

v1::CancelCause cause_of(policy::Outcome outcome) {
  if (outcome == policy::Outcome::evicted) return v1::CANCEL_CAUSE_EVICTED;
  if (outcome == policy::Outcome::over_line) return v1::CANCEL_CAUSE_OVER_LINE;
  return v1::CANCEL_CAUSE_USER;
}

int code_of(const Error& error) {
  // As of google.rpc.Code.
  constexpr int kUnknown = 2, kInvalidArgument = 3, kNotFound = 5, kAlreadyExists = 6,
                kPermissionDenied = 7, kResourceExhausted = 8, kFailedPrecondition = 9,
                kUnavailable = 14;
  if (error.code == std::errc::invalid_argument) return kInvalidArgument;
  if (error.code == std::errc::no_such_process) return kNotFound;
  if (error.code == std::errc::file_exists) return kAlreadyExists;
  if (error.code == std::errc::permission_denied) return kPermissionDenied;
  if (error.code == std::errc::not_enough_memory) return kResourceExhausted;
  if (error.code == std::errc::operation_in_progress) return kFailedPrecondition;
  if (error.code == std::errc::resource_unavailable_try_again) return kUnavailable;
  return kUnknown;
}

}  // namespace plimsoll::daemon

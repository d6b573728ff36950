#pragma once

#include <grpcpp/grpcpp.h>

#include <memory>
#include <optional>
#include <string>

#include <buildbarn/runner/runner.grpc.pb.h>

namespace plimsoll::testing {

using Runner = buildbarn::runner::Runner;

// How a call has ended.
struct Outcome {
  grpc::Status status;
  buildbarn::runner::RunResponse response;
};

// A connection as a worker has it: opened at the first call, shared by all its threads, no retries.
std::unique_ptr<Runner::Stub> connect(const std::string& address);

Outcome run(Runner::Stub& stub, const buildbarn::runner::RunRequest& request,
            std::optional<double> timeout_s);
grpc::Status check(Runner::Stub& stub, const std::string& path);

// One line of JSON.
std::string text_of(const Outcome& outcome);

}  // namespace plimsoll::testing

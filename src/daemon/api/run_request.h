#pragma once

#include <cstddef>
#include <string_view>

#include "base/result.h"
#include "daemon/api/job_request.h"

// A plimsoll.v1.RunRequest as it came from the wire. The words of its command and its variables go
// straight into blocks (base/words.h): in a message of protobuf's each is a string of its own,
// which for a command of 249,000 words takes some ten times as long, and as much more memory.
//
// Pure.
namespace plimsoll::daemon {

// A request and what is made of it take at most so many times the bytes of the request. The
// shortest word has two bytes on the wire, and Words::kAround in a block.
constexpr std::size_t kRunRequestGrows = 4;

// An error (invalid_argument) says what was found and what was expected. Words and values of
// variables may be any bytes but NUL. Of a variable that is named twice the last value counts, as
// in any map of protobuf's.
Result<JobRequest> read_run_request(std::string_view message);

}  // namespace plimsoll::daemon

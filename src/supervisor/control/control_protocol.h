#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include "base/result.h"
#include "supervisor/control/run_status.h"

// What is said through a run's socket: one JSON object a line each way, as
// docs/formats/control.md has it. Pure.
namespace plimsoll::supervisor {

struct AskStatus {
  bool operator==(const AskStatus&) const = default;
};
struct PauseJob {
  std::string job;  // a name or a number
  bool operator==(const PauseJob&) const = default;
};
struct ResumeJob {
  std::string job;
  bool operator==(const ResumeJob&) const = default;
};
struct KillJob {
  std::string job;
  bool operator==(const KillJob&) const = default;
};
struct SetLine {
  std::string size;  // "2G", "80%"
  bool operator==(const SetLine&) const = default;
};
struct SetJobsMax {
  unsigned jobs = 1;
  bool operator==(const SetJobsMax&) const = default;
};
using ControlRequest = std::variant<AskStatus, PauseJob, ResumeJob, KillJob, SetLine, SetJobsMax>;

struct ControlAnswer {
  std::optional<std::string> error{};  // why it was not done; absent: it was
  std::optional<RunStatus> status{};   // of AskStatus
  std::optional<Bytes> line{};         // of SetLine: that now holds
};

// A request is no longer than this, its newline included: a name of a job may be long.
inline constexpr std::size_t kRequestBytesMax = 64 << 10;
// What a client takes for an answer at most: a status of some 30,000 running jobs.
inline constexpr std::size_t kAnswerBytesMax = 16 << 20;
// -j of another batch is as bounded.
inline constexpr unsigned kJobsAtOnceMax = 1'000'000;

// `line` without its newline. Errors say what was found and what was expected; unknown keys are
// passed over.
[[nodiscard]] Result<ControlRequest> parse_request(std::string_view line);
[[nodiscard]] Result<ControlAnswer> parse_answer(std::string_view line);

// With the newline.
[[nodiscard]] std::string to_line(const ControlRequest& request);
[[nodiscard]] std::string to_line(const ControlAnswer& answer);

}  // namespace plimsoll::supervisor

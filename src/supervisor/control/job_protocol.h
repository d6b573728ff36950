#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/result.h"
#include "policy/job/job.h"
#include "supervisor/control/control_protocol.h"

// What is said through the daemon's socket for people at a shell, as docs/formats/daemon-jobs.md
// has it: JSON objects, one a line, and after some of them bytes of which the object tells the
// number. Pure.
namespace plimsoll::supervisor {

// Beside the daemon's own socket, which speaks gRPC.
[[nodiscard]] std::string job_socket_of(const std::string& daemon_socket);

// Where the output of a job goes that nobody waits for; as its user opens them.
struct OutputFiles {
  std::string out, err;
  bool operator==(const OutputFiles&) const = default;
};

// A command that the daemon is to run, as who asks. Without files its output and its end are told
// through the connection, and it is killed when that closes.
struct SubmitJob {
  policy::JobSpec job;  // its command is an argument vector; without an id
  Words environment;    // "NAME=value", the whole
  mode_t umask = 0;
  std::optional<OutputFiles> files{};
};
struct ListJobs {
  bool operator==(const ListJobs&) const = default;
};

// The line of a SubmitJob: its texts follow as bytes, as they may hold any.
struct SubmitHead {
  SubmitJob asked;         // but for its texts
  std::size_t words = 0;   // of the command
  std::size_t values = 0;  // of the environment
  std::size_t bytes = 0;
};
using JobRequest = std::variant<ControlRequest, ListJobs, SubmitHead>;

// The texts of a submission are no longer than this together: what execve(2) takes on most
// machines, and half as much again for files and directories.
inline constexpr std::size_t kSubmitBytesMax = 3 << 20;
// Words and variables of a job together: more than exec takes at the usual limit, 2 MiB of words
// and of pointers to them. Each costs the daemon far more than the byte that it may have in a
// message, and time in which no other job is looked after.
inline constexpr std::size_t kJobWordsMax = 250'000;
// One of them, without its NUL: execve(2) takes no longer one (MAX_ARG_STRLEN).
inline constexpr std::size_t kJobWordBytesMax = 131'071;
// Of a directory or a file, without its NUL (PATH_MAX).
inline constexpr std::size_t kJobPathMax = 4095;
// Of output told at once.
inline constexpr std::size_t kOutputBytesMax = 64 << 10;

// `line` without its newline, at most kRequestBytesMax. Errors say what was found and what was
// expected.
[[nodiscard]] Result<JobRequest> parse_job_request(std::string_view line);
// The submission whole: `bytes` are those that its head has told of.
[[nodiscard]] Result<SubmitJob> complete(SubmitHead head, std::string_view bytes);

// With their newline, and the bytes.
[[nodiscard]] std::string to_message(const SubmitJob& asked);
[[nodiscard]] std::string to_message(const ListJobs& asked);

struct ListedJob {
  JobId job{};
  std::string name, command;  // the command cut at kCommandShownMax
  std::uint32_t uid = 0;
  std::string state;
  std::string reason;  // why it waits or is paused, cut at kCommandShownMax; empty: not known
  Duration age{};      // since it came
};
[[nodiscard]] std::string to_message(const std::vector<ListedJob>& jobs);
[[nodiscard]] Result<std::vector<ListedJob>> parse_listed(std::string_view line);

// What a submission is answered with, in this order: taken, then what becomes of it.
struct JobTaken {
  JobId job{};
};
struct JobStands {
  std::string state;  // "waiting", "running", "paused"
  unsigned attempt = 0;
  std::string reason;
};
enum class JobOutput : std::uint8_t { out, err };
struct OutputHead {  // the bytes follow
  JobOutput stream{};
  std::size_t bytes = 0;
};
struct JobEnded {
  std::string outcome;  // in the words of job reports
  std::optional<int> exit_code{}, signal{};
  std::optional<int> start_error{};  // errno of exec(2), where that is what has failed
  std::string reason;
  std::string report;  // plimsoll.job/1, a line
};
struct JobRefused {
  std::string error;
};
using JobNews = std::variant<JobTaken, JobStands, OutputHead, JobEnded, JobRefused>;
[[nodiscard]] std::string to_message(const JobNews& news);  // without the bytes of an output
[[nodiscard]] Result<JobNews> parse_news(std::string_view line);

}  // namespace plimsoll::supervisor

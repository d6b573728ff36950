#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

// Commands that `plimsoll serve` runs as the user who asks, through plimsoll.v1.Jobs, without gRPC
// in sight. docs/api.md describes what lies behind.
//
//   auto jobs = plimsoll::client::Jobs::connect();
//   const auto ended = jobs->run({.argv = {"make"}, .cwd = "/src", .env = {{"PATH", path}}}, {});
//   if (!ended) complain(ended.failure.message); else use(ended->exit_code);
namespace plimsoll::client {

// A call that came to nothing; `code` as of google.rpc.Code.
struct Failure {
  int code = 0;
  std::string message;
};

// What a call brings, or why not.
template <class Value>
struct Answer {
  std::optional<Value> value;
  Failure failure{};
  explicit operator bool() const { return value.has_value(); }
  const Value& operator*() const { return *value; }
  const Value* operator->() const { return &*value; }
};
struct Done {};

struct Command {
  std::string name{};  // for people
  // argv[0] without a slash is looked up in the PATH of `env`, which is the whole environment.
  std::vector<std::string> argv;
  std::string cwd = "/";
  std::map<std::string, std::string> env{};
  std::string job_class{};  // jobs of one class are expected to behave alike
  // What it is expected to need, until its class has a past; absent: not known.
  std::optional<std::uint64_t> memory_hint_bytes{};
  std::optional<double> cpu_hint_cores{};
  // The most disk space that it takes at any time; absent: not known.
  std::optional<std::uint64_t> disk_hint_bytes{};
  // Its own limits.
  std::optional<std::uint64_t> memory_max_bytes{};
  std::optional<double> cpus_max{};
  std::optional<std::uint64_t> pids_max{};
  int priority = 0;                       // -1000 to 1000; above 0 is for root
  std::optional<std::uint32_t> weight{};  // its share of CPU time, 1 to 10000; the usual is 100
  std::optional<std::chrono::nanoseconds> timeout{};
  // Whether it may be killed to free memory and run again; its output then comes again.
  bool restartable = false;
};

enum class RunState : std::uint8_t { waiting, running, paused };

struct StateChange {
  std::uint64_t job = 0;
  RunState state{};
  unsigned attempt = 0;
  std::string reason;
};

// Called from within the call that follows the job; what is empty is not called.
struct Listener {
  std::function<void(const StateChange&)> state{};
  std::function<void(std::string_view data)> out{}, err{};
};

struct Ended {
  std::string outcome;  // in the words of job reports: "exited", "signalled", "over_limit", ...
  std::optional<int> exit_code{}, signal{};
  std::string reason;
  std::string report;  // JSON, plimsoll.job/1
};

struct ListedJob {
  std::uint64_t job = 0;
  std::string name;
  std::uint32_t uid = 0;
  RunState state{};
};

struct Decision {
  std::chrono::nanoseconds at{};  // since the job came
  std::string kind;               // in the words of recorded events: "held", "admitted", ...
  std::string reason;
  std::map<std::string, double> numbers;
};
struct Explanation {
  std::vector<Decision> decisions;
  bool cut = false;  // only the first and the last are here
};

// All calls may be made from any thread, and wait for the daemon.
class Jobs {
 public:
  // `socket`: its path; empty: default_socket(). A daemon that is not there fails the calls.
  static std::unique_ptr<Jobs> connect(const std::string& socket = {});
  Jobs(const Jobs&) = delete;
  Jobs& operator=(const Jobs&) = delete;
  ~Jobs();

  // Runs a command to its end. After `give_up_after` it is killed, and the answer is
  // DEADLINE_EXCEEDED (4).
  Answer<Ended> run(const Command& command, const Listener& listener,
                    std::optional<std::chrono::nanoseconds> give_up_after = {});
  // The same without waiting, whoever listens. Brings the job's number.
  Answer<std::uint64_t> submit(const Command& command);
  // Follows a job of this user's to its end, from now on.
  Answer<Ended> watch(std::uint64_t job, const Listener& listener);
  // This user's jobs that have not ended; root's: everybody's.
  Answer<std::vector<ListedJob>> list();
  // To the main process; KILL ends all that the job has started.
  Answer<Done> signal(std::uint64_t job, int number);
  Answer<Explanation> explain(std::uint64_t job);

 private:
  class Calls;
  explicit Jobs(std::unique_ptr<Calls> calls);
  std::unique_ptr<Calls> calls_;
};

}  // namespace plimsoll::client

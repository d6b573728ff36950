#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

// The governor of this machine, for programs that start their own work: what `plimsoll serve` is
// asked through plimsoll.v1.Governor, without gRPC in sight. docs/api.md describes what lies
// behind; examples/executor is a whole program.
//
//   auto governor = plimsoll::client::Governor::connect({}, handlers);
//   governor->enter({.id = "link", .job_class = "ld", .memory_bytes = 2ull << 30});
//   ... handlers.admit("link") is called: start it ...
//   governor->leave("link", plimsoll::client::exited(0));
namespace plimsoll::client {

// Where a job's processes are, so that the daemon measures them itself: either a cgroup, by its
// path from the root of each hierarchy, or a process, with all its descendants. Your own ones only.
struct Place {
  std::optional<std::string> cgroup;
  std::optional<int> pid;
};

struct Job {
  std::string id;         // 1 to 256 bytes, yours to choose; free again once it has left
  std::string job_class;  // jobs of one class are expected to behave alike
  // What it is expected to need, until its class has a past; absent: not known.
  std::optional<std::uint64_t> memory_bytes{};
  std::optional<double> cores{};
  // The most disk space that it takes at any time; absent: not known.
  std::optional<std::uint64_t> disk_bytes{};
  // Its own limit, which you have set.
  std::optional<std::uint64_t> memory_max_bytes{};
  int priority = 0;  // -1000 to 1000; higher starts earlier
  // Its share of CPU time and I/O, 1 to 10000, the usual is 100; set there if the daemon acts.
  std::optional<std::uint32_t> weight{};
  bool restartable = false;  // it may be cancelled to free memory, and is admitted again
  std::optional<Place> place{};
  // Whether the daemon stops and ends the job's processes at its place, instead of you.
  bool governor_acts = false;
};

// What you have measured of a job; absent: not known.
struct Sample {
  std::optional<std::uint64_t> used_bytes{};
  std::optional<std::int64_t> cpu_ns{};  // since it was admitted
  std::optional<std::uint64_t> io_bytes{};
};

enum class EndKind : std::uint8_t {
  exited,     // by itself
  signalled,  // by a signal that you did not send
  cancelled,  // after a cancel()
  withdrawn,  // you do not want it any more, admitted or not
  over_limit,
  machine_oom,
  timed_out,
  failed_to_start,
};
struct End {
  EndKind kind{};
  int number = 0;  // the exit code, or the signal
};
[[nodiscard]] inline End exited(int code) { return {EndKind::exited, code}; }

// Where the job stands with the governor: whether another attempt follows.
struct Cancelled {
  std::string reason;
  bool for_memory = false;   // it was in the way, or too big; else somebody wanted it so
  bool comes_again = false;  // after leave() with EndKind::cancelled it is admitted again
};

// Called one at a time, from a thread of the library's; what is empty is not called. They may call
// the Governor, but not destroy it.
struct Handlers {
  std::function<void(const std::string& id, unsigned attempt)> admit;  // start it now
  std::function<void(const std::string& id, const std::string& reason)> hold;
  std::function<void(const std::string& id, const std::string& reason)> pause, resume;
  // End its processes at once, then leave(): within 10 s.
  std::function<void(const std::string& id, const Cancelled&)> cancel;
  std::function<void(const std::string& id, bool comes_again)> left;
  // A call was not followed; `code` as of google.rpc.Code. The stream goes on.
  std::function<void(const std::string& id, int code, const std::string& message)> refused;
  // The daemon is gone, or refuses the stream: nothing more is called. Jobs that are paused should
  // go on, and start no longer under anybody's control, or enter with a new Governor.
  std::function<void(int code, const std::string& message)> lost;
};

// $PLIMSOLL_SOCKET, else where the daemon listens by default.
[[nodiscard]] std::string default_socket();

// One stream to the daemon. All calls may be made from any thread; none waits for the daemon.
class Governor {
 public:
  // `socket`: its path; empty: default_socket(). A daemon that is not there is told through `lost`.
  static std::unique_ptr<Governor> connect(const std::string& socket, Handlers handlers);
  Governor(const Governor&) = delete;
  Governor& operator=(const Governor&) = delete;
  // Ends the stream: all its jobs have left.
  ~Governor();

  void enter(const Job& job);
  void watch(const std::string& id, const Place& place);
  void observe(const std::string& id, const Sample& sample);
  void leave(const std::string& id, const End& end);

 private:
  class Stream;
  explicit Governor(std::unique_ptr<Stream> stream);
  std::unique_ptr<Stream> stream_;
};

}  // namespace plimsoll::client

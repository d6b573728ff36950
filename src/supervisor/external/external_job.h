#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "base/units.h"
#include "policy/job/decision.h"
#include "policy/job/job.h"
#include "supervisor/external/peer.h"

// An external job: a job that somebody else starts, measures and ends, and that is governed beside
// ours.
namespace plimsoll::supervisor {

struct CgroupPlace {
  std::string path;  // from the root of each hierarchy
  bool operator==(const CgroupPlace&) const = default;
};
struct ProcessPlace {
  int pid = 0;  // whose descendants belong to the external job as well
  bool operator==(const ProcessPlace&) const = default;
};
using ExternalLocation = std::variant<CgroupPlace, ProcessPlace>;

// Who stops and ends an external job's processes.
enum class ControlledBy : std::uint8_t { client, governor };

struct ExternalSpec {
  std::string name{};       // the client's
  std::string job_class{};  // empty: derived from the command, kExternalClass without one
  std::optional<Bytes> memory_hint{}, memory_max{};
  std::optional<Bytes> disk_hint{};
  std::optional<double> cpu_hint{};
  int priority = 0;
  std::optional<unsigned> weight{};  // of CPU time and I/O, as of cpu.weight
  bool restartable = false;
  std::optional<ExternalLocation> place{};
  ControlledBy hand = ControlledBy::client;
  // What it executes and where, if that is known: its class, unless that is named, and its past.
  std::vector<std::string> command{};
  std::string cwd{};
};

// Of external jobs whose class nobody named, and of which no command is known.
inline constexpr const char* kExternalClass = "guest";

// What a client, or a look at an external job's place, tells of it. Absent is what is not known.
struct ExternalSample {
  std::optional<Bytes> used{};
  std::optional<Duration> cpu{};  // since it was admitted
  std::optional<Bytes> io{};
};

// How a client's external job has ended.
struct ExternalEnd {
  policy::Outcome outcome{};
  std::optional<int> exit_code{}, signal{};
  // What it used, as its client's kernel has counted: looks at its place miss what is short.
  std::optional<Bytes> peak{};
  std::optional<Duration> cpu{};
};

enum class Again : std::uint8_t { never, later };

// What is told to the client of external jobs. Called from within calls of ExternalJobs, which must
// not be called back.
class ExternalListener {
 public:
  ExternalListener() = default;
  ExternalListener(const ExternalListener&) = delete;
  ExternalListener& operator=(const ExternalListener&) = delete;
  virtual ~ExternalListener() = default;

  virtual void on_admit(const std::string& name, unsigned attempt, const std::string& reason) = 0;
  virtual void on_hold(const std::string& name, policy::HoldCause cause,
                       const std::string& reason) = 0;
  virtual void on_pause(const std::string& name, const std::string& reason) = 0;
  virtual void on_resume(const std::string& name, const std::string& reason) = 0;
  // Its processes have to end, and leave() has to follow.
  virtual void on_cancel(const std::string& name, policy::Outcome cause, const std::string& reason,
                         Again again) = 0;
  // It has left: for good, or it waits for another attempt.
  virtual void on_left(const std::string& name, Again again, const std::string& reason) = 0;
};

}  // namespace plimsoll::supervisor

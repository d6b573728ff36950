#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/units.h"
#include "guardian/child_list.h"
#include "kernel/procfs/parse.h"

namespace plimsoll::guardian {

// A process that has come to this one because its parent has died.
struct AdoptedChild {
  std::uint64_t start = 0;  // in ticks, as of procfs::Id
  std::string comm{};
  int session = 0;
  uid_t user = 0;                     // its real one
  std::vector<std::string> groups{};  // its path in each hierarchy
};

// The name of a job among the variables of its processes (docs/formats/job-files.md).
inline constexpr const char* kJobVariable = "PLIMSOLL_JOB";

// What Adoptions needs of the machine.
class AdoptionHost {
 public:
  virtual ~AdoptionHost() = default;
  // Children of this process that have come since the last call, whoever has started them.
  [[nodiscard]] virtual std::vector<pid_t> new_children() = 0;
  // A child has been waited for.
  virtual void ended(pid_t child) = 0;
  // Whose it is, by its real user; costs less than read(). Nothing: it has ended.
  [[nodiscard]] virtual std::optional<uid_t> user_of(pid_t pid) = 0;
  // Nothing: it has ended.
  [[nodiscard]] virtual std::optional<AdoptedChild> read(pid_t pid) = 0;
  // The value of kJobVariable in its environment. May wait for the process's own memory.
  [[nodiscard]] virtual std::string name_of(pid_t pid) = 0;
  // As many as are worth a look.
  [[nodiscard]] virtual std::vector<procfs::Id> descendants_of(pid_t pid) = 0;
  // False: it may not be.
  virtual bool kill(pid_t pid) = 0;
  [[nodiscard]] virtual Instant time_now() = 0;
  // Of this process; its jobs may become anybody.
  [[nodiscard]] virtual uid_t user() = 0;
};

// This machine: the children of this process, without its supervisor.
class ProcfsAdoptionHost final : public AdoptionHost {
 public:
  explicit ProcfsAdoptionHost(pid_t supervisor) : supervisor_(supervisor) {}

  [[nodiscard]] std::vector<pid_t> new_children() override;
  void ended(pid_t child) override { children_.ended(child); }
  [[nodiscard]] std::optional<uid_t> user_of(pid_t pid) override;
  [[nodiscard]] std::optional<AdoptedChild> read(pid_t pid) override;
  [[nodiscard]] std::string name_of(pid_t pid) override;
  [[nodiscard]] std::vector<procfs::Id> descendants_of(pid_t pid) override;
  bool kill(pid_t pid) override;
  [[nodiscard]] Instant time_now() override;
  [[nodiscard]] uid_t user() override;

 private:
  pid_t supervisor_;
  ChildList children_;
};

// The job's name as its own environment says, which ends with a null pointer; empty if it does not.
std::string name_of_job(const std::vector<char*>& env);

// A directory of a run's tree as Adoptions::Job::group; empty if it is not within `run`. `fd` is of
// the directory or of a file in it.
std::string group_within_run(int fd, bool is_file, const std::string& run);

}  // namespace plimsoll::guardian

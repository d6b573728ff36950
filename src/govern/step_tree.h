#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <unordered_map>
#include <vector>

#include "base/units.h"
#include "govern/drivers.h"
#include "govern/exec.h"

namespace plimsoll::govern {

// What the tree asks about processes.
class ProcessLookup {
 public:
  struct Process {
    procfs::Id id;
    int parent = 0;
  };
  ProcessLookup() = default;
  ProcessLookup(const ProcessLookup&) = delete;
  ProcessLookup& operator=(const ProcessLookup&) = delete;
  virtual ~ProcessLookup() = default;
  // As it is now; nothing if it is gone.
  [[nodiscard]] virtual std::optional<Process> find(int pid) = 0;
  // The step in whose group the process is, if it is in one.
  [[nodiscard]] virtual std::optional<JobId> step_of(int pid) = 0;
};

// What an exec means.
struct Meaning {
  enum class What : std::uint8_t {
    nothing,  // of a driver, or somebody else's
    begins,   // a step begins with this process
    goes_on,  // within `step`
  };
  What what{};
  std::optional<JobId> step{};
  // This step is none: it has turned out to be a driver, and so has whoever is above the process in
  // it.
  std::optional<JobId> released{};
};

// Who is a driver, who a step, and who belongs to which: made of the execs that are told. A child
// of a driver that executes something begins a step, unless that is a driver itself; everything
// below a step belongs to it. A step in which a driver is executed, or in which somebody has two
// children at a time that have both executed something, is a driver.
//
// Pure but for the look-ups.
class StepTree {
 public:
  // Both must outlive this.
  StepTree(const Drivers& drivers, ProcessLookup& lookup) : drivers_(drivers), lookup_(lookup) {}

  // The command itself, which is a driver whatever it is.
  void set_root(const Exec& exec);
  [[nodiscard]] Meaning exec(const Exec& exec);
  // What `exec` has begun is this step.
  void begun(JobId step, const Exec& exec);
  void ended(JobId step);

  // The processes that were told as within the step, without its main one.
  [[nodiscard]] std::vector<procfs::Id> inside(JobId step) const;
  // Those that are drivers or steps of their own, as far as is known, without the step itself.
  [[nodiscard]] std::set<procfs::Id> others(JobId step) const;

  // Drivers that live below the command itself; nothing if somebody lives below whom nothing is
  // told, or if the command may hold tokens of a jobserver itself. Looks all of them up.
  [[nodiscard]] std::optional<std::size_t> drivers_below();

  [[nodiscard]] std::size_t nodes() const { return nodes_.size(); }

  // Ancestors that are looked through, and processes that are remembered of one step.
  static constexpr int kDepthMax = 64;
  static constexpr std::size_t kInsideMax = 256;
  // Nodes of processes that are gone are looked for when there are so many.
  static constexpr std::size_t kSweepFrom = 512;

 private:
  enum class Kind : std::uint8_t {
    driver,
    lasting_driver,  // whatever it executes next
    step,
    governor,  // nothing below it is ours
  };
  struct Node {
    procfs::Id id;
    Kind kind{};
    std::optional<JobId> step{};
  };
  // A process of a step that has executed something.
  struct Inside {
    procfs::Id id;
    int parent = 0;
    Role role{};
  };
  struct Step {
    procfs::Id main;
    std::map<int, Inside> inside;
  };

  Node* node(const procfs::Id& id);
  Node* node_above(const Exec& exec);
  Meaning exec_below_driver(const Exec& exec);
  Meaning exec_in_step(JobId step, const Exec& exec);
  [[nodiscard]] bool has_governor(const Step& step);
  [[nodiscard]] bool starts_several(const Step& step, const Exec& exec);
  void release(JobId step, const Exec& exec);
  void set(const procfs::Id& id, Kind kind);
  void sweep();
  void forget_the_dead();

  const Drivers& drivers_;
  ProcessLookup& lookup_;
  std::unordered_map<int, Node> nodes_;
  std::map<JobId, Step> steps_;
  std::optional<procfs::Id> root_;
  bool root_may_hold_tokens_ = false;
  std::size_t sweep_at_ = kSweepFrom;
};

}  // namespace plimsoll::govern

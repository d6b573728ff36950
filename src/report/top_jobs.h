#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "report/report.h"
#include "report/shared_text.h"

// What of a run's jobs is kept for its end, in a bounded amount of memory however many they are.
namespace plimsoll::report {

// One stalled resource of a job: the time in which at least one of its tasks stood still for it.
enum class Resource : std::uint8_t { cpu, memory, io };
struct Stall {
  Duration some{};
  Resource resource{};
};

// The figures of one job by which it is compared with others.
struct JobFigures {
  std::string id;
  std::uint64_t number = 0;  // in the order of input; 0: not known
  std::string command;       // as one line; any bytes
  policy::Outcome outcome{};
  std::string how;     // the rest of a sentence about it: "exited with code 2"
  std::string reason;  // as in the report
  bool succeeded = false;
  std::optional<Duration> wall;
  std::optional<Duration> cpu;
  std::optional<Bytes> peak;
  std::optional<Stall> stall;  // the longest of the three resources
};
[[nodiscard]] JobFigures figures_of(const JobReport& report);

// By what a job is heavy.
enum class Weight : std::uint8_t { memory, cpu, stall };

// So many of the heaviest are listed unless the user says otherwise: a glance.
inline constexpr std::size_t kHeaviestListed = 10;
// Then a job is not worth naming if it had less than one part in so many of the line.
inline constexpr std::uint64_t kHeavyShare = 100;
// So many failed jobs are listed at the end of a run; the rest is counted. One screen.
inline constexpr std::size_t kFailedListedMax = 20;

// Takes the reports of a run one by one and keeps the heaviest jobs by each Weight and the first
// failed ones by their numbers.
class TopJobs {
 public:
  // `heaviest` jobs are kept of each weight.
  explicit TopJobs(std::size_t heaviest) : heaviest_max_(heaviest) {}

  void add(const JobReport& report);

  // Heaviest first; of equals the earlier one. Jobs of which the figure is not known, or nothing,
  // are not among them.
  [[nodiscard]] const std::vector<JobFigures>& heaviest(Weight by) const;

  // The first kFailedListedMax of those that were run and did not succeed, in the order of input.
  // Skipped and cancelled ones only count: nothing is wrong with them.
  [[nodiscard]] const std::vector<JobFigures>& failed() const { return failed_; }

  [[nodiscard]] std::uint64_t jobs() const { return jobs_; }
  [[nodiscard]] std::uint64_t succeeded() const { return succeeded_; }
  [[nodiscard]] std::uint64_t skipped() const { return skipped_; }
  [[nodiscard]] std::uint64_t cancelled() const { return cancelled_; }

  // What all commands have in common.
  [[nodiscard]] const SharedText& commands() const { return commands_; }

 private:
  void keep_heaviest(std::vector<JobFigures>& kept, Weight by, const JobFigures& figures) const;

  std::size_t heaviest_max_;
  std::vector<JobFigures> by_memory_, by_cpu_, by_stall_;  // each at most heaviest_max_, sorted
  std::vector<JobFigures> failed_;
  SharedText commands_;
  std::uint64_t jobs_ = 0, succeeded_ = 0, skipped_ = 0, cancelled_ = 0;
};

}  // namespace plimsoll::report

#include "cli/runs/simulated_jobs.h"

#include <filesystem>
#include <fstream>

#include "cli/runs/recorded_runs.h"
#include "cli/runs/replay.h"
#include "report/plain.h"
#include "store/runs/recorded_job.h"

namespace plimsoll::cli {
namespace {

namespace fs = std::filesystem;

constexpr const char* kReportsFile = "jobs.jsonl";

std::string first_line(const std::string& path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  return line;
}

Result<std::vector<report::RecordedJob>> read_jobs(const std::string& path) {
  auto lines = report::read_reports(path);
  if (!lines) return pass(std::move(lines));
  std::vector<report::RecordedJob> jobs;
  for (const std::string& line : *lines) {
    if (auto job = report::parse_recorded_job(line)) jobs.push_back(std::move(*job));
  }
  return jobs;
}

// Empty where no job has started and ended: only then it is known what one needs.
SimulatedJobs jobs_of(std::vector<report::RecordedJob> recorded,
                      const std::vector<report::RecordedEvent>& events) {
  report::into_order_of_input(recorded, events);
  return {.jobs = replay_of(recorded, events)};
}

std::string nothing_to_simulate(const report::RunEntry& run) {
  const std::string id = report::printable(run.id);
  switch (run.state) {
    case report::RunState::died:
      return "run " + id + " died before any of its jobs had ended: there is nothing to simulate";
    case report::RunState::running:
      return "no job of run " + id + " has ended yet: there is nothing to simulate";
    case report::RunState::finished: break;
  }
  return "no job of run " + id + " was started: there is nothing to simulate";
}

Result<SimulatedJobs> read_recorded(const std::string& name) {
  const auto run = read_run(name);
  if (!run) return tl::unexpected(run.error());
  return simulated_jobs_of(*run);
}

Result<SimulatedJobs> read_file(const std::string& path) {
  if (report::parse_recorded_job(first_line(path))) {
    auto recorded = read_jobs(path);
    if (!recorded) return pass(std::move(recorded));
    SimulatedJobs found = jobs_of(std::move(*recorded), {});
    if (found.jobs.empty()) {
      return fail(path + ": found no job that started and ended, expected at least one");
    }
    return found;
  }
  auto curves = sim::read_curves(path);
  if (!curves) return pass(std::move(curves));
  return SimulatedJobs{.jobs = std::move(*curves)};
}

}  // namespace

Result<SimulatedJobs> simulated_jobs_of(const RecordedRun& run) {
  auto recorded = read_jobs(run.entry.path + '/' + kReportsFile);
  if (!recorded && !recorded.error().gone()) return pass(std::move(recorded));
  SimulatedJobs found =
      jobs_of(recorded ? std::move(*recorded) : std::vector<report::RecordedJob>(), run.events);
  if (found.jobs.empty()) return fail(nothing_to_simulate(run.entry));
  found.cores = run.entry.meta.cores;
  found.line = run.entry.meta.line;
  return found;
}

Result<SimulatedJobs> read_simulated_jobs(const std::string& name) {
  std::error_code ignored;
  const fs::path path(name);
  if (fs::is_directory(path, ignored)) return read_recorded((path / "").string());
  const fs::path directory = path.has_parent_path() ? path.parent_path() : fs::path(".");
  if (path.filename() == kReportsFile && fs::exists(directory / "meta.json", ignored)) {
    return read_recorded((directory / "").string());
  }
  if (name.find('/') != std::string::npos || fs::exists(path, ignored)) return read_file(name);
  const auto run = read_run(name);
  if (run) return simulated_jobs_of(*run);
  return fail("there is no file \"" + name + "\", and " + run.error().message());
}

}  // namespace plimsoll::cli

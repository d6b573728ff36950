#include "cli/simulated_jobs.h"

#include <filesystem>
#include <fstream>

#include "cli/recorded_runs.h"
#include "cli/replay.h"
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

Result<SimulatedJobs> jobs_of(std::vector<report::RecordedJob> recorded,
                              const std::vector<report::RecordedEvent>& events,
                              const std::string& path) {
  report::into_order_of_input(recorded, events);
  SimulatedJobs found{.jobs = replay_of(recorded, events)};
  if (found.jobs.empty()) return fail(path + ": no job of it has started and ended");
  return found;
}

Result<SimulatedJobs> read_recorded(const std::string& name) {
  auto run = read_run(name);
  if (!run) return pass(std::move(run));
  auto recorded = read_jobs(run->entry.path + '/' + kReportsFile);
  if (!recorded) return pass(std::move(recorded));
  auto found = jobs_of(std::move(*recorded), run->events, run->entry.path);
  if (!found) return found;
  found->cores = run->entry.meta.cores;
  found->line = run->entry.meta.line;
  return found;
}

Result<SimulatedJobs> read_file(const std::string& path) {
  if (report::parse_recorded_job(first_line(path))) {
    auto recorded = read_jobs(path);
    if (!recorded) return pass(std::move(recorded));
    return jobs_of(std::move(*recorded), {}, path);
  }
  auto curves = sim::read_curves(path);
  if (!curves) return pass(std::move(curves));
  return SimulatedJobs{.jobs = std::move(*curves)};
}

}  // namespace

Result<SimulatedJobs> read_simulated_jobs(const std::string& name) {
  std::error_code ignored;
  const fs::path path(name);
  if (fs::is_directory(path, ignored)) return read_recorded((path / "").string());
  const fs::path directory = path.has_parent_path() ? path.parent_path() : fs::path(".");
  if (path.filename() == kReportsFile && fs::exists(directory / "meta.json", ignored)) {
    return read_recorded((directory / "").string());
  }
  if (name.find('/') != std::string::npos || fs::exists(path, ignored)) return read_file(name);
  auto recorded = read_recorded(name);
  if (recorded) return recorded;
  return fail("there is no file \"" + name + "\", and " + recorded.error().message());
}

}  // namespace plimsoll::cli

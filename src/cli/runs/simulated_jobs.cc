#include "cli/runs/simulated_jobs.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>

#include "base/limits.h"
#include "cli/runs/recorded_runs.h"
#include "report/plain.h"
#include "store/runs/recorded_job.h"

namespace plimsoll::cli {
namespace {

constexpr double kReplayMib = 1 << 20;
// Stretches of a curve that are shorter say nothing.
constexpr double kShortest = 1e-6;

// When the last attempt of a job stood in the freezer, since its start.
class Pauses {
 public:
  void start(Duration at) {
    started_ = at;
    frozen_at_.reset();
    spans_.clear();
  }
  void stand(Duration at) { frozen_at_ = at; }
  void go_on(Duration at) {
    if (frozen_at_) spans_.emplace_back(*frozen_at_ - started_, at - started_);
    frozen_at_.reset();
  }

  // The running time at `t` since the start.
  [[nodiscard]] double ran(Duration t) const {
    Duration frozen{};
    for (const auto& [from, to] : spans_) {
      if (t > from) frozen += std::min(t, to) - from;
    }
    return to_seconds(t - frozen);
  }

 private:
  Duration started_{};
  std::optional<Duration> frozen_at_;
  std::vector<std::pair<Duration, Duration>> spans_;
};

std::map<std::string, Pauses> pauses_in(const std::vector<report::RecordedEvent>& events) {
  std::map<std::string, Pauses> pauses;
  for (const report::RecordedEvent& event : events) {
    if (event.job.empty()) continue;
    Pauses& job = pauses[event.job];
    if (event.kind == policy::EventKind::started) job.start(event.t);
    if (event.kind == policy::EventKind::frozen) job.stand(event.t);
    if (event.kind == policy::EventKind::thawed) job.go_on(event.t);
  }
  return pauses;
}

float mib_of(Bytes bytes) { return static_cast<float>(to_double(bytes) / kReplayMib); }

std::optional<float> mib_of(const counters::Sample& sample) {
  const auto& memory = sample.memory;
  if (memory.used) return mib_of(*memory.used);
  if (memory.current) return mib_of(*memory.current);
  return std::nullopt;
}

double waited_seconds(const counters::Sample& sample) {
  const auto& pressure = sample.cpu.pressure;
  return pressure && pressure->some ? to_seconds(pressure->some->total) : 0;
}

// One curve, drawn from look to look.
class Drawing {
 public:
  Drawing(double cpus, const Pauses* pauses) : cpus_(cpus), pauses_(pauses) {}

  // What lies between the looks is straight. A job of several threads may have waited all the time
  // and yet have used all cores that there are: it would have taken no less alone.
  void draw_to(Duration t, double cpu_seconds, double waited, float mib) {
    const double ran = pauses_ != nullptr ? pauses_->ran(t) : to_seconds(t);
    const double passed = std::max(ran - ran_, 0.0);
    const double used = std::max(cpu_seconds - cpu_, 0.0);
    const double alone = std::max(passed - std::max(waited - waited_, 0.0), used / cpus_);
    if (alone > kShortest) {
      points_.back().cores = static_cast<float>(used / alone);
      points_.push_back({.seconds = points_.back().seconds + alone, .mib = mib});
    } else {
      points_.back().mib = std::max(points_.back().mib, mib);
    }
    ran_ = std::max(ran, ran_);
    cpu_ = std::max(cpu_seconds, cpu_);
    waited_ = std::max(waited, waited_);
  }

  [[nodiscard]] float mib() const { return points_.back().mib; }
  [[nodiscard]] std::vector<sim::CurvePoint> points() && { return std::move(points_); }

 private:
  double cpus_;
  const Pauses* pauses_;  // absent: it was never frozen
  std::vector<sim::CurvePoint> points_{{}};
  double ran_ = 0, cpu_ = 0, waited_ = 0;  // until the last point
};

sim::Curve curve_of(const report::RecordedJob& job, const Pauses* pauses) {
  Drawing drawing(static_cast<double>(std::max<std::uint64_t>(job.cpus.value_or(1), 1)), pauses);
  const counters::Sample& end = job.usage.totals;
  const auto cpu = [](const counters::Sample& at) {
    return to_seconds(at.cpu.usage.value_or(Duration{}));
  };
  const Duration ended = job.wall.value_or(end.t);
  if (job.usage.samples.size() < 2) {
    const float peak = mib_of(end.memory.peak.value_or(end.memory.sampled_peak.value_or(Bytes{})));
    const double seconds = std::max(to_seconds(ended), kShortest);
    return sim::Curve(std::vector<sim::CurvePoint>{
        {.seconds = 0, .mib = peak, .cores = static_cast<float>(cpu(end) / seconds)},
        {.seconds = seconds, .mib = peak}});
  }
  // The last look is at what the ended job has left.
  for (std::size_t i = 0; i + 1 < job.usage.samples.size(); ++i) {
    const counters::Sample& seen = job.usage.samples[i];
    if (seen.state == counters::SampleState::paused || seen.t >= ended) continue;
    drawing.draw_to(seen.t, cpu(seen), waited_seconds(seen), mib_of(seen).value_or(drawing.mib()));
  }
  drawing.draw_to(ended, cpu(end), waited_seconds(end), drawing.mib());
  return sim::Curve(std::move(drawing).points());
}

namespace fs = std::filesystem;

constexpr const char* kReportsFile = "jobs.jsonl";
// No machine has more; a record may be anybody's, and is not believed.
constexpr double kCoresMax = 100'000;

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

std::vector<sim::SimJob> replay_of(const std::vector<report::RecordedJob>& recorded,
                                   const std::vector<report::RecordedEvent>& events) {
  const auto pauses = pauses_in(events);
  std::vector<sim::SimJob> jobs;
  std::unordered_map<std::string, JobId> ids;
  std::vector<const report::RecordedJob*> started;
  for (const report::RecordedJob& job : recorded) {
    if (job.attempts == 0) continue;
    const auto paused = pauses.find(job.id);
    sim::SimJob made{.spec = {},
                     .curve = curve_of(job, paused == pauses.end() ? nullptr : &paused->second)};
    made.spec.id = JobId{jobs.size() + 1};
    made.spec.name = job.id;
    made.spec.job_class = job.job_class;
    made.spec.command = job.command;
    made.spec.cwd = job.cwd;
    made.spec.priority = job.priority;
    ids.emplace(job.id, made.spec.id);
    jobs.push_back(std::move(made));
    started.push_back(&job);
  }
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    for (const std::string& need : started[i]->needs) {
      const auto found = ids.find(need);
      if (found != ids.end()) jobs[i].spec.needs.push_back(found->second);
    }
  }
  return jobs;
}

Result<SimulatedJobs> simulated_jobs_of(const RecordedRun& run) {
  auto recorded = read_jobs(run.entry.path + '/' + kReportsFile);
  if (!recorded && !recorded.error().gone()) return pass(std::move(recorded));
  SimulatedJobs found =
      jobs_of(recorded ? std::move(*recorded) : std::vector<report::RecordedJob>(), run.events);
  if (found.jobs.empty()) return fail(nothing_to_simulate(run.entry));
  const report::RunMeta& meta = run.entry.meta;
  if (meta.cores && *meta.cores >= kCpusMin && *meta.cores <= kCoresMax) found.cores = meta.cores;
  if (meta.line && *meta.line > Bytes{}) found.line = meta.line;
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

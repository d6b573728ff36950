#include "record/run_recorder.h"

#include "record/json.h"
#include "record/run_dir.h"

namespace plimsoll::record {

RunRecorder::RunRecorder(std::string runs_dir, RunStart start)
    : runs_dir_(std::move(runs_dir)),
      start_(std::move(start)),
      thread_({.weight_max = kRecordsWaitingMax, .gather = kRecordEvery},
              [this](std::vector<Item> batch) { write(std::move(batch)); }) {
  (void)thread_.add(Begin{});  // there is room at the start
}

RunRecorder::~RunRecorder() { close(); }

void RunRecorder::event(policy::Event event) { (void)thread_.add(std::move(event)); }

void RunRecorder::job(JobReport report) {
  const std::size_t weight = 1 + (report.usage ? report.usage->samples.size() : 0);
  (void)thread_.add(std::move(report), weight);
}

void RunRecorder::finish(RunSummary summary) {
  // Without weight: a run whose end finds no room would count as one that died.
  (void)thread_.add(std::move(summary), 0);
}

void RunRecorder::close() { thread_.finish(); }

std::optional<std::string> RunRecorder::take_notice() {
  const std::scoped_lock lock(mutex_);
  if (notices_.empty()) return std::nullopt;
  std::string first = std::move(notices_.front());
  notices_.erase(notices_.begin());
  return first;
}

void RunRecorder::tell(std::string notice) {
  const std::scoped_lock lock(mutex_);
  notices_.push_back(std::move(notice));
}

void RunRecorder::give_up(const Error& error) {
  const char* further = files_ ? " any further" : "";
  files_.reset();
  tell(std::string("this run is not recorded") + further + ": " + error.message() +
       "; jobs go on without");
}

void RunRecorder::begin() {
  auto files = RunFiles::create(runs_dir_, start_.meta);
  if (files) {
    files_.emplace(std::move(*files));
  } else {
    give_up(files.error());
  }
  prune_runs(runs_dir_);
}

Result<void> RunRecorder::append(const std::string& events, const std::string& jobs) {
  if (full_) return {};
  if (files_->size() + Bytes{events.size() + jobs.size()} > kRunBytesMax) {
    full_ = true;
    tell("this run's record is full; only its end is still recorded");
    return {};
  }
  auto wrote = files_->append_events(events);
  if (wrote) wrote = files_->append_jobs(jobs);
  return wrote;
}

Result<void> RunRecorder::end(const RunSummary& summary) {
  auto done = files_->finish(to_json(summary, JsonForm::pretty));
  if (const std::uint64_t dropped = thread_.dropped(); done && dropped > 0) {
    tell("the disk was too slow: " + std::to_string(dropped) +
         " events and reports of this run are not in its record");
  }
  prune_runs(runs_dir_);
  return done;
}

void RunRecorder::write(std::vector<Item> batch) {
  std::string events;
  std::string jobs;
  std::optional<RunSummary> summary;
  for (Item& item : batch) {
    if (std::holds_alternative<Begin>(item)) {
      begin();
    } else if (const auto* event = std::get_if<policy::Event>(&item)) {
      if (files_) events += to_json(recorded(*event, start_.begun, start_.names));
    } else if (auto* report = std::get_if<JobReport>(&item)) {
      if (!files_) continue;
      const bool bare = files_->size() + Bytes{jobs.size()} > kRunWithSamplesMax;
      if (bare && report->usage) report->usage->samples.clear();
      jobs += to_json(*report, JsonForm::line);
    } else {
      summary = std::get<RunSummary>(std::move(item));
    }
  }
  if (!files_) return;
  auto done = append(events, jobs);
  if (done && summary) done = end(*summary);
  if (!done) give_up(done.error());
}

}  // namespace plimsoll::record

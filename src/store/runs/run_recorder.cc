#include "store/runs/run_recorder.h"

#include <algorithm>

#include "report/json.h"
#include "store/runs/run_dir.h"

namespace plimsoll::report {
namespace {

// Lines go to the disk in pieces of this size.
constexpr std::size_t kPiece = 1 << 20;
// To look at all recorded runs takes some milliseconds.
constexpr Bytes kPruneFrom{1 << 20};

std::size_t bytes_of(const policy::Command& command) {
  if (const auto* shell = std::get_if<std::string>(&command)) return shell->size();
  return std::get<Words>(command).block().size();
}

}  // namespace

// Writes lines for as long as there is room for them.
class RunRecorder::Pen {
 public:
  explicit Pen(RunRecorder& recorder) : recorder_(recorder), files_(*recorder.files_) {}

  // So much is in the record, or on its way.
  [[nodiscard]] Bytes size() const { return files_.size() + Bytes{events_.size() + jobs_.size()}; }

  void event(std::string line, Worth worth) { add(events_, std::move(line), worth); }
  void job(std::string line, Worth worth) { add(jobs_, std::move(line), worth); }

  void flush() {
    write(std::exchange(events_, {}), &RunFiles::append_events);
    write(std::exchange(jobs_, {}), &RunFiles::append_jobs);
  }

 private:
  void add(std::string& lines, std::string line, Worth worth) {
    LeftOut& left_out = recorder_.not_written_;
    const Bytes after = size() + Bytes{line.size()};
    if (worth == Worth::unstarted && after > kRunOfUnstartedMax) {
      ++left_out.unstarted;
      return;
    }
    if (left_out.beyond > 0 || after > kRunBytesMax) {
      if (left_out.beyond++ == 0) {
        recorder_.tell("this run's record is full; only its end is still recorded");
      }
      return;
    }
    lines += line;
    if (lines.size() >= kPiece) flush();
  }

  void write(const std::string& lines, Result<void> (RunFiles::*append)(std::string_view)) {
    if (lines.empty()) return;
    if (auto wrote = (files_.*append)(lines); !wrote) {
      const auto count = std::count(lines.begin(), lines.end(), '\n');
      recorder_.miss(static_cast<std::uint64_t>(count), wrote.error());
    }
  }

  RunRecorder& recorder_;
  RunFiles& files_;
  std::string events_, jobs_;
};

RunRecorder::RunRecorder(std::string runs_dir, RunStart start)
    : runs_dir_(std::move(runs_dir)),
      start_(std::move(start)),
      thread_({.weight_max = kRecordWaitingMax.count, .gather = kRecordEvery},
              [this](std::vector<Item> batch) { write(std::move(batch)); }) {
  (void)thread_.add(Begin{});  // there is room at the start
}

RunRecorder::~RunRecorder() { close(); }

RunRecorder::Worth RunRecorder::worth_of(const policy::Event& event) {
  using policy::EventKind;
  if (!event.job || event.kind == EventKind::held) return Worth::started;
  if (event.kind == EventKind::started) started_.insert(*event.job);
  if (event.kind == EventKind::queued) return Worth::unstarted;
  if (event.kind != EventKind::ended) return Worth::started;
  return started_.erase(*event.job) > 0 ? Worth::started : Worth::unstarted;
}

void RunRecorder::add(Item item, std::size_t bytes, Worth worth) {
  const loop::ItemLoad load{.weight = sizeof(Item) + bytes,
                            .leaves = worth == Worth::unstarted ? kWaitingOfStarted.count : 0};
  if (!thread_.add(std::move(item), load)) ++not_taken_.late;
}

void RunRecorder::event(policy::Event event) {
  const Worth worth = worth_of(event);
  const std::size_t bytes =
      event.reason.size() + event.numbers.size() * sizeof(policy::Numbers::value_type);
  add(TimedEvent{std::move(event), worth}, bytes, worth);
}

void RunRecorder::job(JobReport report) {
  if (report.outcome == policy::Outcome::skipped) {
    const std::size_t bytes = bytes_of(report.command) + report.reason.size();
    Skipped skipped{.id = std::move(report.id),
                    .job_class = std::move(report.job_class),
                    .command = std::move(report.command),
                    .reason = std::move(report.reason),
                    .times = report.times};
    return add(std::move(skipped), bytes, Worth::unstarted);
  }
  std::size_t bytes = sizeof report + bytes_of(report.command);
  if (report.usage) bytes += report.usage->samples.size() * sizeof(counters::Sample);
  add(std::make_unique<JobReport>(std::move(report)), bytes, Worth::started);
}

void RunRecorder::line(Bytes line) { add(Line{line}, 0, Worth::started); }

void RunRecorder::finish(RunSummary summary) {
  // Without weight: a run whose end finds no room would count as one that died.
  (void)thread_.add(End{std::make_unique<RunSummary>(std::move(summary)), not_taken_},
                    {.weight = 0});
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

void RunRecorder::miss(std::uint64_t lines, const Error& error) {
  not_written_.unwritten += lines;
  if (std::exchange(told_of_fault_, true)) return;
  tell("this run's record is incomplete: " + error.message() + "; jobs continue");
}

void RunRecorder::begin() {
  auto files = RunFiles::create(runs_dir_, start_.meta);
  if (files) {
    files_.emplace(std::move(*files));
    prune_runs(runs_dir_);
  } else {
    tell("this run is not recorded: " + files.error().message() + "; jobs continue without");
  }
}

void RunRecorder::end(End end) {
  LeftOut left_out = not_written_;
  left_out.late += end.left_out.late;
  const auto done = files_->finish(to_json(*end.summary, JsonForm::pretty), left_out);
  if (!done) {
    tell("the end of this run could not be recorded, so it will be listed as died: " +
         done.error().message());
  } else if (left_out.late > 0) {
    tell(std::to_string(left_out.late) +
         " events and reports of this run are missing from its record, because they came faster "
         "than they could be written");
  }
  // A small one will do when the next begins.
  if (files_->size() > kPruneFrom) prune_runs(runs_dir_);
}

void RunRecorder::write(std::vector<Item> batch) {
  std::optional<End> ending;
  std::size_t next = 0;
  if (std::holds_alternative<Begin>(batch.front())) {
    begin();
    ++next;
  }
  if (!files_) return;
  Pen pen(*this);
  for (; next < batch.size(); ++next) {
    Item& item = batch[next];
    if (auto* timed = std::get_if<TimedEvent>(&item)) {
      pen.event(to_json(recorded(timed->event, start_.begun, start_.names)), timed->worth);
    } else if (auto* report = std::get_if<std::unique_ptr<JobReport>>(&item)) {
      const bool bare = pen.size() > kRunWithSamplesMax;
      if (bare && (*report)->usage) (*report)->usage->samples.clear();
      pen.job(to_json(**report, JsonForm::line), Worth::started);
    } else if (auto* skipped = std::get_if<Skipped>(&item)) {
      JobReport bare;
      bare.id = std::move(skipped->id);
      bare.job_class = std::move(skipped->job_class);
      bare.command = std::move(skipped->command);
      bare.outcome = policy::Outcome::skipped;
      bare.reason = std::move(skipped->reason);
      bare.times = skipped->times;
      pen.job(to_json(bare, JsonForm::line), Worth::unstarted);
    } else if (auto* moved = std::get_if<Line>(&item)) {
      if (auto set = files_->set_line(moved->line); !set) miss(0, set.error());
    } else if (auto* last = std::get_if<End>(&item)) {
      ending = std::move(*last);
    }
    item = Begin{};  // what is written needs no memory any more
  }
  pen.flush();
  if (ending) end(std::move(*ending));
}

}  // namespace plimsoll::report

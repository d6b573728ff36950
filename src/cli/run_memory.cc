#include "cli/run_memory.h"

#include "history/state_dir.h"
#include "loop/loop.h"

namespace plimsoll::cli {
namespace {

WallTime wall_now() { return std::chrono::system_clock::now(); }

}  // namespace

RunMemory::RunMemory(record::RunStart start, std::function<void(const std::string&)> notice)
    : notice_(std::move(notice)) {
  const auto directory = history::state_dir(history::state_environment());
  if (!directory) {
    notice_("this run is not recorded: " + directory.error().message());
    return;
  }
  read_history(history::history_path(*directory));
  recorder_ =
      std::make_unique<record::RunRecorder>(history::runs_dir(*directory), std::move(start));
}

RunMemory::~RunMemory() = default;

void RunMemory::read_history(const std::string& path) {
  auto opened = history::Store::open(path, wall_now());
  if (!opened) {
    notice_("this run goes on without the history: " + opened.error().message());
    return;
  }
  if (opened->notice) notice_(*opened->notice);
  const auto loaded = opened->store.load(loop::now() + kReadMax, &loop::now);
  if (const auto told = opened->store.take_notice()) notice_(*told);
  if (loaded) {
    for (const history::Entry& entry : loaded->entries) estimator_.learn(entry.experience);
  } else {
    notice_("the history can't be read: " + loaded.error().message());
  }
  writer_.emplace(std::move(opened->store));
}

void RunMemory::learnt(const policy::Experience& experience) {
  if (writer_) writer_->add(experience, wall_now());
  pass_notices();
}

void RunMemory::event(const policy::Event& event) {
  if (recorder_) recorder_->event(event);
}

void RunMemory::job(const record::JobReport& report) {
  if (recorder_) recorder_->job(report);
  pass_notices();
}

void RunMemory::finish(const record::RunSummary& summary) {
  if (recorder_) {
    recorder_->finish(summary);
    recorder_->close();
  }
  if (writer_) writer_->finish();
  pass_notices();
}

void RunMemory::pass_notices() {
  if (recorder_) {
    while (const auto told = recorder_->take_notice()) notice_(*told);
  }
  if (writer_) {
    while (const auto told = writer_->take_notice()) notice_(*told);
  }
}

}  // namespace plimsoll::cli

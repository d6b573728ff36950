#include "cli/top/model.h"

#include <algorithm>
#include <utility>

#include "base/text.h"
#include "cli/link/run_link.h"
#include "report/plain.h"

namespace plimsoll::cli::top {
namespace {

JobPlace place_of(const Row& row) { return {row.run, row.job->job}; }

std::size_t moved(std::size_t from, std::ptrdiff_t by, std::size_t last) {
  const std::ptrdiff_t to = static_cast<std::ptrdiff_t>(from) + by;
  return static_cast<std::size_t>(
      std::clamp(to, std::ptrdiff_t{0}, static_cast<std::ptrdiff_t>(last)));
}

// Whole characters come off.
void drop_last_character(std::string& text) {
  if (text.empty()) return;
  text = cut_utf8(text, text.size() - 1);
}

bool is_key(const Key& key, std::string_view text) {
  return key.name == KeyName::text && key.text == text;
}

constexpr std::ptrdiff_t kFarAway = 1 << 30;

}  // namespace

std::size_t Model::add_run(std::string run) {
  runs_.push_back({.run = std::move(run)});
  refresh();
  return runs_.size() - 1;
}

void Model::offer_choice() {
  page_ = Page::runs;
  chosen_ = 0;
}

void Model::heard(std::size_t run, supervisor::RunStatus status, Instant now) {
  take_status(runs_.at(run), std::move(status), now);
  refresh();
}

void Model::ended(std::size_t run, std::string how) { runs_.at(run).end = std::move(how); }

void Model::say(Message message) { message_ = std::move(message); }

void Model::tell_story(std::string story) { story_ = std::move(story); }

void Model::set_room(std::size_t rows, std::size_t lines) {
  room_ = std::max<std::size_t>(rows, 1);
  lines_ = lines;
  if (page_ == Page::jobs) {
    if (selected_ < first_) first_ = selected_;
    if (selected_ >= first_ + room_) first_ = selected_ - room_ + 1;
  }
  first_ = std::min(first_, lines_ > room_ ? lines_ - room_ : 0);
}

bool Model::is_over() const {
  return std::ranges::all_of(runs_, [](const RunView& run) { return run.end.has_value(); });
}

const Row* Model::asked() const {
  const auto found = std::ranges::find_if(
      rows_, [this](const Row& row) { return asked_ && place_of(row) == *asked_; });
  return found == rows_.end() ? nullptr : &*found;
}

// After anything that rows depend on has changed.
void Model::refresh() {
  rows_ = rows_of(runs_, choice_);
  const auto found = std::ranges::find_if(
      rows_, [this](const Row& row) { return selected_job_ && place_of(row) == *selected_job_; });
  if (found != rows_.end()) selected_ = static_cast<std::size_t>(found - rows_.begin());
  move(0);
}

void Model::move(std::ptrdiff_t by) {
  selected_ = rows_.empty() ? 0 : moved(selected_, by, rows_.size() - 1);
  selected_job_.reset();
  if (!rows_.empty()) selected_job_ = place_of(rows_[selected_]);
}

void Model::scroll(std::ptrdiff_t by) {
  first_ = moved(first_, by, lines_ > room_ ? lines_ - room_ : 0);
}

void Model::open(Page page) {
  page_ = page;
  first_ = 0;
}

void Model::ask_about_selected() {
  asked_ = place_of(rows_[selected_]);
  asked_name_ = rows_[selected_].job->name;
}

std::optional<Effect> Model::press(const Key& key) {
  message_.reset();
  if (prompt_ == Prompt::kill) return press_in_question(key);
  if (prompt_ == Prompt::filter) {
    press_in_filter(key);
    return std::nullopt;
  }
  switch (page_) {
    case Page::jobs: return press_in_jobs(key);
    case Page::runs: return press_in_runs(key);
    case Page::job:
    case Page::help: return press_in_page(key);
  }
  return std::nullopt;
}

bool Model::navigate(const Key& key) {
  const auto page = static_cast<std::ptrdiff_t>(room_);
  std::ptrdiff_t by = 0;
  switch (key.name) {
    case KeyName::up: by = -1; break;
    case KeyName::down: by = 1; break;
    case KeyName::page_up: by = -page; break;
    case KeyName::page_down: by = page; break;
    case KeyName::home: by = -kFarAway; break;
    case KeyName::end: by = kFarAway; break;
    case KeyName::text:
    case KeyName::enter:
    case KeyName::escape:
    case KeyName::backspace: return false;
  }
  if (page_ == Page::jobs) move(by);
  if (page_ == Page::runs) chosen_ = moved(chosen_, by, runs_.size());
  if (page_ == Page::job || page_ == Page::help) scroll(by);
  return true;
}

template <class Request>
std::optional<Effect> Model::act(const Row& row, const std::string& done) {
  const RunView& run = runs_[row.run];
  const std::string name = report::printable(row.job->name);
  if (run.end) {
    say({Message::Kind::fault, "The run has ended."});
    return std::nullopt;
  }
  // Names of the daemon's jobs need not differ.
  const bool by_number = run.run == kDaemon;
  Request request{by_number ? std::to_string(static_cast<std::uint64_t>(row.job->job))
                            : row.job->name};
  return Act{row.run, std::move(request), "Job " + name + " " + done};
}

std::optional<Effect> Model::press_in_jobs(const Key& key) {
  if (navigate(key)) return std::nullopt;
  if (is_key(key, "q")) return Quit{};
  if (is_key(key, "?") || is_key(key, "h")) open(Page::help);
  if (is_key(key, "/")) {
    filter_before_ = choice_.filter;
    prompt_ = Prompt::filter;
  }
  if (key.name == KeyName::escape) choice_.filter.clear();
  if (is_key(key, "s")) choice_.sort = key_after(choice_.sort);
  if (is_key(key, "S")) {
    choice_.order = choice_.order == SortOrder::natural ? SortOrder::reversed : SortOrder::natural;
  }
  if (is_key(key, "a") && runs_.size() > 1) offer_choice();
  refresh();
  if (rows_.empty()) return std::nullopt;
  const Row& row = rows_[selected_];
  if (is_key(key, "p")) return act<supervisor::PauseJob>(row, "is paused.");
  if (is_key(key, "r")) return act<supervisor::ResumeJob>(row, "may run again.");
  if (is_key(key, "k")) {
    ask_about_selected();
    prompt_ = Prompt::kill;
  }
  if (key.name != KeyName::enter) return std::nullopt;
  ask_about_selected();
  open(Page::job);
  story_.clear();
  return TellStory{row.run, row.job->name};
}

std::optional<Effect> Model::press_in_page(const Key& key) {
  if (navigate(key)) return std::nullopt;
  const bool leaves = is_key(key, "q") || is_key(key, "?") || key.name == KeyName::escape ||
                      key.name == KeyName::enter;
  if (leaves) open(Page::jobs);
  return std::nullopt;
}

// The line after the runs means all of them.
std::optional<Effect> Model::press_in_runs(const Key& key) {
  if (navigate(key)) return std::nullopt;
  if (is_key(key, "q")) return Quit{};
  if (key.name != KeyName::enter && !is_key(key, "a")) return std::nullopt;
  choice_.run.reset();
  if (key.name == KeyName::enter && chosen_ < runs_.size()) choice_.run = chosen_;
  open(Page::jobs);
  refresh();
  return std::nullopt;
}

void Model::press_in_filter(const Key& key) {
  if (key.name == KeyName::escape) choice_.filter = filter_before_;
  if (key.name == KeyName::escape || key.name == KeyName::enter) prompt_ = Prompt::none;
  if (key.name == KeyName::backspace) drop_last_character(choice_.filter);
  if (key.name == KeyName::text && choice_.filter.size() + key.text.size() <= kFilterBytesMax) {
    choice_.filter += key.text;
  }
  if (!navigate(key)) refresh();
}

std::optional<Effect> Model::press_in_question(const Key& key) {
  prompt_ = Prompt::none;
  if (!is_key(key, "y")) return std::nullopt;
  const Row* row = asked();
  if (row != nullptr) return act<supervisor::KillJob>(*row, "is killed.");
  say({Message::Kind::fault, "Job " + report::printable(asked_name_) + " is over already."});
  return std::nullopt;
}

}  // namespace plimsoll::cli::top

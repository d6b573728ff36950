#include "cli/top/snapshot.h"

#include <cstddef>
#include <cstdio>
#include <limits>
#include <set>
#include <string>
#include <utility>

#include "base/loop/loop.h"
#include "cli/progress/terminal.h"
#include "cli/top/layout.h"
#include "cli/top/model.h"
#include "cli/top/run_feeds.h"
#include "cli/top/run_figures.h"
#include "report/plain.h"
#include "supervisor/control/progress_json.h"

namespace plimsoll::cli::top {
namespace {

Result<void> print(const std::string& text) {
  std::fwrite(text.data(), 1, text.size(), stdout);
  if (std::fflush(stdout) != 0) return fail_errno("write to standard output");
  return {};
}

Result<void> add_all(RunFeeds& feeds, std::vector<RunLink>& links) {
  for (RunLink& link : links) {
    if (auto added = feeds.add(std::move(link)); !added) return added;
  }
  return {};
}

// Collects an answer of each run.
class Snapshot : private RunFeedsObserver {
 public:
  Snapshot(loop::Loop& loop, const RowChoice& choice)
      : loop_(loop), model_(choice), feeds_(loop, *this) {}

  Result<void> look(std::vector<RunLink> links) {
    for (const RunLink& link : links) open_.insert(model_.add_run(link.run));
    if (auto added = add_all(feeds_, links); !added) return added;
    feeds_.ask_all();
    bool is_late = false;
    loop::Timer timer = loop_.timer([&is_late] { is_late = true; });
    timer.set(loop::now() + kAnswerTime);
    while (!open_.empty() && !is_late) {
      if (auto turned = loop_.run_once(Duration(-1)); !turned) return turned;
    }
    return {};
  }

  [[nodiscard]] std::string text() const {
    const ScreenStyle style{.width = list_style().width,
                            .height = std::numeric_limits<std::size_t>::max(),
                            .glyphs = terminal_glyphs(),
                            .now = loop::now()};
    std::vector<Line> lines = run_lines(model_, style);
    if (model_.runs().size() == 1) {
      const RunView& run = model_.runs().front();
      lines.insert(lines.begin(), Line{{{report::printable(run.run), Tone::plain}}, false});
      if (run.end || !run.status) {
        lines.front().spans.push_back({" " + run.end.value_or("does not answer"), Tone::plain});
      }
    }
    if (!model_.rows().empty()) lines.push_back(heading_line(model_, style));
    for (const Row& row : model_.rows()) lines.push_back(job_line(model_, row, style));
    std::string text;
    for (const Line& line : lines) {
      if (const std::string told = text_of(line); !told.empty()) text += told + "\n";
    }
    return text;
  }

 private:
  void on_answer(std::size_t run, Heard heard) override {
    if (heard.answer.status) model_.heard(run, std::move(*heard.answer.status), loop::now());
    if (heard.answer.error) model_.ended(run, "has refused: " + *heard.answer.error);
    open_.erase(run);
  }
  void on_end(std::size_t run, const std::string& how) override {
    model_.ended(run, how);
    open_.erase(run);
  }

  loop::Loop& loop_;
  Model model_;
  RunFeeds feeds_;
  std::set<std::size_t> open_;  // runs that have not answered
};

// A line for each status.
class JsonStream : private RunFeedsObserver {
 public:
  JsonStream(loop::Loop& loop, const TopOptions& options, JsonTimes times)
      : loop_(loop),
        options_(options),
        times_(times),
        feeds_(loop, *this),
        timer_(loop.timer([this] { tick(); })) {}

  Result<void> run(std::vector<RunLink> links) {
    for (const RunLink& link : links) {
      open_.insert(runs_.size());
      runs_.push_back({.run = link.run});
    }
    if (auto added = add_all(feeds_, links); !added) return added;
    tick();
    while (printed_ && !open_.empty()) {
      if (auto turned = loop_.run_once(Duration(-1)); !turned) return turned;
    }
    return std::move(printed_);
  }

 private:
  struct Told {
    std::string run;
    Duration elapsed{};
  };

  void tick() {
    feeds_.ask_all();
    if (times_ == JsonTimes::until_the_end) timer_.set(loop::now() + options_.interval);
  }

  void on_answer(std::size_t run, Heard heard) override {
    const auto& status = heard.answer.status;
    if (status) {
      runs_[run].elapsed = status->elapsed;
      printed_ = print(supervisor::progress_status(*status, status->elapsed));
    } else {
      printed_ = fail("run " + runs_[run].run + " has refused: " +
                      report::printable(heard.answer.error.value_or("no status was given")));
    }
    if (times_ == JsonTimes::once) open_.erase(run);
  }

  void on_end(std::size_t run, const std::string& how) override {
    const std::string text = "run " + runs_[run].run + " " + how;
    printed_ = print(supervisor::progress_notice(text, runs_[run].elapsed));
    open_.erase(run);
  }

  loop::Loop& loop_;
  const TopOptions& options_;
  JsonTimes times_;
  RunFeeds feeds_;
  loop::Timer timer_;
  std::vector<Told> runs_;
  std::set<std::size_t> open_;  // runs of which more is to be told
  Result<void> printed_{};
};

}  // namespace

Result<void> print_once(std::vector<RunLink> links, const TopOptions& options) {
  auto loop = loop::Loop::create();
  if (!loop) return pass(std::move(loop));
  Snapshot snapshot(*loop, options.choice);
  if (auto looked = snapshot.look(std::move(links)); !looked) return looked;
  return print(snapshot.text());
}

Result<void> print_json(std::vector<RunLink> links, const TopOptions& options, JsonTimes times) {
  auto loop = loop::Loop::create();
  if (!loop) return pass(std::move(loop));
  return JsonStream(*loop, options, times).run(std::move(links));
}

}  // namespace plimsoll::cli::top

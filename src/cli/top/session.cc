#include "cli/top/session.h"

#include <signal.h>
#include <sys/epoll.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <cstddef>
#include <deque>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "base/cases.h"
#include "base/loop/loop.h"
#include "cli/link/run_link.h"
#include "cli/top/layout.h"
#include "cli/top/model.h"
#include "cli/top/run_feeds.h"
#include "cli/top/screen.h"
#include "store/runs/event_log.h"
#include "store/runs/explain.h"
#include "store/runs/run_dir.h"

namespace plimsoll::cli::top {
namespace {

struct StoryPlace {
  std::string runs_dir;  // where runs are recorded
  std::string run;       // id
  std::size_t width = 80;
};

// What the record of a run tells of a job up to now, as `plimsoll explain` does: the decisions and
// their numbers, as lines. A sentence where there is no record. Reads files.
std::string story_of(const StoryPlace& place, std::string_view job) {
  if (place.run == kDaemon) return "What the daemon decides about its jobs is not recorded.\n";
  auto entry = report::find_run(place.runs_dir, place.run);
  if (!entry) return "What was decided is not recorded: " + entry.error().message() + "\n";
  auto all = report::read_events(entry->path + "/events.jsonl");
  if (!all) return "What was decided cannot be read: " + all.error().message() + "\n";
  const auto events = report::events_of(*all, job);
  if (events.empty()) return "Nothing is recorded of the job yet.\n";
  return report::explain_job(*entry, events, std::nullopt, {.width = place.width});
}

// Reading a long record again takes a twentieth of the time at most.
constexpr int kStoryShare = 20;

constexpr int kSignals[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGTSTP, SIGCONT, SIGWINCH};

// They come as events while this lives.
class SignalsBlocked {
 public:
  SignalsBlocked() {
    sigset_t blocked;
    sigemptyset(&blocked);
    for (const int signal : kSignals) sigaddset(&blocked, signal);
    ::pthread_sigmask(SIG_BLOCK, &blocked, &before_);
  }
  SignalsBlocked(const SignalsBlocked&) = delete;
  SignalsBlocked& operator=(const SignalsBlocked&) = delete;
  ~SignalsBlocked() { ::pthread_sigmask(SIG_SETMASK, &before_, nullptr); }

 private:
  sigset_t before_{};
};

// Stops this process as Ctrl-Z does, until it is to continue.
void stop() {
  sigset_t only, blocked;
  sigemptyset(&only);
  sigaddset(&only, SIGTSTP);
  struct sigaction by_default{};
  by_default.sa_handler = SIG_DFL;
  struct sigaction before{};
  ::sigaction(SIGTSTP, &by_default, &before);
  ::raise(SIGTSTP);
  ::pthread_sigmask(SIG_UNBLOCK, &only, &blocked);
  ::pthread_sigmask(SIG_SETMASK, &blocked, nullptr);
  ::sigaction(SIGTSTP, &before, nullptr);
}

// Joins the model to the runs and to the screen. One thread.
class Session : private RunFeedsObserver {
 public:
  Session(loop::Loop& loop, Screen& screen, const TopOptions& options)
      : loop_(loop),
        screen_(screen),
        options_(options),
        model_(options.choice),
        feeds_(loop, *this),
        timer_(loop.timer([this] { tick(); })) {}

  Result<std::optional<int>> run(std::vector<RunLink> links) {
    if (auto begun = begin(std::move(links)); !begun) return pass(std::move(begun));
    tick();
    while (!is_left_) {
      draw();
      if (auto turned = loop_.run_once(Duration(-1)); !turned) return pass(std::move(turned));
    }
    return ended_by_;
  }

 private:
  Result<void> begin(std::vector<RunLink> links) {
    for (RunLink& link : links) {
      model_.add_run(link.run);
      if (auto added = feeds_.add(std::move(link)); !added) return added;
    }
    if (links.size() > 1) model_.offer_choice();
    auto input = loop_.watch(STDIN_FILENO, EPOLLIN, [this](std::uint32_t) { read(); });
    if (!input) return pass(std::move(input), "watch the terminal");
    input_ = std::move(*input);
    for (const int signal : kSignals) {
      auto source = loop_.signal(
          signal, [this](const signalfd_siginfo& info) { take(static_cast<int>(info.ssi_signo)); });
      if (!source) return pass(std::move(source), "watch signals");
      signals_.push_back(std::move(*source));
    }
    return {};
  }

  void tick() {
    feeds_.ask_all();
    if (model_.page() == Page::job && loop::now() >= story_due_) tell_story();
    timer_.set(loop::now() + options_.interval);
  }

  void draw() {
    const ScreenStyle style{.width = screen_.width(),
                            .height = screen_.height(),
                            .glyphs = screen_.glyphs(),
                            .now = loop::now()};
    Frame frame = frame_of(model_, style);
    const std::size_t first = model_.first();
    model_.set_room(frame.room, frame.scrollable);
    if (model_.first() != first) frame = frame_of(model_, style);
    screen_.draw(frame);
  }

  void read() {
    const Screen::Input input = screen_.read();
    if (input.is_over) is_left_ = true;
    for (const Key& key : input.keys) {
      if (auto effect = model_.press(key)) carry_out(std::move(*effect));
    }
  }

  void take(int signal) {
    switch (signal) {
      case SIGWINCH: return screen_.resize();
      case SIGCONT: return screen_.come_back();
      case SIGTSTP:
        screen_.leave();
        stop();
        return screen_.come_back();
      default: is_left_ = true; ended_by_ = signal;
    }
  }

  void carry_out(Effect effect) {
    std::visit(Cases{[this](const Quit&) { is_left_ = true; },
                     [this](Act& act) {
                       feeds_.ask(act.run, std::move(act.request));
                       done_[act.run].push_back(std::move(act.done));
                       feeds_.ask(act.run, supervisor::AskStatus{});
                     },
                     [this](TellStory& tell) {
                       told_ = std::move(tell);
                       tell_story();
                     }},
               effect);
  }

  // The record grows while the page is shown, and may not be there at first.
  void tell_story() {
    const Instant begun = loop::now();
    const StoryPlace place{.runs_dir = options_.runs_dir,
                           .run = model_.runs()[told_.run].run,
                           .width = screen_.width()};
    model_.tell_story(story_of(place, told_.job));
    story_due_ = loop::now() + kStoryShare * (loop::now() - begun);
  }

  void on_answer(std::size_t run, Heard heard) override {
    using Kind = Message::Kind;
    if (heard.answer.status) {
      return model_.heard(run, std::move(*heard.answer.status), loop::now());
    }
    if (heard.answer.error) {
      model_.say({Kind::fault, "The run has refused: " + *heard.answer.error});
    }
    if (std::holds_alternative<supervisor::AskStatus>(heard.request)) return;
    if (!heard.answer.error) model_.say({Kind::news, done_[run].front()});
    done_[run].pop_front();
  }

  void on_end(std::size_t run, const std::string& how) override {
    model_.ended(run, how);
    const std::string who = model_.runs().size() > 1 ? "Run " + model_.runs()[run].run : "The run";
    model_.say({Message::Kind::news, who + " " + how + ". q leaves."});
  }

  loop::Loop& loop_;
  Screen& screen_;
  const TopOptions& options_;
  Model model_;
  RunFeeds feeds_;
  loop::Timer timer_;
  loop::Watch input_;
  std::vector<loop::Source> signals_;
  // What is said when a request is answered, by run: one for each that has no answer yet.
  std::map<std::size_t, std::deque<std::string>> done_;
  TellStory told_;  // the last that was asked for
  Instant story_due_{};
  bool is_left_ = false;
  std::optional<int> ended_by_;
};

}  // namespace

Result<std::optional<int>> show(std::vector<RunLink> links, const TopOptions& options) {
  const SignalsBlocked blocked;
  auto loop = loop::Loop::create();
  if (!loop) return pass(std::move(loop));
  auto screen = Screen::start();
  if (!screen) return pass(std::move(screen));
  return Session(*loop, **screen, options).run(std::move(links));
}

}  // namespace plimsoll::cli::top

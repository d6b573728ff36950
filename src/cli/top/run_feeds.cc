#include "cli/top/run_feeds.h"

#include <utility>

namespace plimsoll::cli::top {

Result<void> RunFeeds::add(RunLink link) {
  const std::size_t run = runs_.size();
  Watched watched{.feed = Feed(std::move(link))};
  auto watch = loop_.watch(watched.feed.fd(), watched.feed.events(),
                           [this, run](std::uint32_t /*ready*/) { turn(run); });
  if (!watch) return pass(std::move(watch), "watch run " + watched.feed.run());
  watched.watch = std::move(*watch);
  runs_.push_back(std::move(watched));
  ++living_;
  return {};
}

void RunFeeds::ask_all() {
  for (std::size_t run = 0; run < runs_.size(); ++run) {
    if (runs_[run].feed.open_requests() == 0) ask(run, supervisor::AskStatus{});
  }
}

void RunFeeds::ask(std::size_t run, supervisor::ControlRequest request) {
  Watched& watched = runs_.at(run);
  if (!watched.lives) return;
  watched.feed.ask(std::move(request));
  watched.watch.wait_for(watched.feed.events());
}

void RunFeeds::turn(std::size_t run) {
  auto heard = runs_[run].feed.turn();
  if (!heard) {
    Watched& watched = runs_[run];
    watched.lives = false;
    watched.watch = {};
    --living_;
    return observer_.on_end(run, heard.error().gone() ? "has ended" : heard.error().message());
  }
  runs_[run].watch.wait_for(runs_[run].feed.events());
  for (Heard& each : *heard) observer_.on_answer(run, std::move(each));
}

}  // namespace plimsoll::cli::top

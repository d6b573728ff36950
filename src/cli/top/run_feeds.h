#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "base/loop/loop.h"
#include "base/result.h"
#include "cli/top/feed.h"

namespace plimsoll::cli::top {

// Who watches runs. Runs are numbered in the order of their links, from 0.
class RunFeedsObserver {
 public:
  RunFeedsObserver() = default;
  RunFeedsObserver(const RunFeedsObserver&) = delete;
  RunFeedsObserver& operator=(const RunFeedsObserver&) = delete;
  virtual ~RunFeedsObserver() = default;

  virtual void on_answer(std::size_t run, Heard heard) = 0;
  // Nothing more is heard of the run: "has ended", or what went wrong.
  virtual void on_end(std::size_t run, const std::string& how) = 0;
};

// The runs that are watched, over the sockets on which they answer. A run that does not answer is
// not asked how it does again, and delays nobody.
class RunFeeds {
 public:
  // `loop` and `observer` must outlive this.
  RunFeeds(loop::Loop& loop, RunFeedsObserver& observer) : loop_(loop), observer_(observer) {}

  Result<void> add(RunLink link);
  // How they do: each that has answered everything before.
  void ask_all();
  // Without effect on a run that has ended.
  void ask(std::size_t run, supervisor::ControlRequest request);
  [[nodiscard]] std::size_t living() const { return living_; }

 private:
  struct Watched {
    Feed feed;
    loop::Watch watch{};
    bool lives = true;
  };
  void turn(std::size_t run);

  loop::Loop& loop_;
  RunFeedsObserver& observer_;
  std::vector<Watched> runs_;
  std::size_t living_ = 0;
};

}  // namespace plimsoll::cli::top

#pragma once

#include <functional>
#include <memory>

namespace plimsoll::loop {

class Loop;

// One thread for calls that may block: rmdir, writes that reclaim memory, moves between groups.
// Work is done in the order given. The destructor waits for the work in hand and drops the rest
// unrun.
class Worker {
 public:
  explicit Worker(const Loop& loop);
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;
  ~Worker();

  // Runs `work` on the worker's thread, then `done` on the loop's. Only the loop's thread calls
  // this.
  void submit(std::function<void()> work, std::function<void()> done);

  // Waits until everything submitted so far has been worked (the `done` calls come with the loop).
  void drain();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace plimsoll::loop

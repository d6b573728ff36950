#include "base/loop/worker.h"

#include <condition_variable>
#include <deque>
#include <mutex>
#include <thread>

#include "base/loop/loop.h"
#include "base/may_wait.h"

namespace plimsoll::loop {

struct Worker::State {
  struct Item {
    std::function<void()> work;
    std::function<void()> done;
  };

  std::function<void(std::function<void()>)> post;
  std::mutex mutex;
  std::condition_variable changed;
  std::deque<Item> queue;  // guarded by mutex
  bool busy = false;       // guarded by mutex
  bool stop = false;       // guarded by mutex
  std::thread thread;

  void run() {
    std::unique_lock lock(mutex);
    for (;;) {
      changed.wait(lock, [this] { return stop || !queue.empty(); });
      if (stop) return;
      Item item = std::move(queue.front());
      queue.pop_front();
      busy = true;
      lock.unlock();
      item.work();
      item.work = nullptr;
      post(std::move(item.done));
      lock.lock();
      busy = false;
      changed.notify_all();
    }
  }
};

Worker::Worker(const Loop& loop) : state_(std::make_unique<State>()) {
  state_->post = loop.poster();
}

Worker::~Worker() {
  if (state_->thread.joinable()) may_wait("Worker::~Worker");
  {
    const std::scoped_lock lock(state_->mutex);
    state_->stop = true;
  }
  state_->changed.notify_all();
  if (state_->thread.joinable()) state_->thread.join();
}

void Worker::submit(std::function<void()> work, std::function<void()> done) {
  // The thread starts with the first work: a program that never has any never pays for one.
  if (!state_->thread.joinable()) {
    state_->thread = std::thread([state = state_.get()] { state->run(); });
  }
  {
    const std::scoped_lock lock(state_->mutex);
    state_->queue.push_back({std::move(work), std::move(done)});
  }
  state_->changed.notify_all();
}

void Worker::drain() {
  may_wait("Worker::drain");
  std::unique_lock lock(state_->mutex);
  state_->changed.wait(lock, [this] { return state_->queue.empty() && !state_->busy; });
}

}  // namespace plimsoll::loop

#pragma once

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <mutex>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "base/may_wait.h"
#include "base/units.h"

namespace plimsoll::loop {

struct BatchLimits {
  std::size_t weight_max = 0;  // of all items that wait together; beyond, items are dropped
  Duration gather{};           // so long the first item of a batch waits for others
};

// What an item takes of BatchLimits::weight_max. One of less worth leaves room for others.
struct ItemLoad {
  std::size_t weight = 1;
  std::size_t leaves = 0;
};

// A thread that works off what is handed to it, many items at a time: for writing to a disk, where
// one write of a hundred facts costs little more than one of a single fact.
//
// Items are worked in the order in which they were added. add() may be called by several threads,
// never waits for the work, and drops what there is no room for. The destructor waits until all
// that was added has been worked. Where no thread can be had, as below a limit of processes, items
// wait for one until finish(), which then works them itself.
template <class Item>
class BatchThread {
 public:
  // `work` is called on the thread, never for an empty batch, and must not throw.
  BatchThread(BatchLimits limits, std::function<void(std::vector<Item>)> work)
      : limits_(limits), work_(std::move(work)) {}
  BatchThread(const BatchThread&) = delete;
  BatchThread& operator=(const BatchThread&) = delete;
  ~BatchThread() { finish(); }

  // False: there is no room, or finish() was called; the item is dropped and counted.
  bool add(Item item, ItemLoad load = {}) {
    const std::scoped_lock lock(mutex_);
    if (ending_ || weight_ + load.weight + load.leaves > limits_.weight_max) {
      ++dropped_;
      return false;
    }
    // The thread starts with the first item: a program that never has any never pays for one.
    if (!thread_.joinable()) start();
    weight_ += load.weight;
    items_.push_back(std::move(item));
    if (items_.size() == 1) changed_.notify_one();
    return true;
  }

  // Works what is left and ends the thread; as long as that takes. Only the owner calls it.
  void finish() {
    may_wait("BatchThread::finish");
    {
      const std::scoped_lock lock(mutex_);
      ending_ = true;
    }
    changed_.notify_one();
    if (thread_.joinable()) {
      thread_.join();
    } else {
      run();
    }
  }

  [[nodiscard]] std::uint64_t dropped() const {
    const std::scoped_lock lock(mutex_);
    return dropped_;
  }

 private:
  // The next item tries again if it fails.
  void start() {
    try {
      thread_ = std::thread([this] { run(); });
    } catch (const std::system_error&) {
    }
  }

  void run() {
    std::unique_lock lock(mutex_);
    for (;;) {
      changed_.wait(lock, [this] { return ending_ || !items_.empty(); });
      if (items_.empty()) return;
      changed_.wait_for(lock, limits_.gather, [this] { return ending_; });
      std::vector<Item> batch = std::exchange(items_, {});
      weight_ = 0;
      lock.unlock();
      work_(std::move(batch));
      lock.lock();
    }
  }

  const BatchLimits limits_;
  const std::function<void(std::vector<Item>)> work_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<Item> items_;    // guarded by mutex_
  std::size_t weight_ = 0;     // of items_; guarded by mutex_
  std::uint64_t dropped_ = 0;  // guarded by mutex_
  bool ending_ = false;        // guarded by mutex_
  std::thread thread_;
};

}  // namespace plimsoll::loop

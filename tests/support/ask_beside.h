#pragma once

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <functional>
#include <string>
#include <thread>

#include "base/loop/loop.h"

namespace plimsoll::test {

// Asks on another thread while the loop turns here.
inline std::string ask_beside(loop::Loop& loop, const std::function<std::string()>& client_does) {
  std::string answer;
  std::atomic<bool> done = false;
  std::thread client([&] {
    answer = client_does();
    done = true;
  });
  while (!done) EXPECT_TRUE(loop.run_once(std::chrono::milliseconds(10)));
  client.join();
  return answer;
}

}  // namespace plimsoll::test

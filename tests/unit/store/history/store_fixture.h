#pragma once

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <fstream>
#include <string>

#include "entries.h"
#include "store/history/file.h"
#include "store/history/store.h"

// A history in a directory of its own, for tests.
namespace plimsoll::history::testing {

struct StoreTest : ::testing::Test {
  [[nodiscard]] Store open() const {
    auto opened = Store::open(place.database(), kNow);
    EXPECT_TRUE(opened) << opened.error().message();
    EXPECT_EQ(opened->notice, std::nullopt);
    return std::move(opened->store);
  }
  [[nodiscard]] Database raw() const { return std::move(*Database::open(place.database())); }
  [[nodiscard]] static mode_t mode_of(const std::string& path) {
    struct stat status{};
    return ::stat(path.c_str(), &status) == 0 ? status.st_mode & 07777 : 0;
  }
  void overwrite(std::streamoff at, std::size_t size) const {
    std::fstream file(place.database(), std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(at);
    file << std::string(size, '\xa5');
  }

  [[nodiscard]] std::string content() const {
    std::ifstream file(place.database(), std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }

  Place place;
};

}  // namespace plimsoll::history::testing

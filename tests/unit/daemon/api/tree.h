#pragma once

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

namespace plimsoll::daemon {

// A worker's build directory with one action laid out, for one test.
class BuildTree : public testing::Test {
 protected:
  BuildTree() {
    std::string name = testing::TempDir() + "plimsoll-rpc-XXXXXX";
    build = ::mkdtemp(name.data());
    for (const char* part : {"1/root", "1/tmp", "1/server_logs"}) {
      std::filesystem::create_directories(build / part);
    }
  }
  ~BuildTree() override { std::filesystem::remove_all(build); }

  void file(const std::string& path, mode_t mode = 0644, const std::string& text = "") {
    std::filesystem::create_directories((build / path).parent_path());
    std::ofstream(build / path) << text;
    ::chmod((build / path).c_str(), mode);
  }

  std::filesystem::path build;
};

}  // namespace plimsoll::daemon

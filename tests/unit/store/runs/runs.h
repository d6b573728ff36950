#pragma once

#include <stdlib.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <string>

#include "store/runs/event_log.h"
#include "store/runs/run_meta.h"

// Recorded runs for tests.
namespace plimsoll::report::testing {

using namespace std::chrono_literals;
using namespace plimsoll::literals;
namespace fs = std::filesystem;

// A directory of runs that goes with it.
struct RunsPlace {
  RunsPlace() {
    std::string name = (fs::temp_directory_path() / "plimsoll-runs-XXXXXX").string();
    dir = ::mkdtemp(name.data());
  }
  RunsPlace(const RunsPlace&) = delete;
  RunsPlace& operator=(const RunsPlace&) = delete;
  ~RunsPlace() { fs::remove_all(dir); }

  [[nodiscard]] std::string runs() const { return (dir / "runs").string(); }
  [[nodiscard]] std::string text(const std::string& file) const {
    std::ifstream in(dir / "runs" / file, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
  }
  void make(const std::string& file, const std::string& content) const {
    const fs::path path = dir / "runs" / file;
    fs::create_directories(path.parent_path());
    std::ofstream(path) << content;
  }
  // A run that has ended, with a file of so many bytes.
  void make_run(const std::string& id, std::size_t bytes = 0) const {
    make(id + "/meta.json", to_json(RunMeta{.run = id, .command_line = {}}, RunMark::finished));
    make(id + "/events.jsonl", std::string(bytes, '\n'));
  }

  fs::path dir;
};

inline RecordedEvent event(Duration t, policy::EventKind kind, const std::string& job,
                           const std::string& reason = {}) {
  return {.t = t, .kind = kind, .job = job, .reason = reason};
}

}  // namespace plimsoll::report::testing

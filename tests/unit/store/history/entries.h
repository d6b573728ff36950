#pragma once

#include <stdlib.h>

#include <chrono>
#include <filesystem>
#include <string>

#include "store/history/store.h"

// Experiences and a place for their database, for tests.
namespace plimsoll::history::testing {

using namespace std::chrono_literals;
using namespace plimsoll::literals;
namespace fs = std::filesystem;

inline constexpr WallTime kNow{1'700'000'000s};

inline Entry entry(const std::string& exact, Bytes peak, WallTime recorded = kNow) {
  Entry made;
  made.attempt_summary.key = {.exact = exact, .tool = "tool"};
  made.attempt_summary.peak = peak;
  made.attempt_summary.ran = 3s;
  made.recorded = recorded;
  return made;
}

// The same of another user than whoever keeps the database.
inline Entry entry_of(std::uint32_t owner, const std::string& exact, Bytes peak) {
  Entry made = entry(exact, peak);
  made.attempt_summary.key.owner = owner;
  return made;
}

// A private directory that goes with it.
struct Place {
  Place() {
    std::string name = (fs::temp_directory_path() / "plimsoll-history-XXXXXX").string();
    dir = ::mkdtemp(name.data());
  }
  Place(const Place&) = delete;
  Place& operator=(const Place&) = delete;
  ~Place() { fs::remove_all(dir); }

  [[nodiscard]] std::string database() const { return (dir / "history.db").string(); }
  // Names of files that begin so.
  [[nodiscard]] std::vector<std::string> files(const std::string& start) const {
    std::vector<std::string> names;
    for (const auto& file : fs::directory_iterator(dir)) {
      const std::string name = file.path().filename().string();
      if (name.starts_with(start)) names.push_back(name);
    }
    return names;
  }

  fs::path dir;
};

inline Instant no_clock() { return {}; }

// All that is stored, oldest first.
inline std::vector<Entry> all(Store& store, const Whose& whose = kOfKeeper) {
  auto loaded = store.load(Instant::max(), &no_clock, whose);
  return loaded ? loaded->entries : std::vector<Entry>{};
}

}  // namespace plimsoll::history::testing
